"""How does a host reach a catalog?

Always as an agent does, over MCP: in this process, in the process that has the catalog open, or at an address. A host so gets the same
three tools, with the same words, wherever the catalog is.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from repertory import settings as settings_module
from repertory.app import Repertory, open_with
from repertory.errors import CatalogBusy, UpstreamError
from repertory.mcp.address import gate_address
from repertory.mcp.server import Gate
from repertory.owner import owner_of
from repertory.sources.web import is_address

Where = Repertory | Path | str | None  # an open catalog, its directory, an address; None: the catalog of the settings

CONNECTING = 30.0  # seconds; an answer may take as long as the tool that is called


class Media(NamedTuple):
    """A picture or a sound that a tool answered."""

    data: str  # in base64
    type: str


@contextlib.asynccontextmanager
async def reach(where: Where = None, *, token: str | None = None, discover: bool = False) -> AsyncIterator[Client]:
    """A session with the gateway of a catalog; with `discover` it also offers what the last search found, as tools."""
    async with contextlib.AsyncExitStack() as stack:
        if isinstance(where, Repertory):
            rep = where
        elif is_address(where):
            yield await _over_http(stack, str(where), token, discover)
            return
        else:
            settings, _ = settings_module.load({"catalog": where})
            try:
                rep = await stack.enter_async_context(open_with(settings))
            except CatalogBusy:  # whoever has it open may serve it
                owner = owner_of(settings.catalog)
                if owner is None or owner.url is None:
                    raise
                yield await _over_http(stack, owner.url, owner.token, discover)
                return
        yield await stack.enter_async_context(Client(Gate(rep, discover=discover).server, cache=None))


async def _over_http(stack: contextlib.AsyncExitStack, url: str, token: str | None, discover: bool) -> Client:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    limits = httpx2.Timeout(CONNECTING, read=None)
    http = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=limits, trust_env=False))
    client = Client(streamable_http_client(gate_address(url, discover=discover), http_client=http), cache=None)
    try:
        return await stack.enter_async_context(client)
    except Exception as error:  # the SDK has many, some of them groups
        raise UpstreamError(f"No Repertory answers at {url} ({_cause(error)}). Is it served there?") from error


def _cause(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return type(error).__name__


def told(result: Any) -> tuple[str, list[Media]]:
    """What a tool answered: its words, and its pictures and sounds."""
    words, media = [], []
    for part in result.content:
        if part.type == "text":
            words.append(part.text)
        elif part.type in ("image", "audio"):
            media.append(Media(part.data, part.mime_type))
        else:
            words.append(part.model_dump_json(by_alias=True, exclude_none=True))
    return "\n".join(words), media
