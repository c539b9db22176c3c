"""How much of a search is our own Python, and how many searches a second are there?

    python -m benchmarks.share [--size 10000] [--catalog DIR]

One process, a catalog of tools with all vectors, real questions. Processor time is what is shared out: a warm hybrid search is the model
(the query is embedded), the engine (the index is asked), the database, and the rest, which is ours. Then the same with query vectors
remembered, and how many of those are answered in a second when several wait at once. The answer cache is off throughout.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import repertory
from benchmarks.speed import documents, queries
from repertory import offload
from repertory.embedders.onnx import OnnxEmbedder
from repertory.indexes.edge import EdgeIndex
from repertory.store.database import Database

AT_ONCE = 16  # searches that wait together
ROUNDS = 3  # over all questions
TRIES = 3  # of which the best counts: others may be at work on the machine

_outside = threading.local()  # a thread that is inside the model need not be asked again when that asks the database


class Clock:
    """Seconds of processor time by what they went to."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}
        self._lock = threading.Lock()

    def add(self, what: str, seconds: float) -> None:
        """Count seconds."""
        with self._lock:
            self.spent[what] = self.spent.get(what, 0.0) + seconds

    def watched(self, what: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, with the time that its thread spends in it."""

        def call(*args: Any, **kwargs: Any) -> Any:
            if getattr(_outside, "now", False) and what != "offloaded":
                return function(*args, **kwargs)
            began, _outside.now = time.thread_time(), what != "offloaded"
            try:
                return function(*args, **kwargs)
            finally:
                _outside.now = False
                self.add(what, time.thread_time() - began)

        return call


@contextlib.contextmanager
def watching(clock: Clock) -> Iterator[None]:
    """Measure the parts while the block runs."""
    places: list[tuple[Any, str, str]] = [
        (OnnxEmbedder, "_embed", "model"),
        (EdgeIndex, "_run", "engine"),
        (Database, "_look_up", "database and its driver"),
        (Database, "_select", "database and its driver"),
    ]
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in places]
    pools = offload._pool, offload._turns
    submits = [pool.submit for pool in pools]
    for owner, name, what in places:
        setattr(owner, name, clock.watched(what, getattr(owner, name)))
    for pool, submit in zip(pools, submits, strict=True):
        pool.submit = lambda work, *args, submit=submit: submit(clock.watched("offloaded", work), *args)  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        for owner, name, function in before:
            setattr(owner, name, function)
        for pool, submit in zip(pools, submits, strict=True):
            pool.submit = submit  # type: ignore[method-assign]


async def share(rep: repertory.Repertory, asked: list[str]) -> dict[str, float]:
    """Milliseconds of processor time in one search, by part."""
    clock = Clock()
    with watching(clock):
        process, here = time.process_time(), time.thread_time()
        for query in asked:
            await rep.search(query)
        process, here = time.process_time() - process, time.thread_time() - here
    parts = {part: clock.spent.get(part, 0.0) for part in ("model", "engine", "database and its driver")}
    python = here + clock.spent.get("offloaded", 0.0)  # what threads of ours did; the model and the engine have threads of their own
    ours = python - sum(parts.values())
    parts["threads of model and engine"] = process - python
    return {part: 1000 * seconds / len(asked) for part, seconds in {**parts, "our own Python": ours}.items()}


async def throughput(rep: repertory.Repertory, asked: list[str]) -> tuple[float, float]:
    """Searches a second with several under way, and how many cores this process had for them: on a busy machine, not all."""
    waiting = iter(asked * ROUNDS)

    async def work() -> None:
        for query in waiting:
            await rep.search(query)

    began, process = time.perf_counter(), time.process_time()
    await asyncio.gather(*(work() for _ in range(AT_ONCE)))
    took = time.perf_counter() - began
    return ROUNDS * len(asked) / took, (time.process_time() - process) / took


async def measure(size: int, sets: Path, catalog: Path) -> None:
    """Print the tables."""
    asked = queries(sets)
    async with repertory.open(catalog, answer_cache=0) as rep:
        if not rep.status()["documents"]:
            await rep.put("bench", documents(size, sets))
        for query in asked:  # warm, and from here on every vector is remembered
            await rep.search(query)
        known = await share(rep, asked)
        rate, cores = max([await throughput(rep, asked) for _ in range(TRIES)])
    async with repertory.open(catalog, answer_cache=0, embedder_cache=0) as rep:
        for query in asked:
            await rep.search(query)
        warm = await share(rep, asked)
        print(f"{rep.status()['documents']:,} tools; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print(f"{'processor ms of one hybrid search':36}{'warm':>8}{'share':>7}{'vector known':>14}{'share':>7}")
    both = sum(warm.values()), sum(known.values())
    for part in warm:
        print(f"{part:36}{warm[part]:8.2f}{warm[part] / both[0]:7.0%}{known[part]:14.2f}{known[part] / both[1]:7.0%}")
    print(f"{'all':36}{both[0]:8.2f}{1:7.0%}{both[1]:14.2f}{1:7.0%}")
    print(f"{rate:.0f} searches a second in this process with query vectors remembered, {AT_ONCE} at once; it had {cores:.1f} cores")


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--sets", type=Path, default=Path("../shared/bench"))
    parser.add_argument("--catalog", type=Path, help="keep the catalog here, and use it if it is there")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        asyncio.run(measure(chosen.size, chosen.sets, chosen.catalog or Path(directory)))


if __name__ == "__main__":
    main()
