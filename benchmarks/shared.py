"""What does it cost to share a catalog, and what does one process notice of another that dies?

    python -m benchmarks.shared [--tools 2000]

Starts a PostgreSQL and a Qdrant on loopback. A catalog in SQLite and one in PostgreSQL are filled, written and searched; what is written in
one process is looked for in another; one that was killed between the truth and the index is survived, and so is a PostgreSQL that is
restarted.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Iterator
from itertools import count
from pathlib import Path

from tests.catalogs import ids, tool
from tests.conftest import ROOT
from tests.faults.sharer import BETWEEN
from tests.postgres import Server, postgres
from tests.qdrants import qdrant

import repertory
from repertory.app import Repertory
from repertory.errors import RepertoryError
from repertory.model import Entity, SearchRequest, Strategy

ROUNDS = 20
SEARCHES = 100
AWAY = 2.0  # seconds that PostgreSQL is not there
WORDS = "harbour parcel invoice calendar container berth crane manifest customs ledger voucher kettle".split()


def tools(number: int) -> list[Entity]:
    """Some that have words in common, and each a word of its own."""
    dice = random.Random(1)
    return [tool(f"server{n % 50}/tool{n}", f"{' '.join(dice.choices(WORDS, k=12))} unique{n}") for n in range(number)]


async def use(rep: Repertory, number: int) -> dict[str, float]:
    """Fill a catalog, write into it, search it."""
    began = time.perf_counter()
    await rep.put("many", tools(number))
    filled = time.perf_counter() - began
    writes = [await _took(rep.put(f"one{n}", [tool(f"one{n}/send", f"Sends special{n}")])) for n in range(ROUNDS)]
    searches = [await _took(rep.search(f"{WORDS[n % len(WORDS)]} unique{n * 7}")) for n in range(SEARCHES)]
    return {
        "fill_s": round(filled, 2),
        "write_ms": round(1000 * statistics.median(writes), 1),
        "search_ms": round(1000 * statistics.median(searches), 1),
    }


async def between(one: Repertory, other: Repertory) -> dict[str, float]:
    """How long after its acknowledgement a write is found elsewhere."""
    late: list[float] = []
    for n in range(ROUNDS):
        await one.put(f"two{n}", [tool(f"two{n}/send", f"Sends rare{n}")])
        late.append(await _found(other, f"rare{n}", f"tool:two{n}/send"))
    return {"found_elsewhere_ms": round(1000 * statistics.median(late), 1), "slowest_ms": round(1000 * max(late), 1)}


async def survived(rep: Repertory, catalog: Path, database: str, index: str) -> dict[str, float]:
    """How long after a kill -9 of who had the turn others write, and find what the dead had written."""
    with _stuck(catalog, database, index, 1) as process:
        waiting = asyncio.create_task(rep.put("mine", [tool("mine/send", "Sends a manifest")]))
        await asyncio.sleep(1)
        process.kill()
        turn = await _took(waiting)
    following = asyncio.create_task(rep.keep_following())
    with _stuck(catalog, database, index, 2) as process:
        process.kill()
        found = await _found(rep, "before the index could hear of it", f"tool:last/{BETWEEN}-2")
    following.cancel()
    return {"turn_after_kill_ms": round(1000 * turn, 1), "found_after_kill_s": round(found, 2)}


async def restarted(one: Repertory, other: Repertory, truth: Server) -> dict[str, float]:
    """How soon writes go on, and are found elsewhere, when PostgreSQL is ended (pg_ctl stop -m immediate) while somebody writes."""
    kept: list[int] = []
    failed, over = 0, asyncio.Event()

    async def write() -> None:
        nonlocal failed
        for n in count():
            if over.is_set():
                return
            try:
                await one.put(f"three{n}", [tool(f"three{n}/send", f"Sends scarce{n}")])
                kept.append(n)
            except RepertoryError:
                failed += 1
                await asyncio.sleep(0.05)

    writing = asyncio.create_task(write())
    await asyncio.sleep(AWAY)
    await asyncio.to_thread(truth.stop)
    before = len(kept)
    await asyncio.sleep(AWAY)
    await asyncio.to_thread(truth.start)
    began = time.perf_counter()
    while len(kept) == before:  # noqa: ASYNC110
        await asyncio.sleep(0.002)
    wrote = time.perf_counter() - began
    over.set()
    await writing
    await _found(other, f"scarce{kept[-1]}", f"tool:three{kept[-1]}/send")
    found = time.perf_counter() - began
    names = {entity.id for entity in (await other.entries(limit=1_000_000))[0]}
    lost = [n for n in kept if f"tool:three{n}/send" not in names]
    return {
        "acknowledged": len(kept),
        "failed": failed,
        "lost": len(lost),
        "differences": len(await other.check()),
        "written_after_restart_ms": round(1000 * wrote, 1),
        "found_after_restart_ms": round(1000 * found, 1),
    }


@contextlib.contextmanager
def _stuck(catalog: Path, database: str, index: str, number: int) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.faults.sharer", str(catalog), database, index, f"{BETWEEN}-{number}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        while process.stdout.readline() != "written\n":
            assert process.poll() is None
        yield process
        process.kill()


async def _took(work: Awaitable[object]) -> float:
    began = time.perf_counter()
    await work
    return time.perf_counter() - began


async def _found(rep: Repertory, query: str, wanted: str) -> float:
    began = time.perf_counter()
    while wanted not in ids(await rep.search(SearchRequest(query, strategy=Strategy.BM25))):  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(0.002)
    return time.perf_counter() - began


async def main(number: int) -> None:
    with tempfile.TemporaryDirectory() as folder, postgres() as truth, qdrant(Path(folder) / "qdrant") as index:
        home, database = Path(folder), truth.database()
        async with repertory.open(home / "alone", index=index.address, embedder="none") as rep:
            print(json.dumps({"truth": "SQLite", **await use(rep, number)}))
        shared = {"database": database, "index": index.address, "embedder": "none"}
        async with repertory.open(home / "one", **shared) as one, repertory.open(home / "two", **shared) as other:
            print(json.dumps({"truth": "PostgreSQL", **await use(one, number)}))
            print(json.dumps(await between(one, other)))
            print(json.dumps(await survived(one, home / "three", database, index.address)))
            print(json.dumps(await restarted(one, other, truth)))


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--tools", type=int, default=2000)
    asyncio.run(main(arguments.parse_args().tools))
