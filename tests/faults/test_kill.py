"""Does every acknowledged write survive kill -9?"""

from __future__ import annotations

import random
import signal
import time
from pathlib import Path

import pytest

import repertory
from tests.faults import nursery, writer
from tests.faults.writer import entities

KILLS = 50


@pytest.mark.timeout(600)
async def test_acknowledged_writes_survive_being_killed(tmp_path: Path) -> None:
    dice = random.Random(20)
    expected: set[str] = set()
    acknowledged = 0
    for round_ in range(KILLS):
        lines = _write_and_kill(tmp_path, round_, patience=dice.uniform(0.0, 0.4))
        for line in lines:
            verb, _, step = line.partition(" ")
            if verb == "safe":
                expected |= {entity.id for entity in entities(round_, int(step))}
                acknowledged += 1
            elif verb == "shrunk":
                expected -= {entity.id for entity in entities(round_, int(step))[1:]}
        async with repertory.open(tmp_path, embedder="static") as rep:
            assert await rep.check() == []
            stored = {entity.id for entity in (await rep.entries(limit=1_000_000))[0]}
            # The write that the kill interrupted may have been made without its acknowledgement; nothing else may differ.
            unsure = {entity.id for step in range(len(lines) + 2) for entity in entities(round_, step)}
            assert expected - unsure <= stored
            assert stored - expected <= unsure
            missing = expected - stored
            assert all(_was_being_shrunk(entity_id, lines) for entity_id in missing), missing
            expected = stored
    assert acknowledged >= KILLS  # the kills came while writes were going on


def _was_being_shrunk(entity_id: str, lines: list[str]) -> bool:
    steps = [int(line.split()[1]) for line in lines if line.startswith("safe")]
    return bool(steps) and steps[-1] % 3 == 2 and f"/step{steps[-1] - 1}/" in entity_id


def _write_and_kill(catalog: Path, round_: int, patience: float) -> list[str]:
    process, hear = nursery.start(writer.main, catalog, round_)
    assert hear.recv() == "open"
    first = hear.recv()  # the model is loaded now, so that the kill falls among writes
    time.sleep(patience)
    process.kill()
    said = [first, *nursery.rest(process, hear)]
    assert process.exitcode == -signal.SIGKILL
    return said


async def test_a_damaged_index_is_rebuilt(tmp_path: Path) -> None:
    async with repertory.open(tmp_path) as rep:
        await rep.put("some", entities(1, 1))
        before = [result.entity.id for result in (await rep.search("parcel crane")).results]
    for file in (tmp_path / "index").rglob("*"):
        if file.is_file() and file.name != "standing.json":
            file.write_bytes(b"damaged" * 10)
    async with repertory.open(tmp_path) as rep:
        assert await rep.check() == []
        assert [result.entity.id for result in (await rep.search("parcel crane")).results] == before


@pytest.mark.parametrize("loss", ["standing.json", "shard"])
async def test_a_missing_index_is_rebuilt(tmp_path: Path, loss: str) -> None:
    import shutil

    async with repertory.open(tmp_path) as rep:
        await rep.put("some", entities(1, 1))
    lost = tmp_path / "index" / loss
    shutil.rmtree(lost) if lost.is_dir() else lost.unlink()
    async with repertory.open(tmp_path) as rep:
        assert await rep.check() == []
        assert rep.status()["documents"] == len(entities(1, 1))


async def test_an_index_that_fell_behind_catches_up(tmp_path: Path) -> None:
    async with repertory.open(tmp_path) as rep:
        await rep.put("some", entities(1, 1))
    older = {file: file.read_bytes() for file in (tmp_path / "index").rglob("*") if file.is_file()}
    async with repertory.open(tmp_path) as rep:
        await rep.put("more", entities(1, 2))
    for file, content in older.items():
        file.write_bytes(content)
    async with repertory.open(tmp_path) as rep:
        assert await rep.check() == []
        assert rep.status()["documents"] == len(entities(1, 1)) + len(entities(1, 2))


async def test_another_model_rebuilds_the_index(tmp_path: Path) -> None:
    async with repertory.open(tmp_path, embedder="none") as rep:
        await rep.put("some", entities(1, 1))
        assert (await rep.search("parcel")).mode == "lexical-only"
    async with repertory.open(tmp_path) as rep:
        assert await rep.check() == []
        assert await rep.embed() > 0
        assert (await rep.search("parcel")).mode == "hybrid"
