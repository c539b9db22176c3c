"""What does the way through the gateway cost a call?

    python -m benchmarks.gateway

One local stdio server, asked to add two numbers: directly with the official client, and through the gateway in this process, over stdio
(`repertory mcp`) and over HTTP (`repertory serve`). Beside them the same server over HTTP, asked directly: what HTTP costs without us. The
ways take turns, so that whatever else the machine does meets them all; medians of each way, what it takes longer than the direct call, and
how many such calls one caller makes in a second, one after the other.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from tests.programs import on_loopback

import repertory

ROOT = Path(__file__).parents[1]
CLI = (sys.executable, "-c", "from repertory.cli import main; main()")
ROUND = 50  # calls of one way before the next one has its turn
TARGET = 3.0  # milliseconds that the gateway may add

Call = Callable[[int], Awaitable[Any]]


def server() -> dict[str, Any]:
    """How the server that is called is started."""
    return {"command": sys.executable, "args": ["-m", "tests.workshop", "stdio"], "cwd": str(ROOT), "env": _environment()}


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "HOME") if name in os.environ}
    return {**kept, "REPERTORY_EMBEDDER": "none", "REPERTORY_REFRESH_MINUTES": "0"}


def _through(client: Client) -> Call:
    return lambda number: client.call_tool("call", {"id": "workshop/add", "arguments": {"first": number, "second": 1}})


@contextlib.contextmanager
def service(catalog: Path) -> Iterator[dict[str, Any]]:
    """`repertory serve`, and where it says that it serves."""
    command = [*CLI, "serve", "--port", "0", "--catalog", str(catalog)]
    with subprocess.Popen(command, env=_environment(), stderr=subprocess.DEVNULL) as process:
        try:
            yield _announced(catalog)
        finally:
            process.terminate()


def _announced(catalog: Path) -> dict[str, Any]:
    for _ in range(600):
        time.sleep(0.1)
        with contextlib.suppress(OSError, ValueError):
            note: dict[str, Any] = json.loads((catalog / "owner.json").read_text())
            if note.get("url"):
                return note
    raise SystemExit("The service did not start.")


@contextlib.asynccontextmanager
async def connected(note: dict[str, Any]) -> AsyncIterator[Client]:
    """A client of a service."""
    headers = {"Authorization": f"Bearer {note['token']}"}
    async with (
        httpx2.AsyncClient(headers=headers, trust_env=False) as http,
        Client(streamable_http_client(f"{note['url']}/mcp", http_client=http), cache=None) as client,
    ):
        yield client


async def measure(calls: int, directory: Path) -> dict[str, list[float]]:
    """Milliseconds of every call, by its way."""
    (directory / "mcp.json").write_text(json.dumps({"mcpServers": {"workshop": server()}}))
    for name in ("here", "stdio", "http"):
        async with repertory.open(directory / name, embedder="none") as rep:
            assert not (await rep.add(directory / "mcp.json")).problems
    gate = StdioServerParameters(command=CLI[0], args=[*CLI[1:], "mcp", "--catalog", str(directory / "stdio")], env=_environment())
    with service(directory / "http") as note, on_loopback("tests.workshop", "http", "{port}") as url:
        return await _measure(calls, directory, gate, note, url)


async def _measure(calls: int, directory: Path, gate: StdioServerParameters, note: dict[str, Any], url: str) -> dict[str, list[float]]:
    async with (
        Client(streamable_http_client(f"{url}/mcp"), cache=None) as direct_http,
        Client(stdio_client(StdioServerParameters(**server())), cache=None) as direct,
        repertory.open(directory / "here", embedder="none") as rep,
        Client(stdio_client(gate), cache=None) as over_stdio,
        connected(note) as over_http,
    ):
        ways: dict[str, Call] = {
            "direct": lambda number: direct.call_tool("add", {"first": number, "second": 1}),
            "direct HTTP": lambda number: direct_http.call_tool("add", {"first": number, "second": 1}),
            "in process": lambda number: rep.call("workshop/add", {"first": number, "second": 1}),
            "over stdio": _through(over_stdio),
            "over HTTP": _through(over_http),
        }
        took: dict[str, list[float]] = {way: [] for way in ways}
        for turn in range(-1, calls // ROUND):  # the first turn opens sessions and counts for nothing
            for way, call in ways.items():
                for number in range(ROUND):
                    began = time.perf_counter()
                    await call(number)
                    if turn >= 0:
                        took[way].append((time.perf_counter() - began) * 1000)
        return took


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--calls", type=int, default=1000, help="of each way")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        took = asyncio.run(measure(chosen.calls, Path(directory)))
    print(f"{chosen.calls} calls of each way, one after the other; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    base = statistics.median(took["direct"])
    print(f"{'way':12}{'median ms':>11}{'p95 ms':>9}{'more ms':>9}{'ratio':>7}{'calls/s':>9}")
    for way, times in took.items():
        median, p95 = statistics.median(times), statistics.quantiles(times, n=20)[-1]
        rate = 1000 * len(times) / sum(times)
        print(f"{way:12}{median:11.2f}{p95:9.2f}{median - base:9.2f}{median / base:7.2f}{rate:9.0f}")


if __name__ == "__main__":
    main()
