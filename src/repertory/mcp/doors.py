"""Over which transport does an agent come in?

Over HTTP at a path of the service, or over stdio as a child of its host. Who it is, is decided at the door; handlers read it there.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import anyio
import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
)
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp_types import PROTOCOL_VERSION_META_KEY, JSONRPCNotification, JSONRPCRequest
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from repertory.access import Callers
from repertory.mcp.passing import PRINCIPAL
from repertory.mcp.server import Gate
from repertory.mcp.virtual import VirtualGate

MAX_BODY = 4 * 1024 * 1024  # bytes of one message to us: arguments, not uploads

ANY = "*"  # among the names of a service: it checks none


class HttpDoor:
    """A gate at a path of an HTTP service: an ASGI application, open within `run`."""

    def __init__(self, gate: Gate | VirtualGate, callers: Callers, names: Sequence[str]) -> None:
        self._callers = callers
        security = TransportSecuritySettings(
            enable_dns_rebinding_protection=ANY not in names,
            allowed_hosts=[*names, *(f"{name}:*" for name in names)],
            allowed_origins=[f"{scheme}://{name}{port}" for scheme in ("http", "https") for name in names for port in ("", ":*")],
        )
        self._manager = StreamableHTTPSessionManager(gate.server, security_settings=security, max_request_body_size=MAX_BODY)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request. A credential that does not count is an error, which the service answers."""
        scope[PRINCIPAL] = await self._callers.recognise(Headers(scope=scope).get("authorization"))
        await self._manager.handle_request(scope, receive, send)

    @contextlib.asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Hold sessions while the service lives."""
        async with self._manager.run():
            yield


async def over_stdio(gate: Gate) -> None:
    """Answer on stdin and stdout until the host closes them."""
    server = gate.server
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


async def bridge(url: str, token: str) -> None:
    """Hand every message to a process that already serves the catalog, and its answers back."""
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=httpx2.Timeout(30, read=None), trust_env=False) as client,
        streamable_http_client(url, http_client=client) as (from_service, to_service),
        stdio_server() as (from_host, to_host),
        anyio.create_task_group() as group,
    ):

        async def answers() -> None:
            await _pump(from_service, to_host)
            group.cancel_scope.cancel()

        group.start_soon(answers)
        await _pump(from_host, to_service, _addressed)
        group.cancel_scope.cancel()


async def _pump(source: Any, target: Any, change: Callable[[SessionMessage], SessionMessage] = lambda message: message) -> None:
    async for message in source:
        if not isinstance(message, Exception):  # what cannot be read is dropped: the SDK has logged it
            await target.send(change(message))


def _addressed(sent: SessionMessage) -> SessionMessage:
    """Over HTTP, a message of the stateless era carries as headers what it says of itself."""
    message = sent.message
    if not isinstance(message, JSONRPCRequest | JSONRPCNotification):
        return sent
    parameters = message.params or {}
    version = (parameters.get("_meta") or {}).get(PROTOCOL_VERSION_META_KEY)
    if version is None:
        return sent
    headers = {MCP_PROTOCOL_VERSION_HEADER: version, MCP_METHOD_HEADER: message.method}
    if (name := NAME_BEARING_METHODS.get(message.method)) is not None:
        headers[MCP_NAME_HEADER] = encode_header_value(str(parameters.get(name, "")))
    return SessionMessage(message, ClientMessageMetadata(headers=headers))
