"""How do programs that people already use get Repertory's search?

One module for each host, with the host as an optional dependency: `pip install 'repertory[fastmcp]'`. A host has tools of its own
to be found (`own`), or wants to reach a catalog (`reach`).
"""
