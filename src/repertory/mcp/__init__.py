"""How do agents reach Repertory over MCP?

Over stdio or HTTP, in both eras of the protocol, through three tools that never change.
"""
