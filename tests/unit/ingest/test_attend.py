"""Is a server that changes asked again before its turn?"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import ROOT
from tests.programs import children, on_loopback

import repertory
from repertory.app import Repertory
from repertory.model import Filter, Kind

TURN = 10.0  # minutes: nothing here may wait for it


def elder(file: Path, *names: str) -> None:
    file.write_text(json.dumps({"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in names]}))


def words(file: Path, *names: str) -> None:
    file.write_text(" ".join(names))


def command(module: str, *arguments: object) -> dict[str, Any]:
    return {"command": sys.executable, "args": ["-m", module, *map(str, arguments)], "cwd": str(ROOT)}


@contextlib.asynccontextmanager
async def attending(tmp_path: Path, **servers: dict[str, Any]) -> AsyncIterator[Repertory]:
    """A catalog that is kept as a serving process keeps it."""
    config = tmp_path / "mcp.json"
    config.write_text(json.dumps({"mcpServers": servers}))
    async with repertory.open(tmp_path / "catalog", embedder="none", refresh_minutes=TURN) as rep:
        keeping = asyncio.create_task(rep.keep_refreshing())
        try:
            await asyncio.sleep(0)
            await rep.add(config)
            yield rep
        finally:
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)


async def tools(rep: Repertory) -> set[str]:
    found, _ = await rep.entries(Filter(kinds=frozenset({Kind.TOOL})))
    return {entity.name for entity in found}


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not true():  # noqa: ASYNC110  no event tells of it
            await asyncio.sleep(0.05)


async def becomes(rep: Repertory, name: str) -> None:
    async with asyncio.timeout(20):
        while name not in await tools(rep):  # noqa: ASYNC110  no event tells of it
            await asyncio.sleep(0.05)


async def changes(rep: Repertory, write: Callable[..., None], file: Path) -> None:
    """Change the tools until it is noticed: nobody tells when a server begins to be listened to."""
    noticed = asyncio.create_task(becomes(rep, "ring_bell"))
    for number in count():
        write(file, "ring_bell", f"step_{number}")
        if (await asyncio.wait([noticed], timeout=2))[0]:
            return await noticed


@pytest.mark.parametrize(
    ("module", "mode", "write"),
    [("tests.elderserver", "stdio", elder), ("tests.mcpserver", "changing", words)],
    ids=["handshake", "stateless"],
)
async def test_a_child_that_says_that_its_tools_changed_is_asked_again(
    tmp_path: Path, module: str, mode: str, write: Callable[..., None]
) -> None:
    write(tmp_path / "tools", "light_lamp")
    async with attending(tmp_path, house=command(module, mode, tmp_path / "tools")) as rep:
        await becomes(rep, "light_lamp")
        await changes(rep, write, tmp_path / "tools")
        assert len(children()) in (1, 2)  # the one that is listened to, and perhaps one that is asked again
    assert children() == {}


@pytest.mark.parametrize(
    ("module", "arguments", "write"),
    [("tests.elderserver", ("http", "{file}", "{port}"), elder), ("tests.mcpserver", ("changing-http", "{port}", "{file}"), words)],
    ids=["handshake", "stateless"],
)
async def test_so_is_one_over_http(tmp_path: Path, module: str, arguments: tuple[str, ...], write: Callable[..., None]) -> None:
    write(tmp_path / "tools", "light_lamp")
    with on_loopback(module, *(one.replace("{file}", str(tmp_path / "tools")) for one in arguments)) as url:
        async with attending(tmp_path, house={"url": f"{url}/mcp"}) as rep:
            await becomes(rep, "light_lamp")
            await changes(rep, write, tmp_path / "tools")


async def test_a_listing_that_holds_for_a_while_is_asked_for_after_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("repertory.ingest.attend.LEAST_TTL", 1.0)
    words(tmp_path / "tools", "light_lamp")
    async with attending(tmp_path, house=command("tests.mcpserver", "changing", tmp_path / "tools", 500)) as rep:
        await becomes(rep, "light_lamp")
        words(tmp_path / "tools", "ring_bell")
        await becomes(rep, "ring_bell")
        assert children() == {}  # nobody is kept


async def test_who_is_no_longer_named_is_let_go(tmp_path: Path) -> None:
    elder(tmp_path / "tools", "light_lamp")
    async with attending(tmp_path, house=command("tests.elderserver", "stdio", tmp_path / "tools")) as rep:
        await until(lambda: len(children()) == 1)
        (tmp_path / "mcp.json").write_text('{"mcpServers": {}}')
        await rep.add(tmp_path / "mcp.json")
        await rep.refresh()
        await until(lambda: not children())


async def test_who_is_lost_is_listened_to_again_after_the_next_look(tmp_path: Path) -> None:
    elder(tmp_path / "tools", "light_lamp")
    async with attending(tmp_path, house=command("tests.elderserver", "stdio", tmp_path / "tools")) as rep:
        await until(lambda: len(children()) == 1)
        (pid,) = children()
        os.kill(pid, signal.SIGKILL)
        await until(lambda: not children())
        await rep.refresh()
        await until(lambda: len(children()) == 1)
    assert children() == {}
