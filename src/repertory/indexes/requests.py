"""What does one lane query ask of an engine?

The same of every engine, so that they answer alike: which vector, how many, under which conditions, and whether every vector is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Literal, cast

from repertory.embedders.base import Vector
from repertory.indexes.base import EXACT, VECTOR, LaneQuery, Scope, Sparse
from repertory.model import Hit, Kind

SMALL = 50  # A05: a kind with no more documents is covered in full
EXACT_BELOW = 5_000  # documents of a kind; above it HNSW is quicker than looking at every vector: four times at 10,000
EF_CONSTRUCT = 200  # how widely HNSW looks around while it is built: finds .984 of the 50 nearest of 10,000 real vectors; 100 found .975
DENSE = "dense"
KEYWORD_FIELDS = ("bucket", "tags", "names")

Quantisation = Literal["none", "int8", "binary"]
QUANTILE = 0.99  # of the values of a vector that int8 tells apart: the few beyond would make all others coarser
OVERSAMPLING = 2.0  # with quantised vectors: twice as many candidates are looked at again in full


@dataclass(frozen=True, slots=True)
class Request:
    """One query of an engine; what is None is no condition."""

    using: str  # the vector's name, or the lane of exact names
    probe: Sparse | Vector | None
    limit: int
    buckets: tuple[str, ...] | None
    tags: tuple[str, ...]  # which must all be there
    name: str | None = None
    among: frozenset[int] | None = None
    exact: bool | None = None  # None: the engine need not know


Ask = Callable[[Sequence[Request]], Sequence[list[Hit]]]  # for each request


def requests(query: LaneQuery, scope: Scope) -> Iterator[Request]:
    """Usually one. A05: of the vector lane one for each kind, so that a large kind does not hide a small one."""
    tags = tuple(sorted(scope.tags))
    buckets = None if scope.everything else tuple(bucket.key for bucket in scope.buckets)
    if not scope.buckets:
        return
    if query.lane == EXACT:
        yield Request(EXACT, None, query.depth, buckets, tags, name=str(query.probe), among=query.among)
    elif query.lane == VECTOR and query.among is None:
        yield from _by_kind(cast("Vector", query.probe), query.depth, scope, tags)
    elif not isinstance(query.probe, Sparse) or query.probe.indices:  # engines refuse an empty sparse vector
        using, exact = (DENSE, True) if query.lane == VECTOR else (query.lane, None)
        yield Request(using, cast("Sparse | Vector", query.probe), query.depth, buckets, tags, among=query.among, exact=exact)


def _by_kind(probe: Vector, depth: int, scope: Scope, tags: tuple[str, ...]) -> Iterator[Request]:
    keys: dict[Kind, list[str]] = {}
    sizes: dict[Kind, int] = {}
    for bucket, size in scope.buckets.items():
        keys.setdefault(bucket.kind, []).append(bucket.key)
        sizes[bucket.kind] = sizes.get(bucket.kind, 0) + size
    alone = scope.everything and len(keys) == 1
    for kind, size in sizes.items():
        limit = max(depth, size) if size <= SMALL else depth
        yield Request(DENSE, probe, limit, None if alone else tuple(keys[kind]), tags, exact=size <= EXACT_BELOW)


def answer(queries: Sequence[LaneQuery], scope: Scope, ask: Ask) -> list[tuple[Hit, ...]]:
    """All queries in one call of an engine: the hits of each, best first, ties by number."""
    asked = [(owner, request) for owner, query in enumerate(queries) for request in requests(query, scope)]
    found: list[list[Hit]] = [[] for _ in queries]
    answers = ask([request for _, request in asked]) if asked else []
    for (owner, request), hits in zip(asked, answers, strict=True):
        found[owner] += hits if request.name is None else [Hit(hit.number, 1.0) for hit in hits]
    return list(map(_in_order, found))


def _in_order(hits: list[Hit]) -> tuple[Hit, ...]:
    """Best first, ties by number: sorted twice, because neither way of looking at a hit takes a call of ours."""
    hits.sort(key=itemgetter(0))
    hits.sort(key=itemgetter(1), reverse=True)  # which leaves ties as they are
    return tuple(hits)
