"""How does a search of 100,000 documents stand beside what others use?

    pip install -e '.[peers]' && python -m benchmarks.peers SET [--size 100000]

One labelled set among tools of drawn words (see `large`), the same documents, vectors and questions for everybody, one run, in which they
take turns: a machine is not equally fast at all times. Query vectors are given to all: what is measured is everything of a search but the
model. Each peer is asked as its own documentation does it: LanceDB's hybrid query (full text and vector, fused by rank), txtai's (BM25 and
Faiss, fused by score), SQLite's FTS5 with sqlite-vec (fused by rank), Chroma (vectors alone: it has no other lane), and FastMCP's BM25
search transform. Recall is of the labelled answers among the first ten.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import itertools
import os
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import repertory
from benchmarks.large import VECTORS_AT_ONCE, bent, synthetic
from repertory.embedders.base import Embedder
from repertory.embedders.choose import make_embedder
from repertory.evaluate.sets import LabelledQuery, LabelledSet, load
from repertory.ingest.project import project
from repertory.model import Entity, SearchRequest, Strategy
from repertory.settings import load as load_settings

FIRST = 10
DEEP = 50  # that each lane of a peer brings to its fusion
RRF = 60
ASKED = 150
FEW = 15  # questions for a peer that takes a second each
TURNS = 5

Search = Callable[[LabelledQuery, NDArray[np.float32]], Awaitable[list[str]]]  # the best entries, by path


@dataclass(frozen=True, slots=True)
class Corpus:
    """What everybody searches."""

    entities: Sequence[Entity]
    texts: Sequence[str]
    vectors: NDArray[np.float32]
    model: str
    asked: Sequence[LabelledQuery]
    probes: NDArray[np.float32]  # their vectors

    @property
    def paths(self) -> list[str]:
        """What answers are told by."""
        return [entity.path for entity in self.entities]


async def corpus(labelled: LabelledSet, size: int, embedder: Embedder) -> Corpus:
    """The labelled entries with their own vectors, and others with bent ones."""
    real = labelled.entities
    entities = [*real, *itertools.islice(synthetic(size, real), max(0, size - len(real)))]
    texts = [project(entity)[0].text for entity in entities]
    own = np.concatenate(
        [(await embedder.embed_documents(texts[at : at + 500])).vectors for at in range(0, len(real), 500)], dtype=np.float32
    )[: len(real)]
    others = bent(own, len(entities) - len(real), np.random.default_rng(23))
    asked = [query for query in labelled.queries if query.grades][:ASKED]
    probes = np.array([(await embedder.embed_query(query.text)).vectors[0] for query in asked], np.float32)
    return Corpus(entities, texts, np.concatenate([own, others]), embedder.model, asked, probes)


async def ours(held: Corpus, directory: Path, stack: Any, strategy: Strategy | None = None) -> Search:
    """Repertory, as it comes."""
    vectors = dict(zip((project(entity)[0].digest for entity in held.entities), held.vectors, strict=True))
    async with repertory.open(directory, embedder="none") as rep:
        await rep.put("peers", held.entities)
        for chunk in _batched(vectors.items()):
            await rep._write(rep._sync.keep_vectors, held.model, dict(chunk))
    async with repertory.open(directory):
        pass  # the index is built with vectors here
    rep = await stack.enter_async_context(repertory.open(directory, answer_cache=0))

    async def search(query: LabelledQuery, _: NDArray[np.float32]) -> list[str]:
        response = await rep.search(SearchRequest(query.text, strategy=strategy, limit=FIRST))
        return [result.entity.path for result in response.results]

    return search


def _batched(items: Iterable[Any]) -> Iterable[list[Any]]:
    remaining = iter(items)
    while batch := list(itertools.islice(remaining, VECTORS_AT_ONCE)):
        yield batch


async def lancedb(held: Corpus, directory: Path, _: Any) -> Search:
    """LanceDB: full text and IVF_HNSW_SQ, its own hybrid query with its own RRF."""
    import lancedb as lance
    from lancedb.index import FTS, HnswSq
    from lancedb.rerankers import RRFReranker

    database = await lance.connect_async(directory)
    rows = [{"path": path, "text": text, "vector": vector} for path, text, vector in zip(held.paths, held.texts, held.vectors, strict=True)]
    table = await database.create_table("tools", rows)
    await table.create_index("text", config=FTS())
    await table.create_index("vector", config=HnswSq(distance_type="cosine"))
    reranker = RRFReranker()

    async def search(query: LabelledQuery, vector: NDArray[np.float32]) -> list[str]:
        asked = table.query().nearest_to(vector).nearest_to_text(query.text).rerank(reranker).limit(FIRST).select(["path"])
        return [row["path"] for row in await asked.to_list()]

    return search


async def txtai(held: Corpus, _directory: Path, _: Any) -> Search:
    """txtai: its BM25 and Faiss, its own hybrid query."""
    from txtai import Embeddings

    known = dict(zip(held.texts, held.vectors, strict=True)) | {
        query.text: probe for query, probe in zip(held.asked, held.probes, strict=True)
    }
    embeddings = Embeddings(method="external", transform=lambda texts: np.array([known[text] for text in texts]), hybrid=True)
    embeddings.index((number, text, None) for number, text in enumerate(held.texts))
    paths = held.paths

    async def search(query: LabelledQuery, _: NDArray[np.float32]) -> list[str]:
        return [paths[number] for number, _score in embeddings.search(query.text, FIRST)]

    return search


async def sqlite(held: Corpus, directory: Path, _: Any) -> Search:
    """SQLite: FTS5's bm25 and sqlite-vec's exact search, fused by rank."""
    import apsw
    import sqlite_vec

    connection = apsw.Connection(str(directory))
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    connection.execute("CREATE VIRTUAL TABLE words USING fts5(text, tokenize='porter unicode61')")
    connection.execute(f"CREATE VIRTUAL TABLE vectors USING vec0(vector float[{held.vectors.shape[1]}] distance_metric=cosine)")
    with connection:
        connection.executemany("INSERT INTO words(rowid, text) VALUES (?, ?)", enumerate(held.texts))
        connection.executemany("INSERT INTO vectors(rowid, vector) VALUES (?, ?)", ((n, v.tobytes()) for n, v in enumerate(held.vectors)))
    paths = held.paths

    async def search(query: LabelledQuery, vector: NDArray[np.float32]) -> list[str]:
        words = " OR ".join(f'"{word}"' for word in "".join(c if c.isalnum() else " " for c in query.text).split())
        lexical = connection.execute("SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?", (words, DEEP))
        near = connection.execute("SELECT rowid FROM vectors WHERE vector MATCH ? AND k = ?", (vector.tobytes(), DEEP))
        scores: dict[int, float] = {}
        for found in (lexical, near):
            for rank, (number,) in enumerate(found, 1):
                scores[number] = scores.get(number, 0.0) + 1 / (RRF + rank)
        return [paths[number] for number in sorted(scores, key=lambda number: -scores[number])[:FIRST]]

    return search


async def chroma(held: Corpus, directory: Path, _: Any) -> Search:
    """Chroma: HNSW over the same vectors."""
    import chromadb

    client = chromadb.PersistentClient(str(directory), settings=chromadb.Settings(anonymized_telemetry=False))
    collection = client.create_collection("tools", configuration={"hnsw": {"space": "cosine", "ef_search": 128}})
    for at in range(0, len(held.texts), VECTORS_AT_ONCE):
        portion = slice(at, at + VECTORS_AT_ONCE)
        collection.add(ids=held.paths[portion], embeddings=held.vectors[portion], documents=list(held.texts[portion]))

    async def search(_: LabelledQuery, vector: NDArray[np.float32]) -> list[str]:
        return list(collection.query(query_embeddings=[vector], n_results=FIRST, include=[])["ids"][0])

    return search


async def fastmcp(held: Corpus, _directory: Path, _: Any) -> Search:
    """FastMCP's BM25 search transform."""
    from fastmcp.server.transforms.search import BM25SearchTransform
    from fastmcp.tools.base import Tool

    known = {f"{entity.name}_{number}": entity.path for number, entity in enumerate(held.entities)}  # a name may hold no slash
    described = zip(known, held.entities, strict=True)
    tools = [Tool(name=name, description=entity.description, parameters={"type": "object"}) for name, entity in described]
    transform = BM25SearchTransform(max_results=FIRST)

    async def search(query: LabelledQuery, _: NDArray[np.float32]) -> list[str]:
        return [known[tool.name] for tool in await transform._search(tools, query.text)]

    return search


PEERS: dict[str, tuple[Callable[[Corpus, Path, Any], Awaitable[Search]], int]] = {
    "Repertory, hybrid": (ours, ASKED),
    "LanceDB, hybrid": (lancedb, ASKED),
    "txtai, hybrid": (txtai, ASKED),
    "SQLite FTS5 + sqlite-vec": (sqlite, ASKED),
    "Repertory, vectors": (partial(ours, strategy=Strategy.EMBEDDING), ASKED),
    "Chroma, vectors": (chroma, ASKED),
    "FastMCP BM25": (fastmcp, FEW),
}


@dataclass(frozen=True, slots=True)
class Contestant:
    """One system that holds the corpus, and what was seen of it."""

    name: str
    search: Search
    count: int  # questions a turn
    built: float  # in seconds
    taken: list[float] = field(default_factory=list)  # milliseconds
    recalls: list[float] = field(default_factory=list)

    async def take_turn(self, held: Corpus) -> None:
        """Answer the questions."""
        for query, probe in itertools.islice(zip(held.asked, held.probes, strict=True), self.count):
            began = time.perf_counter()
            found = await self.search(query, probe)
            self.taken.append((time.perf_counter() - began) * 1000)
            self.recalls.append(len(set(found[:FIRST]) & query.grades.keys()) / min(FIRST, len(query.grades)))

    def forget(self) -> None:
        """The first turn only warms up: what is remembered is remembered."""
        self.taken.clear()
        self.recalls.clear()


async def measure(folder: Path, size: int, chosen: Sequence[str]) -> None:
    """Print a row for every system."""
    embedder = make_embedder(load_settings({})[0])
    assert embedder is not None
    labelled = load(folder)
    held = await corpus(labelled, size, embedder)
    print(
        f"{len(held.entities):,} documents, {len(held.asked)} questions of {labelled.name}, {TURNS} turns; {os.cpu_count()} cores",
        flush=True,
    )
    async with AsyncExitStack() as stack:
        contestants = []
        for name in chosen:
            make, count = PEERS[name]
            directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="repertory-peers-", ignore_cleanup_errors=True)))
            started = time.perf_counter()
            search = await make(held, directory / "data", stack)
            contestants.append(Contestant(name, search, count, time.perf_counter() - started))
        gc.collect()
        gc.freeze()  # the documents that we hold here are nobody's garbage
        for contestant in contestants:
            await contestant.take_turn(held)
            contestant.forget()
        for contestant in contestants * TURNS:
            await contestant.take_turn(held)
        best = statistics.median(contestants[0].taken)
        print(f"{'':28}{'built, s':>10}{'p50 ms':>9}{'p95 ms':>9}{'recall@10':>11}{'times the first':>17}")
        for one in contestants:
            median, p95 = statistics.median(one.taken), statistics.quantiles(one.taken, n=20)[-1]
            print(f"{one.name:28}{one.built:10.1f}{median:9.2f}{p95:9.2f}{statistics.mean(one.recalls):11.3f}{median / best:17.2f}")


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("set", type=Path)
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--only", choices=PEERS, action="append")
    chosen = parser.parse_args()
    asyncio.run(measure(chosen.set, chosen.size, chosen.only or list(PEERS)))


if __name__ == "__main__":
    main()
