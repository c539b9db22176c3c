"""Which model turns text into vectors?

One file per provider behind the protocol in `base`; wrappers add what every provider needs: a breaker,
and a cache for queries.
"""
