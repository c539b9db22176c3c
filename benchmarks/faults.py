"""What do searches and writes notice when a node of three dies, hangs, is cut off or becomes slow?

    python -m benchmarks.faults [--faults killed cut-off] [--tools 2000] [--seconds 10] [--times 2]

Starts a cluster of three Qdrant nodes (three shards, two replicas), searches and writes all the time, hurts the very node that is being
asked, heals it, and looks whether every acknowledged write is there; the second time it is another node, the third time again the one that
is being asked, and so on. To cut a node off, each one lives in a network namespace, which only root can make: elsewhere those faults are
left out, and the nodes are on loopback.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import product
from pathlib import Path

from tests.networks import impossible, network
from tests.qdrants import Cluster, Node, qdrant

import repertory
from repertory.app import Repertory
from repertory.errors import RepertoryError
from repertory.model import Entity, Kind, SearchRequest, Strategy

NODES = 3
READERS = 4
SETTLED = 2.0  # seconds after a fault in which a read may fail
CATCH_UP = 120.0  # seconds that a node has to be whole again
WORDS = "harbour parcel invoice calendar container berth crane manifest customs ledger voucher kettle".split()


Hurting = tuple[Callable[[], None], Callable[[], None]]  # and healing


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
    node: str
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
    rep: Repertory, cluster: Cluster, hurting: Hurting, named: tuple[str, str, int], seconds: float
) -> tuple[Outcome, list[str]]:
    """Search and write; hurt a node after a while, heal it after another. What was seen from the hurting on, and all that was written."""
    (hurt, heal), (fault, node, turn) = hurting, named
    watch, over = Watch(time.monotonic()), asyncio.Event()

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
            started, source = time.monotonic(), f"{fault}{turn}write"
            report = await rep.put(f"{source}{number}", [entry(source, number)])
            watch.writes += 1
            watch.behind += bool(report.behind)
            watch.slowest_write = max(watch.slowest_write, time.monotonic() - started)
            watch.written.append(f"{source}{number}")
            await asyncio.sleep(0.05)

    working: list[asyncio.Task[None]] = [asyncio.create_task(read(reader)) for reader in range(READERS)]
    working += [asyncio.create_task(write()), asyncio.create_task(rep.keep_following())]
    await asyncio.sleep(min(2.0, seconds))
    watch = Watch(time.monotonic(), written=watch.written)  # from here on
    await asyncio.to_thread(hurt)
    await asyncio.sleep(seconds)
    await asyncio.to_thread(heal)
    whole = await _whole_again(cluster)
    over.set()
    await asyncio.gather(*working[:-1])
    while rep._sync.behind:  # noqa: ASYNC110 - whoever follows tells nobody
        await asyncio.sleep(0.1)
    working[-1].cancel()
    seen = Outcome(
        fault,
        node,
        watch.reads,
        len(watch.failed),
        sum(when > SETTLED for when in watch.failed),
        round(watch.slowest, 2),
        watch.writes,
        watch.behind,
        round(watch.slowest_write, 2),
        len(await _lost(rep, watch.written)),
        len(await rep.check()),
        whole,
    )
    return seen, watch.written


async def _lost(rep: Repertory, written: list[str]) -> list[str]:
    return [word for word in written if not await _found(rep, word)]


async def _found(rep: Repertory, word: str) -> bool:
    answer = await rep.search(SearchRequest(word, strategy=Strategy.BM25, limit=1))
    return any(result.entity.name == word for result in answer.results)


async def _whole_again(cluster: Cluster) -> float | None:
    started = time.monotonic()
    while (taken := time.monotonic() - started) < CATCH_UP:
        if await asyncio.to_thread(cluster.whole):
            return round(taken, 2)
        await asyncio.sleep(0.2)
    return None


def _cut_off(node: Node, _: Sequence[Node]) -> Hurting:
    assert node.place
    return node.place.cut_off, node.place.reconnect


def _cut_from_nodes(node: Node, others: Sequence[Node]) -> Hurting:
    assert node.place
    places = [other.place for other in others if other.place]
    return partial(node.place.part_from, places), partial(node.place.meet_again, places)


FAULTS: dict[str, Callable[[Node, Sequence[Node]], Hurting]] = {  # of a node among others
    "killed": lambda node, _: (node.kill, node.start),
    "hangs": lambda node, _: (node.pause, node.resume),
    "slow": lambda node, _: (node.slow, node.resume),  # by SIGSTOP and SIGCONT: many a kernel has no netem
    "cut-off": _cut_off,
    "cut-from-nodes": _cut_from_nodes,  # it still answers us
}
NETWORKED = {"cut-off", "cut-from-nodes"}


@contextlib.contextmanager
def _cluster(home: Path, networked: bool) -> Iterator[Cluster]:
    with contextlib.ExitStack() as stack:
        places = stack.enter_context(network(NODES)) if networked else ()
        yield stack.enter_context(qdrant(home, nodes=NODES, places=places))


async def measure(
    home: Path, faults: list[str], tools: int, seconds: float, tell: Callable[[Outcome], None], times: int = 1
) -> dict[str, list[str]]:
    """Every fault in turn, in one cluster. The acknowledged writes of each that are lost at the very end."""
    written: dict[str, list[str]] = {fault: [] for fault in faults}
    with _cluster(home / "cluster", not NETWORKED.isdisjoint(faults)) as cluster:
        spread = {"index_shards": NODES, "index_replicas": 2, "index_timeout": 2}
        async with repertory.open(home / "catalog", index=cluster.address, embedder="static", answer_cache=0, **spread) as rep:
            await rep.put("tools", [entry("tool", number) for number in range(tools)])
            for fault, turn in product(faults, range(times)):
                at = rep._engine.index._nodes._at  # type: ignore[attr-defined] # the one that is being asked
                others = [node for node in cluster.nodes if node is not cluster.nodes[at]]
                hurt = others[turn // 2 % 2] if turn % 2 else cluster.nodes[at]
                hurting = FAULTS[fault](hurt, [node for node in cluster.nodes if node is not hurt])
                seen, made = await suffer(rep, cluster, hurting, (fault, "another" if turn % 2 else "asked", turn), seconds)
                written[fault] += made
                tell(seen)
            return {fault: await _lost(rep, made) for fault, made in written.items()}


def main() -> None:
    """Print what was seen."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tools", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=10.0, help="how long a node is hurt")
    parser.add_argument("--faults", nargs="+", choices=sorted(FAULTS), default=list(FAULTS))
    parser.add_argument("--times", type=int, default=2, help="how often; every second time it is not the node that is being asked")
    given = parser.parse_args()
    faults, outcomes = given.faults, []
    if not NETWORKED.isdisjoint(faults) and (reason := impossible()):
        print(f"left out: {', '.join(sorted(NETWORKED.intersection(faults)))}: {reason}", file=sys.stderr)
        faults = [fault for fault in faults if fault not in NETWORKED]

    def tell(seen: Outcome) -> None:
        outcomes.append(seen)
        print(json.dumps(asdict(seen)), flush=True)

    with tempfile.TemporaryDirectory() as home:
        lost = asyncio.run(measure(Path(home), faults, given.tools, given.seconds, tell, given.times))
    for fault in faults:
        print(_summed([seen for seen in outcomes if seen.fault == fault], lost[fault]))


def _summed(seen: Sequence[Outcome], lost: Sequence[str]) -> str:
    reads, failed, late = (sum(getattr(one, what) for one in seen) for what in ("reads", "failed_reads", "failed_after_settling"))
    return (
        f"{seen[0].fault}, {len(seen)} times: {reads} searches, {failed} failed, {late} of them after the first {SETTLED:g} s; "
        f"{sum(one.writes for one in seen)} acknowledged writes, {len(lost)} lost; {sum(one.differences for one in seen)} points differ; "
        f"slowest search {max(one.slowest_read_s for one in seen)} s, slowest write {max(one.slowest_write_s for one in seen)} s"
    )


if __name__ == "__main__":
    main()
