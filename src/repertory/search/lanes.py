"""What does each lane find?

All lexical lanes run together while the query is being embedded; the vector lane follows. Where the plan fuses scores rather than ranks,
every candidate is then scored in every lane, also one that only one lane brought (D01).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from repertory.embedders.base import Embedder, Vector
from repertory.errors import EmbedderError, VectorsUnavailable
from repertory.indexes.base import BM25, EXACT, GRAMS, KEYWORD, VECTOR, Index, LaneQuery, Scope, Sparse
from repertory.indexes.encode import bm25_probe, grams_probe, keyword_probe
from repertory.model import Hit, Ranking, Strategy
from repertory.offload import offload
from repertory.search import pattern
from repertory.search.adapt import known_share
from repertory.search.plan import REGEX, SearchPlan
from repertory.store import Store
from repertory.text.query import Query

PROBES = {BM25: bm25_probe, GRAMS: grams_probe, KEYWORD: keyword_probe}
Vocabulary = Callable[[Sequence[int]], list[int]]  # how many documents have each of these terms
EXACT_DEPTH = 200  # the sections of a file share its name


@dataclass(frozen=True, slots=True)
class Found:
    """What the lanes brought, and by which plan they ran in the end."""

    plan: SearchPlan
    rankings: tuple[Ranking, ...]
    scores: Mapping[str, Mapping[int, float]]  # by lane, for every candidate the lane could score
    exact: frozenset[int]  # found by their own name
    known: float = 0.0  # the share of the query's words that the catalog knows (see `adapt`)


@dataclass(frozen=True, slots=True)
class Head:
    """What could be done while the query was being embedded, and its vector."""

    plan: SearchPlan
    hits: Mapping[str, tuple[Hit, ...]]
    vector: Vector | None
    scores: Mapping[str, Mapping[int, float]] = field(default_factory=dict)  # beyond the hits: of documents that another lane brought
    known: float = 0.0


async def start(
    plan: SearchPlan, query: Query, scope: Scope, index: Index, vocabulary: Vocabulary, embedder: Embedder | None, bare: bool
) -> Head:
    """Embed the query if the plan wants a vector, and run the lexical lanes meanwhile. Without one, the lexical plan stands in.

    `bare` says that the catalog has documents, but none of them a vector.
    """
    if VECTOR not in plan.lanes:
        return Head(plan, {}, None)
    (hits, scores, known), vector = await asyncio.gather(
        offload(_ahead, plan, query, scope, index, vocabulary), _embed(embedder, query.text, bare)
    )
    if not isinstance(vector, str):
        return Head(plan, hits, vector, scores, known)
    if plan.strategy is Strategy.EMBEDDING:
        raise VectorsUnavailable(f"This search needs vectors: {vector} Use another strategy, such as bm25, or try again later.")
    return Head(plan.without_vector(vector), {}, None)


def _ahead(
    plan: SearchPlan, query: Query, scope: Scope, index: Index, vocabulary: Vocabulary
) -> tuple[dict[str, tuple[Hit, ...]], dict[str, dict[int, float]], float]:
    """What needs no vector: the lexical lanes, what each says of the others' finds, and how well the catalog knows the query's words."""
    asked = _lexical_queries(plan, query)
    hits = dict(zip((one.lane for one in asked), index.search(asked, scope), strict=True))
    scores = {lane: dict(ranking) for lane, ranking in hits.items() if lane != EXACT}
    if plan.fill:
        _fill(scores, query, None, scope, index)
    return hits, scores, known_share(vocabulary(bm25_probe(query.words).indices), scope.documents) if plan.adapt else 0.0


async def _embed(embedder: Embedder | None, text: str, bare: bool) -> Vector | str:
    """The query's vector, or why there is none (C05: also where the index has nothing to compare it with)."""
    if embedder is None:
        return "no embedding model is configured."
    if bare:
        return "nothing in the catalog has a vector yet."
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


def run(head: Head, query: Query, scope: Scope, index: Index, store: Store) -> Found:
    """The lanes that have not run yet, then the scores that are missing."""
    plan, vector = head.plan, head.vector
    if REGEX in plan.lanes:
        matches, named = pattern.scan(store, query.text, plan.filter, plan.depth)
        return Found(plan, (Ranking(REGEX, matches),), {REGEX: dict(matches)}, named)
    waiting = [asked for asked in _lexical_queries(plan, query) if asked.lane not in head.hits]
    if vector is not None:
        waiting.append(LaneQuery(VECTOR, vector, plan.depth))
    hits = {**head.hits, **dict(zip((asked.lane for asked in waiting), index.search(waiting, scope), strict=True))}
    exact = frozenset(number for number, _ in hits.pop(EXACT, ()))
    if exact:  # an exact name is an answer even where no lane had it among its best
        waiting = [LaneQuery(lane, _probe(lane, query, vector), len(exact), exact) for lane in hits]
        for asked, extra in zip(waiting, index.search(waiting, scope), strict=True):
            hits[asked.lane] = _merged(hits[asked.lane], extra)
    scores = {lane: {**head.scores.get(lane, {}), **dict(ranking)} for lane, ranking in hits.items()}
    if plan.fill:
        _fill(scores, query, vector, scope, index)
    for number in exact.difference(*scores.values()):  # named by a word that no lane looks for, such as "on"
        scores[plan.lanes[0]][number] = 0.0
    return Found(plan, tuple(Ranking(lane, ranking) for lane, ranking in hits.items()), scores, exact, head.known)


def _fill(scores: dict[str, dict[int, float]], query: Query, vector: Vector | None, scope: Scope, index: Index) -> None:
    every = frozenset(number for lane in scores.values() for number in lane)
    asked = []
    for lane, known in scores.items():
        missing = every - known.keys()
        if missing:
            asked.append(LaneQuery(lane, _probe(lane, query, vector), len(missing), missing))
    for lane_query, hits in zip(asked, index.search(asked, scope), strict=True):
        scores[lane_query.lane].update(hits)


def _probe(lane: str, query: Query, vector: Vector | None) -> Sparse | Vector:
    if lane == VECTOR and vector is not None:
        return vector
    return PROBES[lane](query.words)


def _merged(hits: Iterable[Hit], extra: Iterable[Hit]) -> tuple[Hit, ...]:
    return tuple(sorted({*hits, *extra}, key=lambda hit: (-hit.score, hit.number)))
