"""Does an index move to a Qdrant and back, whole, even when it is stopped on the way?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

import repertory
from repertory.cli.commands import app
from repertory.errors import InvalidRequest, SettingsError
from repertory.ingest.migrate import Moved, migrate
from repertory.settings import Settings, load
from tests.catalogs import ids, tool
from tests.qdrants import Cluster, qdrant

TOOLS = 2500  # two and a half batches
WORDS = "harbour parcel invoice calendar container berth crane manifest customs".split()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with qdrant(tmp_path_factory.mktemp("qdrant")) as started:
        yield started


class Stopped(Exception):
    """As a person does with Ctrl-C."""


def _settings(catalog: Path, **more: object) -> Settings:
    return load({"catalog": catalog, "embedder": "static", **more})[0]


async def _fill(catalog: Path) -> None:
    tools = [tool(f"tools/{n}", f"{WORDS[n % 9]} {WORDS[n % 7]} number{n}") for n in range(TOOLS)]
    async with repertory.open(catalog, embedder="static") as rep:
        await rep.put("tools", tools)


async def test_a_move_goes_on_where_it_was_stopped_and_embeds_nothing(
    tmp_path: Path, server: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _fill(tmp_path)

    def stop(stage: str, done: int, total: int) -> None:
        if done == 2000:
            raise Stopped

    with pytest.raises(Stopped):
        await migrate(_settings(tmp_path), server.address, stop)
    monkeypatch.setattr("repertory.embedders.static.StaticEmbedder.embed_documents", None)  # whoever embeds now fails
    seen: list[tuple[str, int, int]] = []
    moved = await migrate(_settings(tmp_path), server.address, lambda *progress: seen.append(progress))
    assert moved.documents == TOOLS
    assert 0 < moved.put < TOOLS  # the rest was there
    assert ("Moving", TOOLS, TOOLS) in seen
    assert ("Comparing", TOOLS, TOOLS) in seen
    async with repertory.open(tmp_path, embedder="static", index=server.address) as rep:
        assert ids(await rep.search("number1234"))[0] == "tool:tools/1234"
        assert await rep.check() == []
        await rep.put("tools", [tool("tools/1", "changed")], embed=False)  # nothing was built anew meanwhile, and it follows
        assert ids(await rep.search("changed")) == ["tool:tools/1"]
    back = await migrate(_settings(tmp_path, index=server.address), "embedded")
    assert back == Moved(1, 1, TOOLS)
    async with repertory.open(tmp_path, embedder="static") as rep:
        assert await rep.check() == []


async def test_it_says_why_it_does_not_move(tmp_path: Path, server: Cluster) -> None:
    with pytest.raises(InvalidRequest, match="already"):
        await migrate(_settings(tmp_path), "embedded")
    with pytest.raises(SettingsError, match="begins with qdrant://"):
        await migrate(_settings(tmp_path), "http://localhost:6333")


def test_a_person_moves_it_with_one_command(tmp_path: Path, server: Cluster) -> None:
    done = CliRunner().invoke(app, ["migrate", "--to", server.address, "--catalog", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "0 documents are there and equal" in done.output
    assert f"REPERTORY_INDEX={server.address}" in done.output.replace("\n", "")
