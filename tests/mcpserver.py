"""An MCP server that behaves, or misbehaves, as its first argument says: `python -m tests.mcpserver good`.

With the SDK it speaks the stateless protocol of 2026-07-28; `tests/elderserver.py` has servers of the handshake era.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import mcp_types as types
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged

TOOLS = 10_000
PAGE = 100
SCHEMA = {"type": "object", "properties": {"room": {"type": "string", "description": "Which room"}}, "required": ["room"]}
LAMP = types.Tool(
    name="light_lamp",
    title="Light a lamp",
    description="Lights the lamp of a room.",
    input_schema=SCHEMA,
    output_schema={"type": "object", "properties": {"lit": {"type": "boolean"}}},
    annotations=types.ToolAnnotations(read_only_hint=False, idempotent_hint=True),
    icons=[types.Icon(src="https://example.com/lamp.png", mime_type="image/png")],
)
BELL = types.Tool(name="ring_bell", description="Rings the bell.", input_schema={"type": "object"})


def _page(number: int) -> list[types.Tool]:
    first = number * PAGE
    return [types.Tool(name=f"tool_{n}", description=f"Does thing {n}.", input_schema=SCHEMA) for n in range(first, first + PAGE)]


async def good(_context: Any, _params: Any) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[LAMP, BELL])


async def flooding(_context: Any, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    number = int(params.cursor) if params and params.cursor else 0
    more = str(number + 1) if (number + 1) * PAGE < TOOLS else None
    return types.ListToolsResult(tools=_page(number), next_cursor=more)


async def looping(_context: Any, _params: Any) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[BELL], next_cursor="again")


async def prompts(_context: Any, _params: Any) -> types.ListPromptsResult:
    return types.ListPromptsResult(prompts=[types.Prompt(name="greet"), types.Prompt(name="part")])


async def resources(_context: Any, _params: Any) -> types.ListResourcesResult:
    return types.ListResourcesResult(resources=[types.Resource(name="plan", uri="house://plan")])


async def endless(_context: Any, _params: Any) -> types.ListPromptsResult:
    await asyncio.sleep(600)
    return types.ListPromptsResult(prompts=[])


LISTINGS = {"good": good, "flooding": flooding, "looping": looping, "mute": good}
PROMPTS = {"good": prompts, "mute": endless}


def server(mode: str) -> Server[Any]:
    """The server of a mode."""
    more: dict[str, Any] = {"on_list_prompts": PROMPTS[mode], "on_list_resources": resources} if mode in PROMPTS else {}
    return Server("House", version="1.2", title="The house", instructions="Lamps and bells.", on_list_tools=LISTINGS[mode], **more)


def changing_server(file: Path, ttl: int) -> Server[Any]:
    """A server whose tools are the words in a file. It says when they change, and for how many milliseconds they hold."""
    bus = InMemorySubscriptionBus()

    async def words(_context: Any, _params: Any) -> types.ListToolsResult:
        tools = [types.Tool(name=word, input_schema=SCHEMA) for word in file.read_text().split()]
        return types.ListToolsResult(tools=tools, ttl_ms=ttl)

    async def watch() -> None:
        before = file.read_text()
        while True:
            await asyncio.sleep(0.05)
            if (now := file.read_text()) != before:
                before = now
                await bus.publish(ToolsListChanged())

    @contextlib.asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        watching = asyncio.create_task(watch())
        yield
        watching.cancel()

    more: dict[str, Any] = {} if ttl else {"on_subscriptions_listen": ListenHandler(bus)}
    return Server("House", lifespan=lifespan, on_list_tools=words, **more)


async def serve(serving: Server[Any]) -> None:
    async with stdio_server() as (reading, writing):
        await serving.run(reading, writing, serving.create_initialization_options())


def hanging() -> None:
    time.sleep(600)


def shouting() -> None:
    """Writes without an end and without a line end, and does not stop when asked to."""
    import signal

    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        os.write(1, b"a" * 65536)


def dying() -> None:
    print("cannot open the vault with", os.environ.get("VAULT_KEY"), file=sys.stderr)
    raise SystemExit(3)


def http(port: str) -> None:
    uvicorn.run(server("good").streamable_http_app(), port=int(port), log_level="error")


def changing(file: str, ttl: str = "0") -> None:
    asyncio.run(serve(changing_server(Path(file), int(ttl))))


def changing_http(port: str, file: str) -> None:
    uvicorn.run(changing_server(Path(file), 0).streamable_http_app(), port=int(port), log_level="error", timeout_graceful_shutdown=1)


def sse(port: str) -> None:
    house = MCPServer("House", version="1.2")
    house.add_tool(lambda: None, "ring_bell", description="Rings the bell.")
    house.run("sse", port=int(port))


def main(mode: str, *arguments: str) -> None:
    programs: dict[str, Any] = {
        "hanging": hanging,
        "shouting": shouting,
        "dying": dying,
        "http": http,
        "sse": sse,
        "changing": changing,
        "changing-http": changing_http,
    }
    if mode == "switched":  # good while the file is there
        mode = "good" if Path(arguments[0]).exists() else "dying"
        arguments = ()
    if mode in programs:
        programs[mode](*arguments)
    else:
        asyncio.run(serve(server(mode)))


if __name__ == "__main__":
    main(*sys.argv[1:])
