"""How does a terminal serve?

Binds first, then tells other commands where, then answers until it is stopped.
"""

from __future__ import annotations

import asyncio
import ipaddress
import signal
import socket
from types import FrameType

import uvicorn
from rich.console import Console
from rich.text import Text
from starlette.requests import Request

from repertory.app import open_with
from repertory.errors import CatalogError, SettingsError
from repertory.mcp.doors import HttpDoor
from repertory.mcp.server import Gate
from repertory.mcp.virtual import VirtualGate
from repertory.model import Principal
from repertory.rest import create_service
from repertory.rest.callers import Callers
from repertory.rest.service import LOOPBACK_NAMES
from repertory.settings import Settings


def serve(settings: Settings, console: Console, *, watch: bool = False) -> None:
    """Serve until interrupted."""
    _only_loopback(settings.host)
    signal.signal(signal.SIGTERM, _stop)  # uvicorn raises it again when it is done, and the catalog must still be closed then
    asyncio.run(_serve(settings, console, watch))


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)


async def _serve(settings: Settings, console: Console, watch: bool) -> None:
    async with open_with(settings) as rep:
        listener = _bind(settings.host, settings.port)
        host, port = listener.getsockname()[:2]
        url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        callers = Callers(rep.ownership.announce(url))

        async def recognise(request: Request) -> Principal:
            return callers.recognise(request.headers.get("authorization"))

        doors = {
            "/mcp": HttpDoor(Gate(rep), recognise, LOOPBACK_NAMES),
            "/virtual/{name:path}/mcp": HttpDoor(VirtualGate(rep), recognise, LOOPBACK_NAMES),
        }
        service = create_service(rep, callers, doors)
        config = uvicorn.Config(service, log_config=None, log_level=settings.log_level, server_header=False, timeout_graceful_shutdown=5)
        held = rep.status()
        console.print(Text.assemble(("Repertory", "bold"), f" serves {held['documents']} documents at {url}  ", ("(Ctrl-C stops)", "dim")))
        console.print(Text(f"Agents reach it over MCP at {url}/mcp, or as the command `repertory mcp`.", style="dim"))
        console.print(Text("Only this machine can reach it: access control is not set up.", style="dim"))
        watching = asyncio.create_task(rep.watch()) if watch else None
        try:
            await uvicorn.Server(config).serve(sockets=[listener])
        finally:
            if watching is not None:
                watching.cancel()
                await asyncio.gather(watching, return_exceptions=True)


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()  # from here on a caller waits instead of being refused
    except OSError as error:
        listener.close()
        raise CatalogError(f"Cannot serve at {host}:{port}: {error.strerror}. Choose another port with --port.") from error
    return listener


def _only_loopback(host: str) -> None:
    try:
        loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not loopback:
        raise SettingsError(f"host is {host!r}, but without access control only a loopback address can be served, such as 127.0.0.1.")
