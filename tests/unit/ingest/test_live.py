"""Do live servers come in, break, and recover?"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text
from tests.catalogs import ask, ids
from tests.conftest import ROOT
from tests.programs import on_loopback

import repertory
from repertory.app import Repertory
from repertory.errors import SourceError
from repertory.store import SourceRecord, SourceState


def entry(mode: str, *arguments: object, **env: str) -> dict[str, Any]:
    return {"command": sys.executable, "args": ["-m", "tests.mcpserver", mode, *map(str, arguments)], "cwd": str(ROOT), "env": env}


def write(file: Path, **servers: dict[str, Any]) -> Path:
    file.write_text(json.dumps({"mcpServers": servers}))
    return file


async def by_name(rep: Repertory) -> dict[str, SourceRecord]:
    return {source.name: source for source in await rep.sources()}


async def test_every_server_is_a_source_of_its_own(tmp_path: Path) -> None:
    config = write(
        tmp_path / "mcp.json", house=entry("good"), vault=entry("dying", VAULT_KEY="open-sesame"), poor=entry("good", KEY="${NOWHERE}")
    )
    async with repertory.open(tmp_path / "catalog", embedder="none") as rep:
        report = await rep.add(config)
        sources = await by_name(rep)
        assert [part.source for part in report.parts] == ["house", "poor", "vault"]
        assert report.added == 3
        house, vault, poor = sources["house"], sources["vault"], sources["poor"]
        assert (house.state, house.entries, house.error, house.location) == (SourceState.OK, 3, "", f"{config}#house")
        assert house.succeeded == house.attempted
        assert (vault.state, vault.entries, vault.succeeded) == (SourceState.BROKEN, 0, None)
        assert "cannot open the vault" in vault.error
        assert "NOWHERE, which is not set" in poor.error
        assert (await rep.add(config)).unchanged == 3
    for file in (tmp_path / "catalog").rglob("*"):
        assert not file.is_file() or b"open-sesame" not in file.read_bytes(), file


async def test_a_server_that_fails_keeps_its_entries_until_it_recovers(tmp_path: Path) -> None:
    switch = tmp_path / "up"
    switch.touch()
    config = write(tmp_path / "mcp.json", house=entry("switched", switch))
    async with repertory.open(tmp_path / "catalog", embedder="none") as rep:
        await rep.add(config)
        before = await ask(rep, "light lamp")
        assert not any(result.stale for result in before.results)
        switch.unlink()
        await rep.refresh()
        source = (await by_name(rep))["house"]
        assert (source.state, source.entries) == (SourceState.BROKEN, 3)
        assert source.succeeded is not None
        after = await ask(rep, "light lamp")
        assert ids(after) == ids(before)
        assert all(result.stale and result.as_json()["stale"] for result in after.results)
        assert all(result.stale for result in (await ask(rep, "")).results)
        switch.touch()
        report = await rep.refresh()
        assert (report.unchanged, (await by_name(rep))["house"].state, (await by_name(rep))["house"].error) == (3, SourceState.OK, "")
        assert "stale" not in (await ask(rep, "light lamp")).results[0].as_json()


async def test_a_tool_that_has_gone_leaves_although_another_is_wrong(tmp_path: Path) -> None:
    said = tmp_path / "said.json"
    here, gone, wrong = {"name": "here"}, {"name": "gone"}, {"name": ""}
    said.write_text(json.dumps({"tools": [here, gone, wrong]}))
    elder = {"command": sys.executable, "args": ["-m", "tests.elderserver", "stdio", str(said)], "cwd": str(ROOT)}
    async with repertory.open(tmp_path / "catalog", embedder="none") as rep:
        report = await rep.add(write(tmp_path / "mcp.json", elder=elder))
        assert (report.added, len(report.problems)) == (3, 1)
        said.write_text(json.dumps({"tools": [here, wrong]}))
        report = await rep.refresh(["elder", "nobody"])
        assert (report.removed, report.changed, len(report.problems)) == (1, 1, 1)


async def test_what_a_config_no_longer_names_leaves(tmp_path: Path) -> None:
    config = write(tmp_path / "mcp.json", house=entry("good"), barn=entry("good"))
    async with repertory.open(tmp_path / "catalog", embedder="none") as rep:
        await rep.add(config)
        write(config, house=entry("good"))
        await rep.refresh()
        barn = (await by_name(rep))["barn"]
        assert (barn.state, barn.entries) == (SourceState.BROKEN, 3)  # a look behind the requests takes nothing away
        assert "no longer names it" in barn.error
        write(config, house=entry("good"), barn={"comand": "a slip"})
        report = await rep.add(config)
        assert (report.removed, len(report.problems)) == (0, 1)
        assert "neither a command nor a url" in (await by_name(rep))["barn"].error
        write(config, house=entry("good"))
        assert (await rep.add(config)).removed == 3
        assert set(await by_name(rep)) == {"house"}
        config.write_text("{")
        await rep.refresh()
        assert (await by_name(rep))["house"].state is SourceState.BROKEN


async def test_a_name_belongs_to_the_config_that_had_it_first(tmp_path: Path) -> None:
    async with repertory.open(tmp_path / "catalog", embedder="none") as rep:
        await rep.add(write(tmp_path / "one.json", house=entry("good")))
        report = await rep.add(write(tmp_path / "two.json", house=entry("good")))
        assert "'house' is the name of another source" in report.problems[0].message
        assert (await by_name(rep))["house"].location == f"{tmp_path / 'one.json'}#house"


async def test_others_write_while_a_server_hangs(tmp_path: Path) -> None:
    config = write(tmp_path / "mcp.json", slow=entry("hanging"), house=entry("good"))
    async with repertory.open(tmp_path / "catalog", embedder="none") as rep:
        adding = asyncio.create_task(rep.add(config))
        async with asyncio.timeout(25):
            while "house" not in (sources := await by_name(rep)) or sources["house"].entries == 0:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            await rep.put("other", [])
        assert sources["slow"].state is SourceState.NEW
        adding.cancel()
        await asyncio.gather(adding, return_exceptions=True)


async def test_a_serving_process_looks_again(tmp_path: Path) -> None:
    switch = tmp_path / "up"
    config = write(tmp_path / "mcp.json", house=entry("switched", switch))
    async with repertory.open(tmp_path / "catalog", embedder="none", refresh_minutes=0.01) as rep:
        await rep.add(config)
        assert (await by_name(rep))["house"].state is SourceState.BROKEN
        behind = asyncio.create_task(rep.keep_refreshing())
        switch.touch()
        async with asyncio.timeout(25):
            while (await by_name(rep))["house"].state is not SourceState.OK:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        behind.cancel()
        await asyncio.gather(behind, return_exceptions=True)
        assert "tool:house/light_lamp" in ids(await ask(rep, "light lamp"))


@pytest.mark.parametrize("killed", [False, True])
async def test_a_catalog_of_format_3_is_migrated(tmp_path: Path, killed: bool) -> None:
    (tmp_path / "tools.json").write_text(json.dumps({"tools": [{"name": "a", "inputSchema": {}}]}))
    async with repertory.open(tmp_path / "catalog", embedder="none") as rep:
        await rep.add(tmp_path / "tools.json")
        (before,) = await rep.sources()
    columns = ("attempted", "succeeded") if killed else ("live", "state", "error", "attempted", "succeeded")
    statements = [
        "ALTER TABLE sources ADD COLUMN scanned VARCHAR",
        "UPDATE sources SET scanned = succeeded",
        *(f"ALTER TABLE sources DROP COLUMN {column}" for column in columns),
        "UPDATE facts SET value = '3' WHERE name = 'format'",
    ]
    with create_engine(f"sqlite:///{tmp_path / 'catalog' / 'catalog.db'}").begin() as connection:
        for statement in statements:
            connection.execute(text(statement))
    async with repertory.open(tmp_path / "catalog", embedder="none") as rep:
        assert await rep.sources() == [before]
        assert (before.state, before.live) == (SourceState.OK, False)


async def test_a_server_is_given_by_its_address_alone(tmp_path: Path) -> None:
    async with repertory.open(tmp_path / "catalog", embedder="none") as rep:
        with on_loopback("tests.workshop", "http", "{port}") as url:
            address = f"{url}/mcp"
            report = await rep.add(address)
            assert report.source == "workshop"  # as it calls itself
            assert not report.problems
            result = await rep.call("workshop/add", {"first": 2, "second": 3})
            assert result["structuredContent"] == {"sum": 5}
            again = await rep.add(address)
            assert (again.added, again.changed, again.removed) == (0, 0, 0)
            assert again.unchanged == report.added
        await rep.refresh()
        source = (await by_name(rep))["workshop"]
        assert source.live
        assert source.state is SourceState.BROKEN
        assert "tool:workshop/add" in ids(await rep.search("add two numbers"))


async def test_an_address_with_nothing_at_it_tells_what_was_looked_for(tmp_path: Path) -> None:
    async with repertory.open(tmp_path / "catalog", embedder="none") as rep:
        with on_loopback("http.server", "{port}", "--bind", "127.0.0.1", "--directory", str(tmp_path)) as url:
            with pytest.raises(SourceError, match=r"agent-card\.json .*No MCP server answers there either"):
                await rep.add(f"{url}/mcp")
            with pytest.raises(SourceError, match="variables belong into a config"):
                await rep.add(f"{url}/${{HOME}}")
        assert await rep.sources() == []
