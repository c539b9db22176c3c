"""Which other models may help a search?

One file per model behind the protocols in `base`, elsewhere or on this machine; `wrappers` adds the breaker and the cache. All are
optional: without them, or when they fail, a search is answered all the same.
"""
