"""What does every index do: the embedded one, a Qdrant server, a Qdrant cluster?"""

from __future__ import annotations

import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from tests.qdrants import Cluster

from repertory.errors import CatalogError
from repertory.indexes.base import BM25, EXACT, FORMAT, GRAMS, KEYWORD, VECTOR, Index, LaneQuery, Point, Scope, Sparse, Standing
from repertory.indexes.edge import EdgeIndex
from repertory.indexes.nodes import Nodes
from repertory.indexes.qdrant import Layout, QdrantIndex
from repertory.model import PUBLIC, Bucket, Kind, Status
from repertory.settings import nodes_of

TOOLS = Bucket(Kind.TOOL, Status.ACTIVE, True, frozenset({PUBLIC}))
DRAFTS = Bucket(Kind.TOOL, Status.DRAFT, True, frozenset({PUBLIC}))
SKILLS = Bucket(Kind.SKILL, Status.ACTIVE, True, frozenset({PUBLIC}))

ONE = Sparse([1], [1.0])

Opener = Callable[[], Index]


LAYOUTS = {"server": Layout(), "cluster": Layout(shards=3, replicas=2)}


@pytest.fixture(params=["edge", "server", pytest.param("cluster", marks=pytest.mark.cluster)])
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Opener:
    if request.param == "edge":
        return lambda: EdgeIndex(tmp_path)
    started: Cluster = request.getfixturevalue(request.param)
    name = f"repertory-{uuid.uuid4().hex}"

    def frequencies(lane: str, wanted: Sequence[int]) -> Mapping[int, int]:
        """As the store counts them; here there is none."""
        counted = Counter(dimension for one in opened[-1].points() for dimension in getattr(one, lane).indices)
        return {dimension: counted[dimension] for dimension in wanted}

    opened: list[QdrantIndex] = []

    def open_index() -> Index:
        counts = {lane: partial(frequencies, lane) for lane in (BM25, GRAMS)}
        opened.append(QdrantIndex(Nodes(nodes_of(started.address)), name, f"{name}-index", counts, layout=LAYOUTS[request.param]))
        return opened[-1]

    return open_index


@pytest.fixture
def index(opener: Opener) -> Iterator[Index]:
    made = opener()
    made.create(3)
    made.put(
        [point(1, TOOLS, [1, 0, 0], {10: 2.0}), point(2, DRAFTS, [0.9, 0.1, 0], {10: 1.0}), point(3, SKILLS, [0, 1, 0], {10: 1.0, 11: 1.0})]
    )
    yield made
    made.close()


def point(number: int, bucket: Bucket, dense: list[float] | None, words: dict[int, float], **more: tuple[str, ...]) -> Point:
    sparse = Sparse(list(words), list(words.values()))
    vector = np.array(dense, np.float32) / np.linalg.norm(dense) if dense else None
    return Point(number, bucket.key, more.get("tags", ()), more.get("names", ()), sparse, sparse, sparse, vector)


def scope(*buckets: Bucket, tags: frozenset[str] = frozenset(), everything: bool = False) -> Scope:
    return Scope(dict.fromkeys(buckets, 1), tags, everything, len(buckets))


EVERYTHING = scope(TOOLS, DRAFTS, SKILLS, everything=True)


def numbers(index: Index, lane: str, probe: object, where: Scope = EVERYTHING, **more: object) -> list[int]:
    (hits,) = index.search([LaneQuery(lane, probe, 10, **more)], where)  # type: ignore[arg-type]
    return [hit.number for hit in hits]


def test_sparse_lanes_rank_by_dot_product_and_number(index: Index) -> None:
    (hits,) = index.search([LaneQuery(KEYWORD, Sparse([10, 11], [0.5, 0.5]), 10)], EVERYTHING)
    assert [(hit.number, round(hit.score, 5)) for hit in hits] == [(1, 1.0), (3, 1.0), (2, 0.5)]


def test_bm25_counts_rare_dimensions_for_more(index: Index) -> None:
    assert numbers(index, BM25, Sparse([10, 11], [1.0, 1.0]))[0] == 3


def test_the_vector_lane_ranks_by_cosine(index: Index) -> None:
    assert numbers(index, VECTOR, np.array([1, 0, 0], np.float32)) == [1, 2, 3]


def test_a_vector_comes_to_a_point_that_keeps_everything_else(index: Index) -> None:
    later = point(4, TOOLS, None, {10: 3.0}, tags=("late",), names=("four",))
    index.put([later])
    assert index.count(with_vector=True) == 3
    index.put_vectors({4: np.array([0, 0, 1], np.float32), 1: np.array([0, 1, 0], np.float32)})
    assert index.count(with_vector=True) == 4
    assert numbers(index, VECTOR, np.array([0, 0, 1], np.float32))[0] == 4
    assert numbers(index, VECTOR, np.array([1, 0, 0], np.float32))[0] == 2  # the first one has moved
    kept = {one.number: one for one in index.points()}[4]
    assert (kept.bm25, kept.bucket, kept.tags, kept.names) == (later.bm25, later.bucket, later.tags, later.names)
    index.put_vectors({})


def test_a_scope_limits_every_lane(index: Index) -> None:
    for lane, probe in ((KEYWORD, Sparse([10], [1.0])), (BM25, Sparse([10], [1.0])), (VECTOR, np.array([1, 0, 0], np.float32))):
        assert sorted(numbers(index, lane, probe, scope(TOOLS, SKILLS))) == [1, 3]
        assert numbers(index, lane, probe, scope()) == []


def test_tags_must_all_be_there(index: Index) -> None:
    index.put([point(4, TOOLS, [1, 0, 0], {10: 1.0}, tags=("a", "b")), point(5, TOOLS, [1, 0, 0], {10: 1.0}, tags=("a",))])
    assert numbers(index, KEYWORD, Sparse([10], [1.0]), scope(TOOLS, tags=frozenset({"a", "b"}))) == [4]
    assert numbers(index, VECTOR, np.array([1, 0, 0], np.float32), scope(TOOLS, tags=frozenset({"a"}))) == [4, 5]


def test_exact_names(index: Index) -> None:
    index.put([point(4, TOOLS, None, {10: 1.0}, names=("readfile", "diskreadfile"))])
    assert numbers(index, EXACT, "diskreadfile") == [4]
    assert numbers(index, EXACT, "disk") == []
    assert numbers(index, EXACT, "readfile", scope(SKILLS)) == []


def test_scores_can_be_asked_for_some_documents_only(index: Index) -> None:
    assert numbers(index, VECTOR, np.array([1, 0, 0], np.float32), among=frozenset({2, 3, 99})) == [2, 3]
    assert numbers(index, KEYWORD, Sparse([11], [1.0]), among=frozenset({1, 3})) == [3]


def test_points_without_a_vector_are_found_by_words(index: Index) -> None:
    index.put([point(4, TOOLS, None, {12: 1.0})])
    assert numbers(index, BM25, Sparse([12], [1.0])) == [4]
    assert 4 not in numbers(index, VECTOR, np.array([1, 0, 0], np.float32))


def test_an_empty_probe_finds_nothing(index: Index) -> None:
    assert numbers(index, BM25, Sparse([], [])) == []


def test_putting_again_replaces_and_removing_forgets(index: Index) -> None:
    index.put([point(1, TOOLS, [0, 0, 1], {12: 1.0})])
    assert 1 not in numbers(index, KEYWORD, Sparse([10], [1.0]))
    index.remove([1, 99])
    assert numbers(index, KEYWORD, Sparse([12], [1.0])) == []
    assert [found.number for found in index.points()] == [2, 3]
    assert index.count() == 2


def test_points_come_back_as_they_were_put(index: Index) -> None:
    put = point(7, DRAFTS, [1, 2, 2], {5: 1.5, 4_000_000_000: 0.25}, tags=("a",), names=("x", "y"))
    index.put([put])
    found = {one.number: one for one in index.points()}[7]
    assert (found.bucket, found.tags, found.names, found.bm25, found.keyword) == (put.bucket, put.tags, put.names, put.bm25, put.keyword)
    assert found.dense == pytest.approx(put.dense)


def test_what_was_checkpointed_is_there_after_opening_again(opener: Opener, index: Index) -> None:
    standing = Standing(FORMAT, 42, "some-model", 3, 16.0)
    index.checkpoint(standing)
    index.close()
    again = opener()
    assert again.standing() == standing
    assert again.count() == 3
    again.close()


def test_a_new_index_has_no_standing_and_a_closed_one_says_so(opener: Opener, index: Index) -> None:
    assert index.standing() is None
    index.close()
    with pytest.raises(CatalogError, match="closed"):
        index.count()


def test_large_kinds_are_ranked_by_hnsw_nearly_exactly(opener: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("repertory.indexes.requests.EXACT_BELOW", 1000)
    for engine in ("edge", "qdrant"):
        monkeypatch.setattr(f"repertory.indexes.{engine}.INDEX_ABOVE_KB", 10)
    dice = np.random.default_rng(5)
    vectors = dice.normal(size=(3000, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    made = opener()
    made.create(16)
    made.put([Point(n, TOOLS.key, (), (), ONE, ONE, ONE, vector) for n, vector in enumerate(vectors, 1)])
    made.optimize()
    if isinstance(made, QdrantIndex):
        _wait_for_hnsw(made, 2700)
    agreed = 0
    for query in vectors[:20]:
        (hits,) = made.search([LaneQuery(VECTOR, query, 50)], Scope({TOOLS: 3000}, frozenset(), everything=True, documents=3000))
        exact = set((np.argsort(-(vectors @ query))[:50] + 1).tolist())
        agreed += len(exact & {hit.number for hit in hits})
    assert agreed >= 0.98 * 20 * 50
    made.close()


def _wait_for_hnsw(index: QdrantIndex, vectors: int) -> None:
    """A server builds it behind the requests; the last segment is too small for one."""
    until = time.monotonic() + 30
    while True:
        seen = index._ask(lambda client: client.get_collection(index._writing))
        if seen.status == "green" and (seen.indexed_vectors_count or 0) >= vectors:
            return
        assert time.monotonic() < until, seen
        time.sleep(0.1)


def test_removed_points_stop_counting_when_the_index_is_optimized(index: Index) -> None:
    def score() -> float:
        (hits,) = index.search([LaneQuery(BM25, Sparse([11], [1.0]), 10)], EVERYTHING)
        return hits[0].score

    before = score()
    index.put([point(number, TOOLS, None, {10: 1.0}) for number in range(100, 200)])
    index.remove(list(range(100, 200)))
    index.optimize()
    assert score() == pytest.approx(before)


def test_points_with_a_vector_are_counted(index: Index) -> None:
    index.put([point(4, TOOLS, None, {12: 1.0})])
    assert (index.count(), index.count(with_vector=True)) == (4, 3)


def test_what_is_built_anew_answers_from_its_checkpoint_on(opener: Opener, index: Index) -> None:
    index.checkpoint(Standing(FORMAT, 1, "some-model", 3, 16.0))
    index.create(3)
    index.put([point(9, TOOLS, [1, 0, 0], {10: 1.0})])
    if isinstance(index, QdrantIndex):
        assert sorted(numbers(index, KEYWORD, Sparse([10], [1.0]))) == [1, 2, 3]  # nobody searches half an index
    again = opener()
    if isinstance(again, QdrantIndex):
        assert again.standing() == Standing(FORMAT, 1, "some-model", 3, 16.0)  # killed here, nothing has happened
        again.close()
    index.checkpoint(Standing(FORMAT, 2, "some-model", 3, 16.0))
    assert numbers(index, KEYWORD, Sparse([10], [1.0])) == [9]
    if isinstance(index, QdrantIndex):
        assert len(index._ask(index._numbers)) == 1  # the one before is gone


def test_what_is_discarded_is_gone(opener: Opener, index: Index) -> None:
    index.checkpoint(Standing(FORMAT, 1, "some-model", 3, 16.0))
    index.discard()
    index.close()
    again = opener()
    assert again.standing() is None
    again.close()
