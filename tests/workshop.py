"""An MCP server whose tools can really be called: `python -m tests.workshop stdio`, or `http PORT`."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

from mcp.server.mcpserver import Context, MCPServer

workshop = MCPServer("Workshop", version="2.0", instructions="Saws, scales and a slow kiln.")


@workshop.tool()
def add(first: int, second: int) -> dict[str, int]:
    """Adds two numbers."""
    return {"sum": first + second}


@workshop.tool()
def echo(text: str, times: int = 1) -> str:
    """Says a text back."""
    return " ".join([text] * times)


@workshop.tool()
async def fire(seconds: float, context: Context[Any, Any]) -> str:
    """Fires the kiln, and tells how far it is."""
    for step in range(4):
        await context.report_progress(step, 4, f"step {step}")
        await asyncio.sleep(seconds / 4)
    return "fired"


@workshop.tool()
def whoami(context: Context[Any, Any]) -> dict[str, Any]:
    """Tells the credentials it was called with, and which process it is."""
    headers = context.headers or {}
    return {"authorization": headers.get("authorization"), "variable": os.environ.get("WORKSHOP_KEY"), "pid": os.getpid()}


@workshop.tool()
def break_down() -> str:
    """Fails."""
    raise ValueError("the blade is blunt")


@workshop.tool()
def collapse() -> str:
    """Ends its process in the middle of the call."""
    os._exit(7)


def main(way: str, port: str = "0") -> None:
    if way == "http":
        workshop.run("streamable-http", port=int(port))
    else:
        workshop.run("stdio")


if __name__ == "__main__":
    main(*sys.argv[1:])
