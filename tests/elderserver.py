"""An MCP server of the handshake era that answers with whatever JSON is in a file: `python -m tests.elderserver stdio FILE`.

It is written without the SDK, which would not let it say what breaks the protocol. The file holds the result of `tools/list`; when it
changes, the server says so.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

CHANGED = '{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}'
GREETING = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {"listChanged": True}},
    "serverInfo": {"name": "Elder", "version": "0.9"},
}
POLL = 0.05  # seconds


def answer(message: str, file: Path) -> str | None:
    """What is said to a message, if it wants to be answered."""
    asked = json.loads(message)
    if "id" not in asked:
        return None
    number = json.dumps(asked["id"])
    if asked["method"] == "tools/list":  # word by word: it may be what no JSON library would write
        return f'{{"jsonrpc": "2.0", "id": {number}, "result": {file.read_text("utf-8").strip()}}}'
    known = {"initialize": GREETING, "ping": {}}
    if asked["method"] in known:
        return f'{{"jsonrpc": "2.0", "id": {number}, "result": {json.dumps(known[asked["method"]])}}}'
    return f'{{"jsonrpc": "2.0", "id": {number}, "error": {{"code": -32601, "message": "Method not found"}}}}'


def changes(file: Path) -> Iterator[bool]:
    """Whether a file has changed since last time, again and again."""
    before = file.read_text("utf-8")
    while True:
        now = file.read_text("utf-8")
        yield now != before
        before = now


def stdio(file: Path) -> None:
    """One line in, one line out."""

    def watch() -> None:
        for changed in changes(file):
            if changed:
                print(CHANGED, flush=True)
            time.sleep(POLL)

    threading.Thread(target=watch, daemon=True).start()
    print("Elder is up", flush=True)  # many print what is no message
    for line in sys.stdin:
        if (said := answer(line, file)) is not None:
            print(said, flush=True)


def http(file: Path, port: int) -> None:
    """Streamable HTTP with a session, as it was."""

    async def post(request: Request) -> Response:
        said = answer((await request.body()).decode(), file)
        return Response(said, 200 if said else 202, {"Mcp-Session-Id": "1"}, "application/json")

    async def get(_: Request) -> Response:
        async def events() -> AsyncIterator[str]:
            yield ": hello\n\n"
            for changed in changes(file):
                if changed:
                    yield f"event: message\ndata: {CHANGED}\n\n"
                await asyncio.sleep(POLL)

        return StreamingResponse(events(), media_type="text/event-stream")

    routes = [Route("/mcp", post, methods=["POST"]), Route("/mcp", get, methods=["GET"])]
    uvicorn.run(Starlette(routes=routes), port=port, log_level="error", timeout_graceful_shutdown=1)


if __name__ == "__main__":
    how, where = sys.argv[1], Path(sys.argv[2])
    if how == "stdio":
        stdio(where)
    else:
        http(where, int(sys.argv[3]))
