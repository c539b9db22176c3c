"""Which models elsewhere may help a search?

One file per model behind the protocols in `base`; `wrappers` adds the breaker and the cache. Both are optional: without them, or when they
fail, a search is answered all the same.
"""
