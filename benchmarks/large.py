"""How does one machine bear a million documents?

    python -m benchmarks.large [--sizes 1000,10000,100000,1000000] [--keep DIR] [--save FILE] [--plot FILE]

Synthetic tools on a real vocabulary: names and descriptions are drawn, word by word, from those of the labelled sets, as often as the words
are there. Their vectors are those of real texts under the bundled model, each taken at random and bent at random by a third of its length,
because embedding a million texts would take two hours and say nothing of the engine. One tool in a hundred has the tag `percent`, one in
ten thousand the tag `rare`. Everything else is the product's own path: the tools are put and found by words, their vectors go into the
store, and the index is built anew when the catalog is opened with its model. Vectors are kept small (`index_quantisation = "int8"`). Each
size is built in one process and searched in another, so that memory is what searching takes; queries are real questions, their vectors
remembered, so that what is measured is all of a search but the model. Recall is of names (the exact lane, asked for tools taken at
random) and of the 50 nearest vectors, beside looking at every vector.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import repertory
from benchmarks.speed import documents, queries
from repertory import access
from repertory.embedders.choose import make_embedder
from repertory.indexes.base import EXACT, VECTOR, LaneQuery
from repertory.indexes.encode import exact_names
from repertory.model import Entity, Kind, Principal, SearchRequest, Strategy
from repertory.settings import load as load_settings

BENT = 1 / 3
SAMPLED = 2000  # real texts whose vectors are bent
VECTORS_AT_ONCE = 5000
ASKED = 180
SETTINGS: Mapping[str, Any] = {"answer_cache": 0, "index_quantisation": "int8"}
WAYS: dict[str, SearchRequest] = {
    "bm25": SearchRequest("", strategy=Strategy.BM25),
    "vector": SearchRequest("", strategy=Strategy.EMBEDDING),
    "hybrid": SearchRequest(""),
    "hybrid, 1 % of it": SearchRequest("", tags=frozenset({"percent"})),
    "hybrid, 0.01 % of it": SearchRequest("", tags=frozenset({"rare"})),
}


def synthetic(size: int, real: Sequence[Entity]) -> Iterator[Entity]:
    """Tools of words that are drawn from those of real ones."""
    names = [word for entity in real for word in entity.name.replace("-", "_").split("_") if word]
    told = [word for entity in real for word in entity.description.split()]
    dice = random.Random(17)
    for number in range(size):
        tags = [tag for tag, every in (("percent", 100), ("rare", 10_000)) if number % every == 0]
        name = "_".join(dice.choices(names, k=3))
        description = " ".join(dice.choices(told, k=dice.randint(8, 40)))
        yield Entity(Kind.TOOL, f"server{number // 50}/{name}_{number % 50}", name, description, tags=tuple(tags))


async def _real_vectors(entities: Iterable[Entity]) -> tuple[str, NDArray[np.float32]]:
    embedder = make_embedder(load_settings({})[0])
    assert embedder is not None
    texts = [f"{entity.name}: {entity.description}" for entity in entities]
    return embedder.model, (await embedder.embed_documents(texts)).vectors


def bent(real: NDArray[np.float32], count: int, dice: np.random.Generator) -> NDArray[np.float32]:
    """So many vectors, each a real one taken at random and bent at random."""
    bend = dice.standard_normal((count, real.shape[1])).astype(np.float32)
    bend *= BENT / np.linalg.norm(bend, axis=1, keepdims=True)
    vectors = real[dice.integers(0, len(real), count)] + bend
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


async def _give_vectors(rep: repertory.Repertory, model: str, real: NDArray[np.float32]) -> None:
    """Bent vectors of real texts for whatever has none."""
    dice = np.random.default_rng(23)
    after = 0
    while found := rep._store.pending(model, after, VECTORS_AT_ONCE):
        after = found[-1][0]
        given = {digest: vector for (_, digest, _), vector in zip(found, bent(real, len(found), dice), strict=True)}
        await rep._write(rep._sync.keep_vectors, model, given)
        print(f"{after:,} vectors", file=sys.stderr)


async def build(size: int, sets: Path, catalog: Path) -> dict[str, Any]:
    """Make the catalog, and say how long each step took."""
    found: dict[str, Any] = {"size": size}
    real = documents(10_000, sets)
    model, vectors = await _real_vectors(real[:SAMPLED])
    started = time.perf_counter()
    async with repertory.open(catalog, embedder="none", **SETTINGS) as rep:
        await rep.put("large", synthetic(size, real))
        found["words, s"] = time.perf_counter() - started
        started = time.perf_counter()
        await _give_vectors(rep, model, vectors)
    found["vectors into the store, s"] = time.perf_counter() - started
    started = time.perf_counter()
    async with repertory.open(catalog, **SETTINGS):
        found["index anew with vectors, s"] = time.perf_counter() - started
    found["memory while building, MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found["disk, MB"] = sum(file.stat().st_blocks * 512 for file in catalog.rglob("*")) / 1e6
    return found


async def measure(catalog: Path, sets: Path) -> dict[str, Any]:
    """Milliseconds of every way to search, and what it takes to hold the catalog open."""
    found: dict[str, Any] = {}
    asked = queries(sets)[:ASKED]
    started = time.perf_counter()
    async with repertory.open(catalog, **SETTINGS) as rep:
        found["open, s"] = time.perf_counter() - started
        for query in asked:  # the model, and everything that is remembered
            await rep.search(query)
        for way, request in WAYS.items():
            taken = []
            for query in asked:
                began = time.perf_counter()
                await rep.search(replace(request, query=query))
                taken.append((time.perf_counter() - began) * 1000)
            cuts = statistics.quantiles(taken, n=100)
            found[way] = [statistics.median(taken), cuts[94], cuts[98]]
        found["memory while searching, MB"] = _resident("VmRSS")
        found["of which no file's, MB"] = _resident("RssAnon")
        found["recall of names"] = await _names_found(rep)
        found["recall of 50 nearest"] = await _nearest_found(rep, asked)
        found["upsert to visible, ms"] = await _visible(rep)
    return found


async def _names_found(rep: repertory.Repertory) -> float:
    """The share of tools, taken at random, that the exact lane finds by their whole name."""
    last = sum(rep._sync.snapshot.counts.values())
    taken = random.Random(29).sample(range(1, last + 1), min(ASKED, last))
    sight, found = rep._sync.scope(access.everything_for(Principal())), 0
    for number, fields in rep._store.fields(taken).items():
        (hits,) = rep._engine.index.search([LaneQuery(EXACT, exact_names(fields)[0], ASKED)], sight)
        found += number in {hit.number for hit in hits}
    return found / len(taken)


async def _nearest_found(rep: repertory.Repertory, asked: Sequence[str]) -> float:
    """The share of the 50 nearest vectors that the vector lane finds."""
    assert rep._engine.embedder is not None
    sight, found = rep._sync.scope(access.everything_for(Principal())), 0
    whole = replace(sight, buckets=dict.fromkeys(sight.buckets, 1))  # so small a kind is looked at in full
    for query in asked:
        probe = LaneQuery(VECTOR, (await rep._engine.embedder.embed_query(query)).vectors[0], 50)
        lists = [rep._engine.index.search([probe], scope)[0][:50] for scope in (sight, whole)]
        found += len(set.intersection(*({hit.number for hit in hits} for hits in lists)))
    return found / (50 * len(asked))


async def _visible(rep: repertory.Repertory) -> float:
    """From handing in a changed entry until a search finds it by a word that it has only now; the median of five."""
    taken = []
    for turn in range(5):
        word = f"zyzzyva{turn}"
        began = time.perf_counter()
        await rep.put("late", [Entity(Kind.TOOL, "late/comer", "late_comer", f"Comes late, says {word}.")], embed=False)
        response = await rep.search(SearchRequest(word, strategy=Strategy.BM25))
        taken.append((time.perf_counter() - began) * 1000)
        assert [result.entity.path for result in response.results] == ["late/comer"]
    return statistics.median(taken)


def _resident(what: str) -> float:
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith(what)) / 1024


def show(found: list[dict[str, Any]]) -> None:
    """The table."""
    print(f"{'':34}" + "".join(f"{one['size']:>24,}" for one in found))
    for name in found[0]:
        if name == "size":
            continue
        values = (one.get(name) for one in found)
        print(f"{name:34}" + "".join(f"{_cell(value):>24}" for value in values))


def _cell(value: Any) -> str:
    return " / ".join(f"{one:.1f}" for one in value) if isinstance(value, list) else f"{value:,.1f}"


def plot(found: list[dict[str, Any]], file: Path) -> None:
    """How it grows."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4))
    sizes = [one["size"] for one in found]
    for way in WAYS:
        axes.plot(sizes, [one[way][0] for one in found], marker="o", label=f"{way}, p50")
    axes.plot(sizes, [one["hybrid"][2] for one in found], marker="o", linestyle="--", color="grey", label="hybrid, p99")
    axes.set(xscale="log", yscale="log", xlabel="documents", ylabel="milliseconds without the model")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})


STEPS = ("build", "measure")


def _alone(step: str, size: int, sets: Path, catalog: Path) -> dict[str, Any]:
    """One step in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.large", "--step", step, "--sizes", str(size), "--sets", str(sets), "--keep", str(catalog)]
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[-1])
    return found


def _both(size: int, sets: Path, keep: Path | None) -> dict[str, Any]:
    """Build a catalog, or take what was built before, and search it."""
    with tempfile.TemporaryDirectory(prefix="repertory-large-") as directory:
        catalog = (keep or Path(directory)) / str(size)
        built = catalog.with_suffix(".json")
        if not built.exists():
            built.parent.mkdir(parents=True, exist_ok=True)
            built.write_text(json.dumps(_alone("build", size, sets, catalog)))
        return {**json.loads(built.read_text()), **_alone("measure", size, sets, catalog)}


def main() -> None:
    """Measure every size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--sizes", default="1000,10000,100000,1000000")
    parser.add_argument("--sets", type=Path, default=Path("../shared/bench"))
    parser.add_argument("--keep", type=Path, help="keep the catalogs here, and use those that are there")
    parser.add_argument("--save", type=Path, help="also write the figures to this JSON file")
    parser.add_argument("--plot", type=Path, help="also draw them into this SVG file")
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    sizes = [int(size) for size in chosen.sizes.split(",")]
    if chosen.step:
        logging.disable()
        work = build(sizes[0], chosen.sets, chosen.keep) if chosen.step == "build" else measure(chosen.keep, chosen.sets)
        print(json.dumps(asyncio.run(work)))
        return
    found = []
    for size in sizes:
        found.append(_both(size, chosen.sets, chosen.keep))
        if chosen.save:
            chosen.save.write_text(json.dumps(found, indent=1) + "\n")
    show(found)
    if chosen.plot:
        plot(found, chosen.plot)


if __name__ == "__main__":
    main()
