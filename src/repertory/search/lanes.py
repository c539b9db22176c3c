"""What does each lane find?

All lexical lanes run together while the query is being embedded; the vector lane follows. Where the plan fuses scores rather than ranks,
every candidate is then scored in every lane, also one that only one lane brought (D01).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from repertory.embedders.base import Embedder, Vector
from repertory.errors import EmbedderError, VectorsUnavailable
from repertory.indexes.base import BM25, EXACT, KEYWORD, VECTOR, Index, LaneQuery, Scope, Sparse
from repertory.indexes.encode import bm25_probe, keyword_probe
from repertory.model import Hit, Ranking, Strategy
from repertory.offload import offload
from repertory.search import pattern
from repertory.search.plan import REGEX, SearchPlan
from repertory.store import Store
from repertory.text.query import Query

PROBES = {BM25: bm25_probe, KEYWORD: keyword_probe}
EXACT_DEPTH = 10  # names are rarely shared by more


@dataclass(frozen=True, slots=True)
class Found:
    """What the lanes brought, and by which plan they ran in the end."""

    plan: SearchPlan
    rankings: tuple[Ranking, ...]
    scores: Mapping[str, Mapping[int, float]]  # by lane, for every candidate the lane could score
    exact: frozenset[int]  # found by their own name


async def run(plan: SearchPlan, query: Query, scope: Scope, index: Index, store: Store, embedder: Embedder | None) -> Found:
    """Run the lanes of a plan; without a query vector, those of the lexical plan that stands in for it."""
    if REGEX in plan.lanes:
        hits, named = await offload(pattern.scan, store, query.text, plan.filter, plan.depth)
        return Found(plan, (Ranking(REGEX, hits),), {REGEX: dict(hits)}, named)
    if VECTOR not in plan.lanes:
        return await offload(_search, plan, query, scope, index, {}, None)
    lexical, vector = await asyncio.gather(
        offload(index.search, _lexical_queries(plan, query), scope),
        _embed(embedder, query.text),
    )
    if isinstance(vector, str):
        if plan.strategy is Strategy.EMBEDDING:
            raise VectorsUnavailable(f"This search needs vectors: {vector} Use another strategy, such as bm25, or try again later.")
        return await offload(_search, plan.without_vector(vector), query, scope, index, {}, None)
    lanes = [asked.lane for asked in _lexical_queries(plan, query)]
    return await offload(_search, plan, query, scope, index, dict(zip(lanes, lexical, strict=True)), vector)


async def _embed(embedder: Embedder | None, text: str) -> Vector | str:
    """The query's vector, or why there is none."""
    if embedder is None:
        return "no embedding model is configured."
    try:
        vector: Vector = (await embedder.embed_query(text)).vectors[0]
        return vector
    except EmbedderError as error:
        return str(error)


def _lexical_queries(plan: SearchPlan, query: Query) -> list[LaneQuery]:
    queries = [LaneQuery(lane, _probe(lane, query, None), plan.depth) for lane in plan.lanes if lane != VECTOR]
    if query.name:
        queries.append(LaneQuery(EXACT, query.name, EXACT_DEPTH))
    return queries


def _search(
    plan: SearchPlan,
    query: Query,
    scope: Scope,
    index: Index,
    found: Mapping[str, tuple[Hit, ...]],
    vector: Vector | None,
) -> Found:
    """The lanes that have not run yet, then the scores that are missing."""
    waiting = [asked for asked in _lexical_queries(plan, query) if asked.lane not in found]
    if vector is not None:
        waiting.append(LaneQuery(VECTOR, vector, plan.depth))
    hits = {
        **found,
        **dict(zip((q.lane for q in waiting), index.search(waiting, scope) if waiting else [], strict=True)),
    }
    exact = frozenset(number for number, _ in hits.pop(EXACT, ()))
    if exact:  # an exact name is an answer even where no lane had it among its best
        waiting = [LaneQuery(lane, _probe(lane, query, vector), len(exact), exact) for lane in hits]
        for asked, extra in zip(waiting, index.search(waiting, scope), strict=True):
            hits[asked.lane] = _merged(hits[asked.lane], extra)
    scores = {lane: dict(ranking) for lane, ranking in hits.items()}
    if plan.fill:
        _fill(scores, query, vector, scope, index)
    return Found(plan, tuple(Ranking(lane, ranking) for lane, ranking in hits.items()), scores, exact)


def _fill(scores: dict[str, dict[int, float]], query: Query, vector: Vector | None, scope: Scope, index: Index) -> None:
    every = frozenset(number for lane in scores.values() for number in lane)
    asked = []
    for lane, known in scores.items():
        missing = every - known.keys()
        if missing:
            asked.append(LaneQuery(lane, _probe(lane, query, vector), len(missing), missing))
    for lane_query, hits in zip(asked, index.search(asked, scope) if asked else [], strict=True):
        scores[lane_query.lane].update(hits)


def _probe(lane: str, query: Query, vector: Vector | None) -> Sparse | Vector:
    if lane == VECTOR and vector is not None:
        return vector
    return PROBES[lane](query.words)


def _merged(hits: Iterable[Hit], extra: Iterable[Hit]) -> tuple[Hit, ...]:
    return tuple(sorted({*hits, *extra}, key=lambda hit: (-hit.score, hit.number)))
