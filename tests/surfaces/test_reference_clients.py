"""Do the clients that people use reach the reference servers through the gateway, and get what the servers themselves say?"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import http.server
import json
import os
import subprocess
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastmcp import Client as FastClient
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.conftest import require
from tests.provision import EVERYTHING, FETCH, FILESYSTEM, GIT, INSPECTOR, MEMORY, THINKING, TIME
from tests.surfaces.programs import REPERTORY, Served, run, serving

NO_MODEL = {"REPERTORY_EMBEDDER": "none"}
ERAS = ["legacy", "2026-07-28"]
THOUGHT = "sequential-thinking/sequentialthinking"  # the only one that counts how often it was called
THOUGHTS = 12  # more often than all clients together call it
QUERIES = {
    "everything/get-structured-content": "structured content weather data",
    "filesystem/read_text_file": "read the complete contents of a file as text",
    "memory/read_graph": "read the entire knowledge graph",
    THOUGHT: "problem-solving through thoughts",
    "time/convert_time": "convert time between timezones",
    "git/git_status": "working tree status",
    "fetch/fetch": "fetches a URL",
}


@dataclass(slots=True)
class Seven:
    """One catalog of all seven, what calls to send them, and what each answers when it is asked itself."""

    served: Served
    arguments: dict[str, dict[str, Any]]
    schemas: dict[str, Any]
    answers: dict[str, Any]
    thoughts: list[Any]
    thought: int = field(default=0)  # times that the service's own session was asked

    def expected(self, path: str) -> Any:
        """What the next call through the service must answer."""
        if path != THOUGHT:
            return self.answers[path]
        self.thought += 1
        return self.thoughts[self.thought - 1]


def wire(result: Any) -> str:
    """A result as it was sent, without what the protocol's envelope adds."""
    sent = result if isinstance(result, dict) else result.model_dump(by_alias=True, mode="json", exclude_none=True)
    return json.dumps([sent["content"], sent.get("structuredContent"), bool(sent.get("isError"))])


@pytest.fixture(scope="module")
def seven(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seven]:
    """All of it is slow, and made once."""
    directory = tmp_path_factory.mktemp("seven")
    files, repository, catalog = directory / "files", directory / "repository", directory / "catalog"
    files.mkdir()
    (files / "note.txt").write_text("Київ ✓\nline two\n", "utf-8")
    subprocess.run(["git", "init", "--quiet", "--initial-branch", "main", repository], check=True)
    graph = {"type": "entity", "name": "Aurora", "entityType": "ship", "observations": ["is blue", "є синя"]}
    (directory / "memory.jsonl").write_text(json.dumps(graph), "utf-8")
    servers: dict[str, dict[str, Any]] = {
        "everything": {"command": require(EVERYTHING), "args": ["stdio"]},
        "filesystem": {"command": require(FILESYSTEM), "args": [str(files)]},
        "memory": {"command": require(MEMORY), "env": {"MEMORY_FILE_PATH": str(directory / "memory.jsonl")}},
        "sequential-thinking": {"command": require(THINKING)},
        "time": {"command": require(TIME)},
        "git": {"command": require(GIT), "args": ["--repository", str(repository)]},
        "fetch": {"command": require(FETCH), "args": ["--ignore-robots-txt", "--allow-private-ips"]},
    }
    (directory / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    with _page(files) as url:
        arguments: dict[str, dict[str, Any]] = {
            "everything/get-structured-content": {"location": "Chicago"},
            "filesystem/read_text_file": {"path": str(files / "note.txt")},
            "memory/read_graph": {},
            THOUGHT: {"thought": "First.", "thoughtNumber": 1, "totalThoughts": 2, "nextThoughtNeeded": True},
            "time/convert_time": {"source_timezone": "Europe/Kyiv", "time": "12:30", "target_timezone": "Asia/Tokyo"},
            "git/git_status": {"repo_path": str(repository)},
            "fetch/fetch": {"url": f"{url}/note.txt"},
        }
        schemas, answers, thoughts = asyncio.run(_ask_themselves(servers, arguments))
        added = run("add", directory / "mcp.json", catalog=catalog, **NO_MODEL)
        assert (added.code, added.err) == (0, "")
        with serving(catalog, REPERTORY_REFRESH_MINUTES="0", **NO_MODEL) as served:
            yield Seven(served, arguments, schemas, answers, thoughts)


@contextlib.contextmanager
def _page(files: Path) -> Iterator[str]:
    """A small site to fetch from."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None: ...

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(files))) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{site.server_port}"
        site.shutdown()


async def _ask_themselves(servers: dict[str, Any], arguments: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], list[Any]]:
    schemas, answers, thoughts = dict[str, Any](), dict[str, Any](), list[Any]()

    async def one(path: str, given: dict[str, Any]) -> None:
        server, _, tool = path.partition("/")
        async with Client(stdio_client(StdioServerParameters(**servers[server])), cache=None) as client:
            schemas[path] = next(listed.input_schema for listed in (await client.list_tools()).tools if listed.name == tool)
            answers[path] = await client.call_tool(tool, given)
            assert not answers[path].is_error, answers[path]
            if path == THOUGHT:
                thoughts.extend([answers[path], *[await client.call_tool(tool, given) for _ in range(THOUGHTS)]])

    await asyncio.gather(*(one(path, given) for path, given in arguments.items()))
    return schemas, answers, thoughts


def child(seven: Seven) -> dict[str, Any]:
    """The gateway as a host starts it; it speaks to the service, which has the catalog."""
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    return {"command": str(REPERTORY), "args": ["mcp", "--catalog", str(seven.served.catalog)], "env": kept}


@contextlib.asynccontextmanager
async def official(seven: Seven, transport: str, mode: str) -> AsyncIterator[Client]:
    """The official client."""
    if transport == "stdio":
        async with Client(stdio_client(StdioServerParameters(**child(seven))), mode=mode, cache=None) as client:
            yield client
        return
    async with (
        httpx2.AsyncClient(headers=seven.served.as_owner, timeout=60, trust_env=False) as session,
        Client(streamable_http_client(f"{seven.served.url}/mcp", http_client=session), mode=mode, cache=None) as client,
    ):
        yield client


def check_answers(seven: Seven, path: str, found: Any, described: Any) -> None:
    """Search found the tool, and describe told its own schema."""
    assert f"tool:{path}" in [result["id"] for result in found["results"]]
    assert json.dumps(described["entries"][0]["inputSchema"]) == json.dumps(seven.schemas[path])


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("transport", ["http", "stdio"])
async def test_the_official_client(seven: Seven, transport: str, mode: str) -> None:
    async with official(seven, transport, mode) as client:
        assert (client.protocol_version == "2026-07-28") == (mode != "legacy")
        assert [tool.name for tool in (await client.list_tools()).tools] == ["search", "describe", "call"]
        for path, query in QUERIES.items():
            found = await client.call_tool("search", {"query": query, "kinds": ["tool"]})
            described = await client.call_tool("describe", {"ids": [path]})
            check_answers(seven, path, found.structured_content, described.structured_content)
            called = await client.call_tool("call", {"id": path, "arguments": seven.arguments[path]})
            assert wire(called) == wire(seven.expected(path)), path


@pytest.mark.parametrize("transport", ["http", "stdio"])
async def test_the_client_of_fastmcp(seven: Seven, transport: str) -> None:
    http_door = StreamableHttpTransport(f"{seven.served.url}/mcp", headers=seven.served.as_owner)
    async with FastClient(http_door if transport == "http" else StdioTransport(**child(seven))) as client:
        assert [tool.name for tool in await client.list_tools()] == ["search", "describe", "call"]
        for path, query in QUERIES.items():
            found = await client.call_tool("search", {"query": query, "kinds": ["tool"]})
            described = await client.call_tool("describe", {"ids": [path]})
            check_answers(seven, path, found.structured_content, described.structured_content)
            called = await client.call_tool_mcp("call", {"id": path, "arguments": seven.arguments[path]})
            assert wire(called) == wire(seven.expected(path)), path


def inspect(seven: Seven, transport: str, method: str, tool: str = "", **given: Any) -> dict[str, Any]:
    """What the Inspector prints."""
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "HOME") if name in os.environ}
    asked = ["--method", method, *(("--tool-name", tool) if tool else ())]
    if given:
        asked += ["--tool-arg", *(f"{name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in given.items())]
    target = {
        "http": [f"{seven.served.url}/mcp", "--transport", "http", "--header", f"Authorization: Bearer {seven.served.token}"],
        # By the environment: it has an option of the same name.
        "stdio": [str(REPERTORY), "mcp", "-e", f"REPERTORY_CATALOG={seven.served.catalog}", *_path(kept)],
    }[transport]
    command = [require(INSPECTOR), "--cli", *target, *asked]
    done = subprocess.run(command, env=kept, capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, (done.returncode, done.stdout[-300:], done.stderr[-600:])
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _path(kept: dict[str, str]) -> list[str]:
    return ["-e", f"PYTHONPATH={kept['PYTHONPATH']}"] if "PYTHONPATH" in kept else []


def test_the_inspector_over_http(seven: Seven) -> None:
    listed = inspect(seven, "http", "tools/list")
    assert [tool["name"] for tool in listed["tools"]] == ["search", "describe", "call"]

    def described(paths: list[str]) -> list[Any]:
        entries: list[Any] = inspect(seven, "http", "tools/call", "describe", ids=paths)["structuredContent"]["entries"]
        return entries

    def used(path: str) -> tuple[Any, Any]:
        found = inspect(seven, "http", "tools/call", "search", query=QUERIES[path], kinds=["tool"])
        return found["structuredContent"], inspect(seven, "http", "tools/call", "call", id=path, arguments=seven.arguments[path])

    paths = list(QUERIES)
    with ThreadPoolExecutor(4) as workers:  # every question is a program of its own
        entries = [entry for some in workers.map(described, (paths[:5], paths[5:])) for entry in some]
        for path, entry, (found, called) in zip(paths, entries, workers.map(used, paths), strict=True):
            check_answers(seven, path, found, {"entries": [entry]})
            assert wire(called) == wire(seven.expected(path)), path


def test_the_inspector_over_stdio(seven: Seven) -> None:
    listed = inspect(seven, "stdio", "tools/list")
    assert [tool["name"] for tool in listed["tools"]] == ["search", "describe", "call"]
    path = "filesystem/read_text_file"
    called = inspect(seven, "stdio", "tools/call", "call", id=path, arguments=seven.arguments[path])
    assert wire(called) == wire(seven.expected(path))
