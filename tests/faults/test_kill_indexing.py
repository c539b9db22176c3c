"""Does an indexing run that is killed leave a sound catalog, and end where an undisturbed one ends?"""

from __future__ import annotations

import json
import random
import signal
import sys
import time
from pathlib import Path

import pytest

import repertory
from tests.conftest import ROOT
from tests.faults import indexer, nursery
from tests.holdings import answered, held

KILLS = 50
LIVE_KILLS = 5
NOTES, TOOL_FILES, TOOLS_EACH = 180, 20, 2
WORDS = "harbour parcel invoice calendar container berth crane manifest customs tide pilot anchor".split()
QUERIES = ("where is the parcel", "crane manifest", "tool_7_1", "customs tide")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """200 files: notes that link to each other, and tool files. Many share a text, so the model has some hundred and fifty to embed."""
    made = tmp_path_factory.mktemp("folder")
    dice = random.Random(5)
    for n in range(NOTES):
        text = " ".join(random.Random(n % 60).choices(WORDS, k=6))
        (made / f"note{n:03}.md").write_text(f"# Note\n\n{text}\n\n## More\n\n{text} [[note{dice.randrange(NOTES):03}]]\n")
    for n in range(TOOL_FILES):
        tools = [{"name": f"tool_{n}_{m}", "description": " ".join(dice.choices(WORDS, k=5))} for m in range(TOOLS_EACH)]
        (made / f"tools{n:02}.json").write_text(json.dumps({"tools": tools}))
    return made


@pytest.mark.timeout(900)
async def test_a_killed_indexing_run_ends_as_an_undisturbed_one(folder: Path, tmp_path: Path) -> None:
    whole = _index(tmp_path / "calm", folder, patience=None)
    assert whole
    calm = await _answers(tmp_path / "calm")
    dice, kills, attempt, finished = random.Random(50), 0, 0, 0
    while kills < KILLS:
        catalog = tmp_path / f"attempt{attempt}"
        if _index(catalog, folder, patience=dice.uniform(0.0, whole)):
            await _compare(catalog, tmp_path / "calm", calm)
            attempt, finished = attempt + 1, finished + 1
            continue
        kills += 1
        async with repertory.open(catalog, embedder="static") as rep:
            assert await rep.check() == []
            assert await rep.waiting() <= rep.status()["documents"]
    assert _index(catalog, folder, patience=None)
    await _compare(catalog, tmp_path / "calm", calm)
    assert finished  # the kills were spread over whole runs


@pytest.mark.timeout(300)
async def test_a_killed_live_ingest_ends_as_an_undisturbed_one(tmp_path: Path) -> None:
    config = tmp_path / ".mcp.json"
    server = {"command": sys.executable, "args": ["-m", "tests.mcpserver", "good"], "cwd": str(ROOT)}
    config.write_text(json.dumps({"mcpServers": dict.fromkeys(("house", "barn", "mill"), server)}))
    whole = _index(tmp_path / "calm", config, patience=None)
    assert whole
    calm = await _answers(tmp_path / "calm")
    dice = random.Random(5)
    for _ in range(LIVE_KILLS):
        _index(tmp_path / "killed", config, patience=dice.uniform(0.0, whole))
        async with repertory.open(tmp_path / "killed", embedder="static") as rep:
            assert await rep.check() == []
    assert _index(tmp_path / "killed", config, patience=None)
    await _compare(tmp_path / "killed", tmp_path / "calm", calm)


def _index(catalog: Path, path: Path, patience: float | None) -> float:
    """Index in a process of its own, and kill it when the patience is over; answers the seconds that it took, 0 where it was killed."""
    process, hear = nursery.start(indexer.main, catalog, path)
    assert hear.recv() == "open"
    started = time.monotonic()
    process.join(patience)
    if patience is not None:
        process.kill()  # where it is still there
    said = nursery.rest(process, hear)
    assert process.exitcode in (0, -signal.SIGKILL)
    return time.monotonic() - started if said == ["done"] else 0.0


async def _answers(catalog: Path) -> object:
    async with repertory.open(catalog, embedder="static") as rep:
        assert await rep.check() == []
        assert await rep.waiting() == 0
        return await answered(rep, QUERIES)


async def _compare(catalog: Path, calm: Path, answers: object) -> None:
    assert await _answers(catalog) == answers
    assert held(catalog) == held(calm)
