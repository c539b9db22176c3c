"""Where is it found?

An index answers lane calls under one filter. It is derived from the store, knows up to where, and can always be rebuilt.
"""
