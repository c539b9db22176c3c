"""Does the embedded index answer alike, however many segments it is in and however small its vectors are kept?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from repertory.indexes.base import BM25, GRAMS, KEYWORD, VECTOR, LaneQuery, Point, Scope, Sparse
from repertory.indexes.edge import EdgeIndex
from repertory.indexes.requests import Quantisation
from repertory.model import PUBLIC, Bucket, Hit, Kind, Status

TOOLS = Bucket(Kind.TOOL, Status.ACTIVE, True, frozenset({PUBLIC}))
COUNT = 3000
EVERYTHING = Scope({TOOLS: COUNT}, frozenset(), everything=True, documents=COUNT)


def made_up() -> list[Point]:
    dice = np.random.default_rng(5)
    vectors = dice.normal(size=(COUNT, 64)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    points = []
    for number, vector in enumerate(vectors, 1):
        chosen = np.unique(dice.zipf(1.3, size=20) % 5000).tolist()
        sparse = Sparse(chosen, dice.random(len(chosen)).astype(np.float32).tolist())
        points.append(Point(number, TOOLS.key, (), (), sparse, sparse, sparse, vector))
    return points


POINTS = made_up()


@contextmanager
def filled(directory: Path, quantisation: Quantisation = "none") -> Iterator[EdgeIndex]:
    index = EdgeIndex(directory, quantisation=quantisation)
    index.create(64)
    for start in range(0, COUNT, 100):
        index.put(POINTS[start : start + 100])
    index.optimize()
    yield index
    index.close()


def answers(index: EdgeIndex) -> list[tuple[Hit, ...]]:
    asked = [LaneQuery(lane, point.bm25, 50) for point in POINTS[100:110] for lane in (BM25, GRAMS, KEYWORD)]
    asked += [LaneQuery(VECTOR, point.dense, 50) for point in POINTS[100:110] if point.dense is not None]
    return index.search(asked, EVERYTHING)


def assert_alike(expected: list[tuple[Hit, ...]], found: list[tuple[Hit, ...]]) -> None:
    for one, other in zip(expected, found, strict=True):
        assert [hit.number for hit in one] == [hit.number for hit in other]
        assert [hit.score for hit in one] == pytest.approx([hit.score for hit in other], abs=1e-5)


def test_an_index_of_many_segments_answers_as_one_of_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("repertory.indexes.edge.INDEX_ABOVE_KB", 10)
    with filled(tmp_path / "one") as index:
        assert index._open.info().segments_count <= 2  # the second is for what comes next
        expected = answers(index)
    monkeypatch.setattr("repertory.indexes.edge.SEAL_EVERY", 500)
    monkeypatch.setattr("repertory.indexes.edge.SEGMENT_KB", 200)
    with filled(tmp_path / "many") as index:
        assert index._open.info().segments_count >= 4
        found = answers(index)
    assert_alike(expected, found)


@pytest.mark.parametrize("quantisation", ["int8", "binary"])
def test_small_vectors_find_the_same_where_every_vector_is_looked_at(tmp_path: Path, quantisation: Quantisation) -> None:
    with filled(tmp_path / "large") as index:
        expected = answers(index)
    with filled(tmp_path / "small", quantisation) as index:
        assert_alike(expected, answers(index))


def test_small_vectors_lose_little_where_hnsw_ranks_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("repertory.indexes.edge.INDEX_ABOVE_KB", 10)
    with filled(tmp_path / "large") as index:
        expected = answers(index)[30:]
    monkeypatch.setattr("repertory.indexes.requests.EXACT_BELOW", 1000)
    with filled(tmp_path / "small", "int8") as index:
        found = answers(index)[30:]
    agreed = [len({hit.number for hit in one} & {hit.number for hit in other}) for one, other in zip(expected, found, strict=True)]
    assert sum(agreed) >= 0.95 * 50 * len(expected)
    scores = {(turn, hit.number): hit.score for turn, hits in enumerate(expected) for hit in hits}
    kept = [(hit.score, scores[turn, hit.number]) for turn, hits in enumerate(found) for hit in hits if (turn, hit.number) in scores]
    assert all(one == pytest.approx(other, abs=1e-5) for one, other in kept)  # what is shown was looked at in full
