"""Does a catalog on a Qdrant outlive its nodes, and whoever changes its model?"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import httpx2
import pytest
from benchmarks.faults import NETWORKED, Outcome, measure

import repertory
from tests.catalogs import tool
from tests.conftest import ROOT, require
from tests.holdings import answered
from tests.networks import impossible
from tests.provision import IP
from tests.qdrants import qdrant

pytestmark = pytest.mark.cluster

KILLS = 4
WORDS = "harbour parcel invoice calendar container berth crane manifest customs tide pilot anchor".split()
QUERIES = ("where is the parcel", "crane manifest", "customs tide")


@pytest.mark.parametrize("faults", [["killed"], sorted(NETWORKED)], ids=["killed", "cut"])
async def test_no_read_fails_and_no_acknowledged_write_is_lost(tmp_path: Path, faults: list[str]) -> None:
    if not NETWORKED.isdisjoint(faults):
        require(IP)
        if reason := impossible():
            pytest.skip(reason)
    seen: list[Outcome] = []
    lost = await measure(tmp_path, faults, tools=200, seconds=4, tell=seen.append)
    assert [one.fault for one in seen] == faults
    for one in seen:
        assert one.reads > 20
        assert one.failed_after_settling == 0
        assert one.writes > 0
        assert one.lost_writes == 0
        assert one.differences == 0
        assert one.whole_again_s is not None
    assert not any(lost.values())


async def test_a_change_of_models_that_is_killed_ends_as_an_undisturbed_one(tmp_path: Path) -> None:
    dice = random.Random(8)
    tools = [tool(f"some/tool{n}", " ".join(dice.choices(WORDS, k=6))) for n in range(60)]
    with qdrant(tmp_path / "qdrant") as server:

        async def filled(name: str) -> tuple[Path, object]:
            async with repertory.open(tmp_path / name, index=server.address, embedder="static") as rep:
                await rep.put("some", tools)
                return tmp_path / name, await answered(rep, QUERIES)

        calm, before = await filled("calm")
        whole = _change(calm, server.address, None)
        async with repertory.open(calm, index=server.address) as rep:
            after = await answered(rep, QUERIES)
            assert after != before
            assert await rep.check() == []
        for kill in range(KILLS):
            killed, _ = await filled(f"killed{kill}")
            _change(killed, server.address, whole * (kill + 0.5) / KILLS)
            async with repertory.open(killed, index=server.address) as rep:
                assert await rep.check() == []
                assert await answered(rep, QUERIES) == (before if rep.status()["changing"] else after)
                await rep.embed()
                assert rep.status()["changing"] is None
                assert await rep.check() == []
                assert await answered(rep, QUERIES) == after
        kept = httpx2.get(f"http://{server.nodes[0].url}/collections", trust_env=False).json()["result"]["collections"]
        assert len(kept) == 1 + KILLS  # one of each catalog: nothing half built is left


def _change(catalog: Path, index: str, patience: float | None) -> float:
    """Change in a process of its own, and kill it when the patience is over; answers the seconds that it took, 0 where it was killed."""
    command = [sys.executable, "-m", "tests.faults.changer", str(catalog), index]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as changer:
        assert changer.stdout is not None
        assert changer.stdout.readline() == "open\n"
        started = time.monotonic()
        try:
            changer.wait(patience)
        except subprocess.TimeoutExpired:
            changer.kill()
        return time.monotonic() - started if changer.stdout.read() == "done\n" else 0.0
