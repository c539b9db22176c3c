"""Do agents find and use tools through the gateway, over every transport and in both eras of the protocol?"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.conftest import ROOT, copied
from tests.surfaces.programs import REPERTORY, Served, run, serving

ERAS = ["legacy", "2026-07-28"]
BENCH = """
virtual_server:
  name: bench
  description: What an apprentice may use.
  tools:
    - {from: workshop/add, alias: sum up, description: Adds what the apprentice sawed.}
    - {from: workshop/echo}
    - {from: workshop/fire, scopes: [kiln]}
    - {from: workshop/gone}
"""
NO_MODEL = {"REPERTORY_EMBEDDER": "none"}


def workshop(*way: str) -> dict[str, Any]:
    kept = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
    return {"command": sys.executable, "args": ["-m", "tests.workshop", *way], "cwd": str(ROOT), "env": {**kept, "WORKSHOP_KEY": "w"}}


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalog with one live server and one note."""
    directory = tmp_path_factory.mktemp("gateway")
    (directory / "mcp.json").write_text(json.dumps({"mcpServers": {"workshop": workshop("stdio")}}))
    (directory / "notes").mkdir()
    (directory / "notes/kiln.md").write_text("# The kiln\n\nIt is fired on Fridays.\n\n## Safety\n\nWear gloves near the kiln door.\n")
    (directory / "bench.yaml").write_text(BENCH)
    for what in ("mcp.json", "notes", "bench.yaml"):
        ran = run("add", directory / what, catalog=directory / "catalog", **NO_MODEL)
        assert ran.code == 0, ran.err
    return directory / "catalog"


@pytest.fixture(scope="module")
def gateway(catalog: Path) -> Iterator[Served]:
    """The catalog, served."""
    with serving(catalog, REPERTORY_REFRESH_MINUTES="0", **NO_MODEL) as served:
        yield served


@contextlib.asynccontextmanager
async def agent(gateway: Served, mode: str = "auto", path: str = "/mcp") -> AsyncIterator[Client]:
    """The official client, as the owner."""
    async with (
        httpx2.AsyncClient(headers=gateway.as_owner, timeout=30, trust_env=False) as http,
        Client(streamable_http_client(f"{gateway.url}{path}", http_client=http), mode=mode, cache=None) as client,
    ):
        yield client


@pytest.mark.parametrize("mode", ERAS)
async def test_search_describe_and_call_over_http(gateway: Served, mode: str) -> None:
    async with agent(gateway, mode) as client:
        assert (client.protocol_version == "2026-07-28") == (mode != "legacy")
        await _search_describe_call(client)


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("shared", [False, True], ids=["alone", "beside a service"])
async def test_search_describe_and_call_over_stdio(catalog: Path, mode: str, shared: bool, tmp_path: Path) -> None:
    own = copied(catalog, tmp_path / "catalog")
    with serving(own, **NO_MODEL) if shared else contextlib.nullcontext():
        kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
        child = StdioServerParameters(command=str(REPERTORY), args=["mcp", "--catalog", str(own)], env={**kept, **NO_MODEL})
        async with Client(stdio_client(child), mode=mode, cache=None) as client:
            await _search_describe_call(client)


async def _search_describe_call(client: Client) -> None:
    listed = await client.list_tools()
    assert [tool.name for tool in listed.tools] == ["search", "describe", "call"]
    assert "6 tools" in (listed.tools[0].description or "")
    assert "workshop" in (listed.tools[0].description or "")
    assert all(tool.annotations for tool in listed.tools)

    found = await client.call_tool("search", {"query": "add two numbers", "kinds": ["tool"]})
    assert _text(found).splitlines()[0] == "workshop/add(first: integer, second: integer) - Adds two numbers."
    assert found.structured_content is not None
    assert found.structured_content["results"][0]["id"] == "tool:workshop/add"

    described = await client.call_tool("describe", {"ids": ["workshop/add"]})
    assert described.structured_content is not None
    assert described.structured_content["entries"][0]["inputSchema"]["required"] == ["first", "second"]

    called = await client.call_tool("call", {"id": "workshop/add", "arguments": {"first": 20, "second": 22}})
    assert called.structured_content == {"sum": 42}


def _text(result: Any) -> str:
    return str(result.content[0].text)


async def test_a_result_is_what_the_server_itself_gives(gateway: Served) -> None:
    direct_child = StdioServerParameters(**workshop("stdio"))
    async with agent(gateway) as client, Client(stdio_client(direct_child), cache=None) as direct:
        calls: list[tuple[str, dict[str, Any]]] = [
            ("add", {"first": 1, "second": 2}),
            ("echo", {"text": "Київ\n✓", "times": 3}),
            ("break_down", {}),
        ]
        for tool, arguments in calls:
            through = await client.call_tool("call", {"id": f"workshop/{tool}", "arguments": arguments})
            straight = await direct.call_tool(tool, arguments)
            assert json.dumps(through.structured_content) == json.dumps(straight.structured_content)
            assert (through.content, through.is_error) == (straight.content, straight.is_error)


async def test_a_wrong_call_answers_with_the_right_schema(gateway: Served) -> None:
    async with agent(gateway) as client:
        wrong = await client.call_tool("call", {"id": "workshop/add", "arguments": {"first": "one"}})
        assert wrong.is_error
        assert "'second' is a required property" in _text(wrong)
        assert '"required": ["first", "second"]' in _text(wrong)
        unknown = await client.call_tool("call", {"id": "workshop/subtract"})
        assert unknown.is_error
        assert "search" in _text(unknown)
        with pytest.raises(MCPError, match="There is no tool 'delete'"):
            await client.call_tool("delete", {})


async def test_progress_is_passed_on(gateway: Served) -> None:
    steps: list[tuple[float, str | None]] = []

    async def told(progress: float, total: float | None, message: str | None) -> None:
        steps.append((progress, message))

    async with agent(gateway) as client:
        result = await client.call_tool("call", {"id": "fire", "arguments": {"seconds": 0.2}}, progress_callback=told)
    assert _text(result) == "fired"
    assert steps == [(float(n), f"step {n}") for n in range(4)]


async def test_documents_are_read_where_they_were_found(gateway: Served) -> None:
    async with agent(gateway) as client:
        found = await client.call_tool("search", {"query": "gloves", "kinds": ["document"]})
        assert found.structured_content is not None
        section = found.structured_content["results"][0]["id"]
        assert section.startswith("doc:notes/kiln.md#")
        read = await client.call_tool("describe", {"ids": [section]})
        assert read.structured_content is not None
        assert "Wear gloves" in read.structured_content["entries"][0]["text"]
        resources = (await client.list_resources()).resources
        assert [str(resource.uri) for resource in resources] == ["repertory://doc/notes/kiln.md"]
        whole: Any = (await client.read_resource(str(resources[0].uri))).contents[0]
        assert "fired on Fridays" in whole.text
        with pytest.raises(MCPError, match="There is no entry"):
            await client.read_resource("repertory://doc/nothing.md")


@pytest.mark.parametrize("mode", ERAS)
async def test_discoveries_become_tools_where_a_host_asks_for_them(gateway: Served, mode: str) -> None:
    async with agent(gateway, mode, "/mcp?discover=1") as client:
        await client.call_tool("search", {"query": "add two numbers", "kinds": ["tool"], "limit": 1})
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(listed) == ["search", "describe", "call", "workshop__add"]
        assert listed["workshop__add"].input_schema["required"] == ["first", "second"]
        assert (await client.call_tool("workshop__add", {"first": 1, "second": 1})).structured_content == {"sum": 2}
        await client.call_tool("search", {"query": "says a text back", "kinds": ["tool"], "limit": 1})
        assert [tool.name for tool in (await client.list_tools()).tools][3:] == ["workshop__echo"]
    async with agent(gateway, mode) as client:  # who did not ask sees three tools, whatever was searched for
        await client.call_tool("search", {"query": "add two numbers"})
        assert len((await client.list_tools()).tools) == 3


@pytest.mark.parametrize("mode", ERAS)
async def test_a_virtual_server_is_a_server(gateway: Served, mode: str) -> None:
    async with agent(gateway, mode, "/virtual/bench/mcp") as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert [name.partition("_")[0] for name in listed] == ["sum", "echo", "fire"]  # what is gone is not offered
        alias = next(iter(listed))
        assert listed[alias].description == "Adds what the apprentice sawed."
        assert (await client.call_tool(alias, {"first": 1, "second": 1})).structured_content == {"sum": 2}
        assert (await client.call_tool(alias, {})).is_error
        with pytest.raises(MCPError, match="There is no tool 'add'"):
            await client.call_tool("add", {"first": 1, "second": 1})
    async with httpx2.AsyncClient(trust_env=False) as anyone:
        way = streamable_http_client(f"{gateway.url}/virtual/bench/mcp", http_client=anyone)
        async with Client(way, mode=mode, cache=None) as client:  # has no scope
            assert [tool.name.partition("_")[0] for tool in (await client.list_tools()).tools] == ["sum", "echo"]
    async with agent(gateway, mode, "/virtual/nothing/mcp") as client:
        with pytest.raises(MCPError, match="There is no entry"):
            await client.list_tools()


async def test_a_server_that_dies_during_a_call_is_back_for_the_next(gateway: Served) -> None:
    async with agent(gateway) as client:
        started = time.monotonic()
        died = await client.call_tool("call", {"id": "workshop/collapse"})
        assert died.is_error
        assert "connection was lost" in _text(died)
        assert time.monotonic() - started < 10
        assert (await client.call_tool("call", {"id": "workshop/add", "arguments": {"first": 1, "second": 1}})).structured_content == {
            "sum": 2
        }
        before: Any = (await client.call_tool("call", {"id": "workshop/whoami"})).structured_content
        os.kill(before["pid"], signal.SIGKILL)
        await asyncio.sleep(0.3)
        after: Any = (await client.call_tool("call", {"id": "workshop/whoami"})).structured_content  # found out without losing a call
        assert after["pid"] != before["pid"]


async def test_a_caller_who_leaves_leaves_nothing_running(gateway: Served) -> None:
    async with agent(gateway) as client:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await client.call_tool("call", {"id": "fire", "arguments": {"seconds": 60}})
        assert (await client.call_tool("call", {"id": "workshop/add", "arguments": {"first": 1, "second": 1}})).structured_content == {
            "sum": 2
        }


def test_a_tool_is_called_from_a_terminal(catalog: Path, gateway: Served) -> None:
    done = run("call", "workshop__add", '{"first": 2, "second": 3}', catalog=catalog, **NO_MODEL)
    assert done.answer["structuredContent"] == {"sum": 5}
    wrong = run("call", "add", "{}", catalog=catalog, **NO_MODEL)
    assert (wrong.code, "required property" in wrong.err) == (2, True)
    failed = run("call", "break_down", catalog=catalog, **NO_MODEL)
    assert (failed.code, json.loads(failed.out)["isError"]) == (1, True)


@pytest.mark.parametrize("header", [{"Host": "evil.example"}, {"Origin": "https://evil.example"}])
def test_a_page_from_elsewhere_cannot_call(gateway: Served, header: dict[str, str]) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    headers = {"Accept": "application/json, text/event-stream", **gateway.as_owner, **header}
    refused = httpx2.post(f"{gateway.url}/mcp", json=message, headers=headers, trust_env=False)
    assert refused.status_code in (400, 403, 421)


def test_a_body_that_is_too_long_is_refused(gateway: Served) -> None:
    headers = {"Accept": "application/json, text/event-stream", **gateway.as_owner}
    refused = httpx2.post(f"{gateway.url}/mcp", content=b"x" * 5_000_000, headers=headers, trust_env=False)
    assert refused.status_code == 413


async def test_an_http_server_is_reached_again_after_a_restart(tmp_path: Path) -> None:
    port = _free_port()
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": {"far": {"url": f"http://127.0.0.1:{port}/mcp"}}}))
    with _started(port):
        assert run("add", tmp_path / "mcp.json", catalog=tmp_path / "catalog", **NO_MODEL).code == 0
    with serving(tmp_path / "catalog", REPERTORY_REFRESH_MINUTES="0", **NO_MODEL) as served:
        async with agent(served) as client:
            with _started(port):
                assert (await _sum(client)).structured_content == {"sum": 2}
            away = await _sum(client)
            assert away.is_error
            assert "far" in _text(away)
            with _started(port):
                assert (await _sum(client)).structured_content == {"sum": 2}


async def _sum(client: Client) -> Any:
    return await client.call_tool("call", {"id": "far/add", "arguments": {"first": 1, "second": 1}})


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextlib.contextmanager
def _started(port: int) -> Iterator[None]:
    """The workshop over HTTP, from its first answer until the block ends."""
    with subprocess.Popen([sys.executable, "-m", "tests.workshop", "http", str(port)], cwd=ROOT, stderr=subprocess.DEVNULL) as process:
        try:
            until = time.monotonic() + 20
            while time.monotonic() < until:
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.2):
                    break
                time.sleep(0.05)
            yield
        finally:
            process.kill()


def test_many_calls_leave_nothing_behind(catalog: Path, gateway: Served) -> None:
    asyncio.run(_many(gateway, 50, at_once=10))
    before = _held(gateway.process.pid)
    asyncio.run(_many(gateway, 1000, at_once=1))
    asyncio.run(_many(gateway, 50, at_once=50))
    after = _held(gateway.process.pid)
    until = time.monotonic() + 10
    while after["files"] > before["files"] + 5 and time.monotonic() < until:  # a busy machine closes connections when it gets to it
        time.sleep(0.2)
        after = _held(gateway.process.pid)
    assert after["children"] == before["children"] == 1
    assert after["files"] <= before["files"] + 5
    assert after["memory"] <= before["memory"] * 1.1 + 10_000_000


async def _many(gateway: Served, count: int, at_once: int) -> None:
    places = asyncio.Semaphore(at_once)
    async with agent(gateway) as client:

        async def one(number: int) -> None:
            async with places:
                result = await client.call_tool("call", {"id": "workshop/add", "arguments": {"first": number, "second": 1}})
                assert result.structured_content == {"sum": number + 1}

        await asyncio.gather(*(one(number) for number in range(count)))


def _held(pid: int) -> dict[str, int]:
    status = Path(f"/proc/{pid}/status").read_text()
    memory = next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmRSS"))
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    opened = [str(file.readlink()) for file in Path(f"/proc/{pid}/fd").iterdir() if file.is_symlink()]
    files = [name for name in opened if "catalog.db" not in name]  # of connections to the database there are a few, in a pool
    return {"children": len(children), "files": len(files), "memory": memory}


def test_children_end_with_the_service(catalog: Path, tmp_path: Path) -> None:
    own = copied(catalog, tmp_path / "catalog")
    with serving(own, REPERTORY_REFRESH_MINUTES="0", **NO_MODEL) as served:
        answer = httpx2.post(f"{served.url}/api/call", json={"id": "workshop/whoami"}, headers=served.as_owner, timeout=30, trust_env=False)
        child = answer.json()["structuredContent"]["pid"]
        assert Path(f"/proc/{child}").exists()
    until = time.monotonic() + 5
    while time.monotonic() < until and Path(f"/proc/{child}").exists():
        time.sleep(0.05)
    assert not Path(f"/proc/{child}").exists()
