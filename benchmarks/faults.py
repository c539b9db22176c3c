"""What do searches and writes notice when a node of three dies, or hangs?

    python -m benchmarks.faults [--tools 2000] [--seconds 10]

Starts a cluster of three Qdrant nodes on loopback (three shards, two replicas), searches and writes all the time, kills the very node that
is being asked, starts it again, and looks whether every acknowledged write is there. Then the same with that node hanging (SIGSTOP), and
with another.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

import httpx2
from tests.qdrants import Cluster, Node, qdrant

import repertory
from repertory.app import Repertory
from repertory.errors import RepertoryError
from repertory.model import Entity, Kind, SearchRequest, Strategy

READERS = 4
SETTLED = 2.0  # seconds after a fault in which a read may fail
CATCH_UP = 120.0  # seconds that a node has to be whole again
WORDS = "harbour parcel invoice calendar container berth crane manifest customs ledger voucher kettle".split()


@dataclass(slots=True)
class Watch:
    """What was seen since the fault; all times in seconds since then."""

    began: float = 0.0
    reads: int = 0
    failed: list[float] = field(default_factory=list)
    slowest: float = 0.0
    writes: int = 0
    behind: int = 0  # acknowledged, but not in the index at once
    slowest_write: float = 0.0
    written: list[str] = field(default_factory=list)  # acknowledged


@dataclass(frozen=True, slots=True)
class Outcome:
    """One fault."""

    fault: str
    reads: int
    failed_reads: int
    failed_after_settling: int
    slowest_read_s: float
    writes: int
    writes_behind: int
    slowest_write_s: float
    lost_writes: int
    differences: int
    whole_again_s: float | None  # after the node was back; None: not in time


def entry(name: str, number: int) -> Entity:
    """A made-up tool, and a word that only it has."""
    words = " ".join(WORDS[(number * step) % len(WORDS)] for step in (1, 5, 7))
    return Entity(Kind.TOOL, f"{name}/{number}", f"{name}{number}", f"{words} {name}{number}", details={"server": name})


async def suffer(
    rep: Repertory, cluster: Cluster, fault: str, hurt: Callable[[], None], heal: Callable[[], None], seconds: float
) -> Outcome:
    """Search and write; hurt a node after a while, heal it after another, and say what was seen from the hurting on."""
    watch, over = Watch(began=time.monotonic()), asyncio.Event()

    async def read(reader: int) -> None:
        turn = reader
        while not over.is_set():
            turn += READERS
            asked, started = WORDS[turn % len(WORDS)], time.monotonic()
            try:
                found = await rep.search(SearchRequest(f"{asked} {WORDS[turn % 5]}", limit=5, strategy=Strategy.HYBRID))
                failed = not found.results
            except RepertoryError:
                failed = True
            watch.reads += 1
            watch.slowest = max(watch.slowest, time.monotonic() - started)
            if failed:
                watch.failed.append(started - watch.began)
            await asyncio.sleep(0.01)

    async def write() -> None:
        number = 0
        while not over.is_set():
            number += 1
            started, source = time.monotonic(), f"{fault}{number}"
            report = await rep.put(source, [entry(source, number)])
            watch.writes += 1
            watch.behind += bool(report.behind)
            watch.slowest_write = max(watch.slowest_write, time.monotonic() - started)
            watch.written.append(f"{source}{number}")
            await asyncio.sleep(0.05)

    working: list[asyncio.Task[None]] = [asyncio.create_task(read(reader)) for reader in range(READERS)]
    working += [asyncio.create_task(write()), asyncio.create_task(rep.keep_following())]
    await asyncio.sleep(min(2.0, seconds))
    calm = list(watch.written)
    watch.__init__(began=time.monotonic(), written=calm)  # type: ignore[misc] # from here on
    await asyncio.to_thread(hurt)
    await asyncio.sleep(seconds)
    await asyncio.to_thread(heal)
    whole = await _whole_again(cluster)
    over.set()
    await asyncio.gather(*working[:-1])
    while rep._sync.behind:  # noqa: ASYNC110 - whoever follows tells nobody
        await asyncio.sleep(0.1)
    working[-1].cancel()
    lost = [word for word in watch.written if not await _found(rep, word)]
    return Outcome(
        fault,
        watch.reads,
        len(watch.failed),
        sum(when > SETTLED for when in watch.failed),
        round(watch.slowest, 2),
        watch.writes,
        watch.behind,
        round(watch.slowest_write, 2),
        len(lost),
        len(await rep.check()),
        whole,
    )


async def _found(rep: Repertory, word: str) -> bool:
    answer = await rep.search(SearchRequest(word, strategy=Strategy.BM25, limit=1))
    return any(result.entity.name == word for result in answer.results)


async def _whole_again(cluster: Cluster) -> float | None:
    """When every replica of every shard is active, as every node sees it."""
    started = time.monotonic()
    async with httpx2.AsyncClient(trust_env=False, timeout=5) as client:
        while (taken := time.monotonic() - started) < CATCH_UP:
            if all([await _active(client, node) for node in cluster.nodes]):
                return round(taken, 2)
            await asyncio.sleep(0.2)
    return None


async def _active(client: httpx2.AsyncClient, node: Node) -> bool:
    try:
        base = f"http://127.0.0.1:{node.http}/collections"
        names = [one["name"] for one in (await client.get(base)).json()["result"]["collections"]]
        for name in names:
            seen = (await client.get(f"{base}/{name}/cluster")).json()["result"]
            shards = [*seen["local_shards"], *seen["remote_shards"]]
            if seen["shard_transfers"] or any(shard["state"] != "Active" for shard in shards):
                return False
    except (httpx2.HTTPError, KeyError, ValueError):
        return False
    return bool(names)


FAULTS: dict[str, Callable[[Node, Node], tuple[Callable[[], None], Callable[[], None]]]] = {  # of the one that is asked, and another
    "killed": lambda asked, _: (asked.kill, asked.start),
    "hangs": lambda asked, _: (asked.pause, asked.resume),
    "another-hangs": lambda _, another: (another.pause, another.resume),
}


async def measure(home: Path, faults: list[str], tools: int, seconds: float, tell: Callable[[Outcome], Awaitable[None] | None]) -> None:
    """Every fault in turn, in one cluster."""
    with qdrant(home / "cluster", nodes=3) as cluster:
        spread = {"index_shards": 3, "index_replicas": 2, "index_timeout": 2}
        async with repertory.open(home / "catalog", index=cluster.address, embedder="static", answer_cache=0, **spread) as rep:
            await rep.put("tools", [entry("tool", number) for number in range(tools)])
            for fault in faults:
                at = rep._engine.index._nodes._at  # type: ignore[attr-defined] # the one that is being asked
                asked, another = cluster.nodes[at], cluster.nodes[at - 1]
                tell(await suffer(rep, cluster, fault, *FAULTS[fault](asked, another), seconds))


def main() -> None:
    """Print what was seen."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tools", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=10.0, help="how long a node is away")
    parser.add_argument("--faults", nargs="+", choices=sorted(FAULTS), default=list(FAULTS))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        asyncio.run(measure(Path(home), given.faults, given.tools, given.seconds, lambda seen: print(json.dumps(asdict(seen), indent=2))))


if __name__ == "__main__":
    main()
