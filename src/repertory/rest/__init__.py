"""How is Repertory reached over HTTP?

Wire to request, one call of the app, answer back to wire.
"""

from repertory.rest.service import create_service

__all__ = ["create_service"]
