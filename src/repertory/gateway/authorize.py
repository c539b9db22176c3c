"""How does a person log in at a server?

The SDK's client finds out where, registers us, and asks for an address to be opened in a browser; the browser comes back to a port of this
machine that listens only meanwhile. What comes of it is a credential.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from html import escape
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import OAuthFlowError, OAuthTokenError
from mcp.shared.auth import AuthorizationCodeResult
from pydantic import ValidationError

from repertory.errors import UpstreamError
from repertory.gateway.credentials import Credential
from repertory.gateway.oauth import PATIENCE, PROTOCOL, Provider
from repertory.sources.serverspec import UNKNOWN, ServerSpec, Transport
from repertory.sources.transports import bounded

WITHIN = 300.0  # seconds for a person to log in
MAX_REASON = 300  # characters of what an authorization server says
PATH = "/callback"
GREETING = {  # what makes a server ask who we are
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": {"name": "repertory", "version": "1"}},
}
PAGE = "<!doctype html><meta charset=utf-8><title>Repertory</title><body style='font:18px system-ui;margin:4em auto;max-width:30em'><p>{}"


async def log_in(spec: ServerSpec, show: Callable[[str], None], within: float = WITHIN) -> Credential:
    """The credential of whoever logs in at the address that is shown. `spec` is resolved. Raises `UpstreamError`."""
    try:
        async with asyncio.timeout(within), Listener(show) as listener:
            return await _authorized(spec, listener)
    except TimeoutError:
        raise UpstreamError(f"Nobody logged in at {spec.name!r} within {within:g} s.") from None
    except (OAuthTokenError, ValidationError) as error:  # whose words may quote tokens
        raise UpstreamError(f"The login at {spec.name!r} failed: no token was given ({type(error).__name__}).") from None
    except OAuthFlowError as error:
        raise UpstreamError(f"The login at {spec.name!r} failed: {' '.join(str(error).split())[:MAX_REASON]}") from None
    except httpx2.HTTPError as error:
        raise UpstreamError(f"The login at {spec.name!r} failed: it could not be asked ({type(error).__name__}).") from None


async def _authorized(spec: ServerSpec, listener: Listener) -> Credential:
    provider = Provider(spec.url, listener.address, redirect_handler=listener.redirect, callback_handler=listener.answer)
    headers = {
        **{name: value for name, value in spec.headers.items() if name.lower() != "authorization"},
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": PROTOCOL,
    }
    method, body = ("GET", None) if spec.transport is Transport.SSE else ("POST", GREETING)
    async with (
        httpx2.AsyncClient(auth=provider, timeout=PATIENCE, transport=bounded()) as http,
        http.stream(method, spec.url, json=body, headers=headers) as response,
    ):
        tokens = provider.context.current_tokens
        if response.status_code == UNKNOWN:
            raise UpstreamError(f"The server {spec.name!r} does not take the login that it asked for.")
        if tokens is None:
            raise UpstreamError(f"The server {spec.name!r} asks nobody to log in (HTTP {response.status_code}).")
    return Credential(spec.target, oauth=provider.taken(), expires=provider.context.token_expiry_time)


class Listener:
    """A port of this machine that waits for a browser to come back."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._state = ""
        self._came: asyncio.Future[dict[str, str]] = asyncio.get_running_loop().create_future()

    async def __aenter__(self) -> Listener:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=16384)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    @property
    def address(self) -> str:
        """Where the browser should come back to (RFC 8252, 7.3)."""
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}{PATH}"

    async def redirect(self, url: str) -> None:
        """Show a person where to log in."""
        self._state = parse_qs(urlsplit(url).query).get("state", [""])[0]
        self._show(url)

    async def answer(self) -> AuthorizationCodeResult:
        """What the browser brought."""
        came = await self._came
        if "code" not in came:
            raise OAuthFlowError(f"it was refused ({came.get('error', 'without a reason')})")
        return AuthorizationCodeResult(code=came["code"], state=came["state"], iss=came.get("iss"))

    async def _serve(self, reading: asyncio.StreamReader, writing: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                line = await reading.readline()
                while (await reading.readline()).strip():
                    pass  # headers
            status, said, came = self._heard(line.decode("latin-1").split(" "))
            body = PAGE.format(escape(said)).encode()
            head = f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
            writing.write(head.encode() + body)
            await writing.drain()
            if came is not None and not self._came.done():  # after the page is out: the port closes with it
                self._came.set_result(came)
        except (OSError, ValueError, TimeoutError):
            pass  # whoever it was, it was no browser that comes back
        finally:
            writing.close()

    def _heard(self, words: list[str]) -> tuple[str, str, dict[str, str] | None]:
        """What to say, and what the right browser brings; others may knock, too."""
        parts = urlsplit(words[1] if len(words) > 1 else "")
        given = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if words[0] != "GET" or parts.path != PATH:
            return "404 Not Found", "There is nothing here.", None
        if not self._state or given.get("state") != self._state:
            return "400 Bad Request", "This is not the login that Repertory waits for.", None
        said = "Repertory has what it needs. You can close this window." if "code" in given else "The login was refused."
        return "200 OK", said, given
