"""Does an index hold what the truth says?

The truth is encoded again, point by point, and held beside what the index has.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from operator import itemgetter

import numpy as np

from repertory.indexes.base import Point
from repertory.indexes.encode import encode
from repertory.indexes.read import read
from repertory.store import DocumentRecord

BATCH = 1000


def encoded(records: Iterable[DocumentRecord], pivot: float) -> Iterator[list[Point]]:
    """Documents as points, many at a time."""
    remaining = iter(records)
    while batch := list(islice(remaining, BATCH)):
        readings = read(record.document.fields for record in batch)
        rows = [(record.number, record.document, reading, record.vector) for record, reading in zip(batch, readings, strict=True)]
        yield encode(rows, pivot)


def differing(expected: Iterable[Point], found: Iterable[Point]) -> Iterator[tuple[Point | None, Point | None]]:
    """What is not the same, as it should be and as it is; None where it is missing. Both come in number order, so neither need be held."""
    yield from (pair for pair in paired(expected, found) if pair[0] is None or pair[1] is None or not same(pair[0], pair[1]))


def paired(expected: Iterable[Point], found: Iterable[Point]) -> Iterator[tuple[Point | None, Point | None]]:
    """What belongs together."""
    merged = heapq.merge(((point.number, True, point) for point in expected), ((point.number, False, point) for point in found))
    for _, group in groupby(merged, key=itemgetter(0)):
        points = {wanted: point for _, wanted, point in group}
        yield points.get(True), points.get(False)


def same(one: Point, other: Point) -> bool:
    """Whether two points are equal, as far as an engine keeps them."""
    if (one.bucket, one.tags, one.names) != (other.bucket, other.tags, other.names):
        return False
    if (one.dense is None) != (other.dense is None):
        return False
    pairs = [(one.bm25, other.bm25), (one.grams, other.grams), (one.keyword, other.keyword)]
    if any(a.indices != b.indices or not np.allclose(a.values, b.values, rtol=1e-5) for a, b in pairs):
        return False
    return one.dense is None or other.dense is None or bool(np.allclose(one.dense, other.dense, atol=1e-5))
