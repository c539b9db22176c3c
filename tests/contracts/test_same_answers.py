"""Does a catalog answer alike, whatever its index is?

One catalog of our labelled examples, searched in the embedded index, on one server, in three shards, on a cluster of three nodes; and on
those with its truth in a PostgreSQL.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
import pytest_asyncio
from tests.conftest import ROOT, copied
from tests.postgres import moved
from tests.qdrants import Cluster

import repertory
from repertory.app import Repertory
from repertory.evaluate.sets import LabelledSet, load
from repertory.indexes.base import BM25, GRAMS, KEYWORD, VECTOR, LaneQuery
from repertory.indexes.encode import bm25_probe, grams_probe, keyword_probe
from repertory.model import Filter, Hit, Kind, SearchRequest, Strategy
from repertory.text.query import understand

pytestmark = pytest.mark.asyncio(loop_scope="module")

DEPTH = 50
ENTRIES = 150  # of each set: embedding more of them takes longer than asking
LABELLED = [load(ROOT / "examples" / "labelled" / name) for name in ("company", "harbor")]
FILTERS = [Filter(), Filter(kinds=frozenset({Kind.TOOL})), Filter(kinds=frozenset({Kind.SKILL, Kind.A2A_AGENT}))]
ON_THREE_NODES = {"index_shards": 3, "index_replicas": 2}
SPREAD: dict[str, dict[str, int]] = {
    "server": {},
    "shards": {"index_shards": 3},
    "cluster": ON_THREE_NODES,
    "cluster-postgres": ON_THREE_NODES,
}


WAYS = ["server", "shards", *(pytest.param(way, marks=pytest.mark.cluster) for way in ("cluster", "cluster-postgres"))]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("same") / "embedded"

    async def build() -> None:
        async with repertory.open(directory) as rep:
            for labelled in LABELLED:
                await rep.put(labelled.name, labelled.entities[:: max(1, len(labelled.entities) // ENTRIES)])

    asyncio.run(build())
    return directory


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def embedded(built: Path) -> AsyncIterator[Repertory]:
    async with repertory.open(built, answer_cache=0) as rep:
        yield rep


@pytest_asyncio.fixture(
    scope="module",
    loop_scope="module",
    params=WAYS,
)
async def other(request: pytest.FixtureRequest, built: Path) -> AsyncIterator[Repertory]:
    started: Cluster = request.getfixturevalue("cluster" if SPREAD[request.param] is ON_THREE_NODES else "server")
    copy = copied(built, built.with_name(request.param))
    database = None
    if request.param == "cluster-postgres":
        database = request.getfixturevalue("postgres_server").database()
        moved(copy, database)
    async with repertory.open(copy, index=started.address, database=database, answer_cache=0, **SPREAD[request.param]) as rep:
        yield rep
        await asyncio.to_thread(rep._engine.index.discard)


async def test_every_record_is_the_same(embedded: Repertory, other: Repertory) -> None:
    for seen in FILTERS:
        ours = await embedded.entries(seen, limit=10_000)
        assert ours[1] > 0
        assert await other.entries(seen, limit=10_000) == ours


async def test_every_lane_gives_the_same_scores(embedded: Repertory, other: Repertory) -> None:
    assert await other.check() == []
    for text in _queries(LABELLED):
        query = understand(text, embedded._sync.snapshot.short_names)
        assert embedded._engine.embedder is not None
        vector = (await embedded._engine.embedder.embed_query(text)).vectors[0]
        asked = [
            LaneQuery(BM25, bm25_probe(query.words), DEPTH),
            LaneQuery(GRAMS, grams_probe(query.words), DEPTH),
            LaneQuery(KEYWORD, keyword_probe(query.words), DEPTH),
            LaneQuery(VECTOR, vector, DEPTH),
        ]
        for seen in FILTERS:
            here = embedded._engine.index.search(asked, embedded._sync.scope(seen))
            there = other._engine.index.search(asked, other._sync.scope(seen))
            for one, ours, theirs in zip(asked, here, there, strict=True):
                _assert_same(ours, theirs, f"{one.lane} of {text!r}")


async def test_every_strategy_gives_the_same_results(embedded: Repertory, other: Repertory) -> None:
    for text in _queries(LABELLED)[::4]:
        for strategy in (Strategy.BM25, Strategy.KEYWORD, Strategy.REGEX, Strategy.EMBEDDING):
            request = SearchRequest(text.split()[-1] if strategy is Strategy.REGEX else text, strategy=strategy, limit=10)
            ours, theirs = await embedded.search(request), await other.search(request)
            assert [result.score for result in theirs.results] == pytest.approx([result.score for result in ours.results], abs=1e-4)
            assert len(_ids(ours) & _ids(theirs)) >= len(ours.results) - 1, (strategy, text)  # one may share its score with the next


async def test_fused_answers_are_the_same(embedded: Repertory, other: Repertory) -> None:
    shared, wanted, first = 0, 0, 0
    queries = _queries(LABELLED)
    for text in queries:
        ours, theirs = await embedded.search(SearchRequest(text, limit=10)), await other.search(SearchRequest(text, limit=10))
        shared += len(_ids(ours) & _ids(theirs))
        wanted += len(ours.results)
        first += [result.entity.id for result in ours.results[:1]] == [result.entity.id for result in theirs.results[:1]]
        assert ours.abstained == theirs.abstained
    assert shared >= 0.97 * wanted
    assert first == len(queries)


def _queries(sets: Sequence[LabelledSet]) -> list[str]:
    return [query.text for labelled in sets for query in labelled.queries]


def _ids(response: repertory.SearchResponse) -> set[str]:
    return {result.entity.id for result in response.results}


def _assert_same(ours: Sequence[Hit], theirs: Sequence[Hit], what: str) -> None:
    """The same scores in the same order. Which of several with the very last score are among them, no engine promises."""
    assert [hit.score for hit in theirs] == pytest.approx([hit.score for hit in ours], abs=1e-5, rel=1e-5), what
    last = min((hit.score for hit in ours), default=0.0) + 1e-5
    found = {hit.number: hit.score for hit in theirs}
    for hit in ours:
        if hit.score > last or len(ours) < DEPTH:
            assert found[hit.number] == pytest.approx(hit.score, abs=1e-5, rel=1e-5), what
