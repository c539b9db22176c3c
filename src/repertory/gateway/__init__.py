"""How is a found tool used?

`resolve` says which entry an agent means, `arguments` whether it may be called like that, `upstreams` keeps the sessions with the servers
that do the work, `call` joins them. `signature` says an entry in one line.
"""
