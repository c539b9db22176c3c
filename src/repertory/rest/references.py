"""Which entry does an address name?

Ids hold slashes, and so do addresses: `/api/entries/tool:cms%2Fcontent` is the tool `cms/content`, `/api/entries/tool:cms/content` the
content of another. Servers undo the encoding before anybody can tell them apart, so for the addresses that name entries it is redone.
"""

from __future__ import annotations

from typing import Annotated
from urllib.parse import unquote

from fastapi import Depends, Path
from starlette.types import ASGIApp, Receive, Scope, Send

from repertory.sources.content import storable

NAMING = (b"/api/entries/", b"/api/sources/", b"/v0.1/servers/", b"/agents/")


class KeepEncoded:
    """Lets routes see the address as it was sent, where names are in it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        sent = scope.get("raw_path") or b""
        if scope["type"] == "http" and sent.startswith(NAMING):
            scope = {**scope, "path": sent.partition(b"?")[0].decode("latin-1")}
        await self._app(scope, receive, send)


def decoded(part: str) -> str:
    """A part of an address as it was meant."""
    return storable(unquote(part))


async def _decoded(
    reference: Annotated[str, Path(description="An id, or a path or name that only one entry has. Slashes are best sent as %2F.")],
) -> str:
    return decoded(reference)


Reference = Annotated[str, Depends(_decoded)]
