"""How does a terminal serve?

Binds first, then tells other commands where, then answers until it is stopped.
"""

from __future__ import annotations

import asyncio
import signal
import socket
from types import FrameType

import uvicorn
from rich.console import Console
from rich.text import Text

from repertory.app import Repertory, open_with
from repertory.cli.loop import run
from repertory.errors import CatalogError, SettingsError
from repertory.mcp.doors import HttpDoor
from repertory.mcp.server import Gate
from repertory.mcp.virtual import VirtualGate
from repertory.rest import create_service
from repertory.rest.service import names
from repertory.settings import Settings, is_loopback

EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - every address, and the one by which this machine reaches it


def serve(settings: Settings, console: Console, *, watch: bool = False) -> None:
    """Serve until interrupted."""
    signal.signal(signal.SIGTERM, _stop)  # uvicorn raises it again when it is done, and the catalog must still be closed then
    run(_serve(settings, console, watch))


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)


async def _serve(settings: Settings, console: Console, watch: bool) -> None:
    async with open_with(settings) as rep:
        _may_serve(settings, rep)
        listener = _bind(settings.host, settings.port)
        host, port = listener.getsockname()[:2]
        host = EVERYWHERE.get(host, host)
        url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        gates: dict[str, Gate | VirtualGate] = {"/mcp": Gate(rep), "/virtual/{name:path}/mcp": VirtualGate(rep)}
        doors = {path: HttpDoor(gate, rep.callers, names(rep)) for path, gate in gates.items()}
        service = create_service(rep, rep.ownership.announce(url), doors)
        config = uvicorn.Config(service, log_config=None, log_level=settings.log_level, server_header=False, timeout_graceful_shutdown=5)
        held = rep.status()
        console.print(Text.assemble(("Repertory", "bold"), f" serves {held['documents']} documents at {url}  ", ("(Ctrl-C stops)", "dim")))
        console.print(Text(f"Agents reach it over MCP at {url}/mcp, or as the command `repertory mcp`.", style="dim"))
        console.print(Text(_who(settings, rep), style="dim"))
        watching = asyncio.create_task(rep.watch()) if watch else None
        try:
            await uvicorn.Server(config).serve(sockets=[listener])
        finally:
            if watching is not None:
                watching.cancel()
                await asyncio.gather(watching, return_exceptions=True)


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is said, because asyncio switches TCP's delays off only for sockets that say it: an answer would wait 40 ms for them.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()  # from here on a caller waits instead of being refused
    except OSError as error:
        listener.close()
        raise CatalogError(f"Cannot serve at {host}:{port}: {error.strerror}. Choose another port with --port.") from error
    return listener


def _may_serve(settings: Settings, rep: Repertory) -> None:
    """Nobody but this machine is served while nobody can prove who they are, nor under names that nobody chose."""
    host = settings.host
    if is_loopback(host):
        return
    if not rep.callers.can_recognise:
        raise SettingsError(
            f"host is {host!r}, but without access control only a loopback address can be served, such as 127.0.0.1. "
            "Make an API key first (repertory keys create NAME --scope admin), or set oidc_issuer."
        )
    if host in EVERYWHERE and not settings.allowed_hosts:
        raise SettingsError(
            f"host is {host!r}, which is every address of this machine. Say by which names others reach it: "
            "allowed_hosts = ['registry.example.org'], or ['*'] for any."
        )


def _who(settings: Settings, rep: Repertory) -> str:
    reach = "Only this machine can reach it" if is_loopback(settings.host) else "Other machines can reach it"
    if rep.callers.policy == "required":
        return f"{reach}, with an API key or a token."
    return f"{reach}; whoever shows no credential sees what is public."
