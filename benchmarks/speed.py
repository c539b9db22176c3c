"""How fast is it, beside its peers?

`python -m benchmarks.speed [--sizes 1000,10000,100000]` builds a catalog of each size in a process of its own and measures index time,
memory, cold start and search latency next to FastMCP's BM25 search transform and bm25s, all on the same documents and queries. Documents
come from labelled sets where `--sets` finds them, and are made up otherwise; past the number of distinct ones they repeat under other
paths, so repeated texts share a vector.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import logging
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import repertory
from repertory.embedders.choose import make_embedder
from repertory.evaluate.sets import load
from repertory.model import Entity, Kind, SearchRequest, Strategy
from repertory.settings import load as load_settings

QUERIES = 200
SLOW_QUERIES = 10  # for peers that take seconds
WORDS = "list create read update delete send fetch file user issue message event table report invoice city weather route image text".split()


def documents(size: int, sets: Path) -> list[Entity]:
    """Tools for a catalog of this size."""
    distinct = list({entity.path: entity for entity in _tools(sets)}.values())
    random.Random(7).shuffle(distinct)
    return [replace(distinct[i % len(distinct)], path=f"{i // len(distinct)}/{distinct[i % len(distinct)].path}") for i in range(size)]


def _tools(sets: Path) -> list[Entity]:
    folders = sorted(file.parent for file in sets.glob("*/*/corpus.jsonl"))
    found = [entity for folder in folders for entity in load(folder).entities if entity.kind is Kind.TOOL]
    return found or list(_made_up(20_000))


def _made_up(count: int) -> list[Entity]:
    dice = random.Random(11)
    return [
        Entity(Kind.TOOL, f"made-up/{i}", "_".join(dice.sample(WORDS, 2)) + f"_{i}", " ".join(dice.choices(WORDS, k=25)))
        for i in range(count)
    ]


def queries(sets: Path) -> list[str]:
    """Questions of people where there are any."""
    found = [query.text for folder in sorted(sets.glob("*/toolret_apigen")) for query in load(folder).queries]
    dice = random.Random(3)
    made_up = [" ".join(dice.sample(WORDS, 5)) for _ in range(QUERIES)]
    return dice.sample(found, QUERIES) if len(found) >= QUERIES else made_up


async def _time(call: Callable[[str], Awaitable[Any]], asked: list[str]) -> tuple[float, float]:
    """p50 and p95 in milliseconds."""
    taken = []
    for query in asked:
        started = time.perf_counter()
        await call(query)
        taken.append((time.perf_counter() - started) * 1000)
    cuts = statistics.quantiles(taken, n=20)
    return statistics.median(taken), cuts[18]


async def measure(size: int, sets: Path) -> dict[str, Any]:
    """Everything about one size."""
    entities, asked = documents(size, sets), queries(sets)
    warm_up, asked = asked[:20], asked[20:]
    found: dict[str, Any] = {"size": size}
    catalog = Path(tempfile.mkdtemp(prefix="repertory-bench-"))
    try:
        await _measure_indexing(catalog, entities, warm_up, found)
        async with repertory.open(catalog, answer_cache=0) as rep:
            for query in warm_up:
                await rep.search(query)
            found["memory_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

            def way(strategy: Strategy) -> Callable[[str], Awaitable[Any]]:
                return lambda query: rep.search(SearchRequest(query, strategy=strategy))

            found["hybrid"] = await _time(way(Strategy.HYBRID), asked)
            found["hybrid, query vector cached"] = await _time(way(Strategy.HYBRID), asked)
            found["bm25"] = await _time(way(Strategy.BM25), asked)
            found["keyword"] = await _time(way(Strategy.KEYWORD), asked)
        embedder = make_embedder(load_settings({})[0])
        assert embedder is not None
        await embedder.embed_query("warm up")
        found["embedding the query"] = await _time(embedder.embed_query, asked)
        found["cold"] = _cold(catalog, asked[0])
    finally:
        shutil.rmtree(catalog, ignore_errors=True)
    found["FastMCP BM25 transform"] = await _time(_fastmcp(entities), asked[: SLOW_QUERIES * 2])
    found["bm25s"] = await _time(_bm25s(entities), asked)
    return found


async def _measure_indexing(catalog: Path, entities: list[Entity], asked: list[str], found: dict[str, Any]) -> None:
    """Words first: from then on everything is found. Vectors follow while searches are answered, which say how many are missing."""
    started, busy = time.perf_counter(), time.process_time()
    async with repertory.open(catalog, embedder="none", answer_cache=0) as rep:
        await rep.put("bench", entities)
    found["index_words_s"], found["index_words_cpu_s"] = time.perf_counter() - started, time.process_time() - busy
    started = time.perf_counter()
    async with repertory.open(catalog, answer_cache=0) as rep:
        embedding = asyncio.create_task(rep.embed())
        meanwhile = await _ask_until(embedding, rep, asked)
        found["embedded"] = await embedding
    found["index_vectors_s"] = time.perf_counter() - started
    found["search while embedding, worst"] = meanwhile
    await _measure_static(catalog.with_name(f"{catalog.name}-static"), entities, found)
    found["disk_mb"] = sum(file.stat().st_blocks * 512 for file in catalog.rglob("*")) / 1e6  # the engine keeps sparse files


async def _ask_until(embedding: asyncio.Task[int], rep: repertory.Repertory, asked: list[str]) -> tuple[float, float]:
    """Search twice a second until everything is embedded: the median and the worst, in milliseconds. What answers say is on stderr."""
    taken: list[float] = []
    said: dict[str, None] = {}
    for query in itertools.cycle(asked):
        started = time.perf_counter()
        response = await rep.search(query)
        taken.append((time.perf_counter() - started) * 1000)
        said |= {note.message: None for note in response.diagnostics if note.code == "vectors_missing"}
        done, _ = await asyncio.wait([embedding], timeout=0.5)
        if done:
            break
    print(*said, sep="\n", file=sys.stderr)
    return statistics.median(taken), max(taken)


async def _measure_static(catalog: Path, entities: list[Entity], found: dict[str, Any]) -> None:
    """How long it takes until everything has a vector of the quick model, in seconds by the clock and of the processor."""
    try:
        async with repertory.open(catalog, embedder="static", answer_cache=0) as rep:
            await rep.put("bench", entities, embed=False)
            started, spent = time.perf_counter(), time.process_time()
            await rep.embed()
            found["index_static_s"] = time.perf_counter() - started
            found["index_static_cpu_s"] = time.process_time() - spent
    finally:
        shutil.rmtree(catalog, ignore_errors=True)


def _cold(catalog: Path, query: str) -> tuple[float, float]:
    """A whole `repertory search` from a terminal, best and worst of five, in milliseconds."""
    taken = []
    for _ in range(5):
        started = time.perf_counter()
        subprocess.run(
            [Path(sys.executable).parent / "repertory", "search", query, "-c", catalog, "--json"], check=True, capture_output=True
        )
        taken.append((time.perf_counter() - started) * 1000)
    return min(taken), max(taken)


def _fastmcp(entities: list[Entity]) -> Callable[[str], Awaitable[Any]]:
    from fastmcp.server.transforms.search import BM25SearchTransform
    from fastmcp.tools.base import Tool

    def make(position: int, entity: Entity) -> Any:
        schema = {"type": "object", **entity.details.get("input_schema", {})}
        return Tool(name=f"{entity.name}_{position}", description=entity.description, parameters=schema)

    tools = [make(position, entity) for position, entity in enumerate(entities)]
    transform = BM25SearchTransform(max_results=10)
    return lambda query: transform._search(tools, query)


def _bm25s(entities: list[Entity]) -> Callable[[str], Awaitable[Any]]:
    import bm25s

    index = bm25s.BM25()
    texts = [f"{entity.name} {entity.description}" for entity in entities]
    index.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)

    async def search(query: str) -> Any:
        return index.retrieve(bm25s.tokenize([query], stopwords="en", show_progress=False), k=10, show_progress=False)

    return search


def show(found: list[dict[str, Any]]) -> None:
    """The table, and the ratios that matter."""
    sizes = [one["size"] for one in found]
    print(f"\n{'milliseconds, p50 / p95':<34}" + "".join(f"{f'{size:,} tools':>20}" for size in sizes))
    timed = [name for name in found[0] if isinstance(found[0][name], tuple | list)]
    for name in timed:
        print(f"{name:<34}" + "".join(f"{one[name][0]:>10.2f} /{one[name][1]:>8.2f}" for one in found))
    for name in (
        "index_words_s",
        "index_words_cpu_s",
        "index_vectors_s",
        "index_static_s",
        "index_static_cpu_s",
        "embedded",
        "memory_mb",
        "disk_mb",
    ):
        print(f"{name:<34}" + "".join(f"{one[name]:>20.1f}" for one in found))
    print(f"\n{'ratios':<34}")
    for label, over, under in (
        ("hybrid / embedding the query", "hybrid", "embedding the query"),
        ("FastMCP's transform / our bm25", "FastMCP BM25 transform", "bm25"),
        ("bm25s / our bm25", "bm25s", "bm25"),
    ):
        print(f"{label:<34}" + "".join(f"{one[over][0] / one[under][0]:>19.1f}x" for one in found))


async def _show_static(sizes: list[int], sets: Path) -> None:
    for size in sizes:
        found: dict[str, Any] = {}
        await _measure_static(Path(tempfile.mkdtemp(prefix="repertory-bench-")), documents(size, sets), found)
        print(f"{size:,} tools: {found['index_static_s']:.1f} s by the clock, {found['index_static_cpu_s']:.1f} s of the processor")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--sets", type=Path, default=Path("../shared/bench"))
    parser.add_argument("--static", action="store_true", help="only how long the quick model takes to index")
    parser.add_argument("--save", type=Path, help="also write the figures to this JSON file")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    sizes = [int(size) for size in arguments.sizes.split(",")]
    if arguments.static:
        return asyncio.run(_show_static(sizes, arguments.sets))
    if arguments.alone:
        logging.disable()
        print(json.dumps(asyncio.run(measure(sizes[0], arguments.sets))))
        return
    found = []
    for size in sizes:
        print(f"measuring {size:,} tools ...", file=sys.stderr)
        command = [sys.executable, "-m", "benchmarks.speed", "--alone", "--sizes", str(size), "--sets", str(arguments.sets)]
        found.append(json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[-1]))
    show(found)
    if arguments.save:
        arguments.save.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
