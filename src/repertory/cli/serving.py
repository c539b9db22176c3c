"""How does a terminal serve?

Binds first, then tells other commands where, then answers until it is stopped.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket

import uvicorn
from rich.console import Console

from repertory.app import open_with
from repertory.errors import CatalogError, SettingsError
from repertory.rest import create_service
from repertory.settings import Settings


def serve(settings: Settings, console: Console) -> None:
    """Serve until interrupted."""
    _only_loopback(settings.host)
    asyncio.run(_serve(settings, console))


async def _serve(settings: Settings, console: Console) -> None:
    async with open_with(settings) as rep:
        listener = _bind(settings.host, settings.port)
        host, port = listener.getsockname()[:2]
        url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        service = create_service(rep, token=rep.ownership.announce(url))
        config = uvicorn.Config(service, log_config=None, log_level=settings.log_level, server_header=False, timeout_graceful_shutdown=5)
        held = rep.status()
        console.print(f"[bold]Repertory[/] serves {held['documents']} documents at [link={url}]{url}[/]  [dim](Ctrl-C stops)[/]")
        console.print("[dim]Only this machine can reach it: access control is not set up.[/]")
        await uvicorn.Server(config).serve(sockets=[listener])


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
