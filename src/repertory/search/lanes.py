"""What does each lane find?

The lexical lanes run while the query is being embedded; the vector lane follows; then every candidate gets the scores it lacks. Where a
query has several vectors, the better cosine counts (E06).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from repertory.embedders.base import Embedder, Vector
from repertory.errors import VectorsUnavailable
from repertory.indexes.base import BM25, EXACT, GRAMS, KEYWORD, VECTOR, LaneQuery, Sparse
from repertory.indexes.encode import bm25_probe, grams_probe, keyword_probe
from repertory.model import Hit, Ranking, Strategy
from repertory.offload import offload
from repertory.search import pattern
from repertory.search.place import Place
from repertory.search.plan import GRAPH, REGEX, SearchPlan
from repertory.search.reading import Reading, read
from repertory.search.sight import Vectors, at_once, look
from repertory.search.spelling import known_in
from repertory.search.walk import walk
from repertory.store import Store
from repertory.text.query import Query

PROBES = {BM25: bm25_probe, GRAMS: grams_probe, KEYWORD: keyword_probe}
EXACT_DEPTH = 200  # the sections of a file share its name

Hits = tuple[Hit, ...]
Scores = dict[str, dict[int, float]]
Asked = tuple[str, int, frozenset[int] | None]  # a lane, how deep, and among which documents


@dataclass(frozen=True, slots=True)
class Found:
    """What the lanes brought, and by which plan they ran in the end."""

    plan: SearchPlan
    rankings: tuple[Ranking, ...]
    scores: Mapping[str, Mapping[int, float]]  # by lane, for every candidate the lane could score
    exact: frozenset[int]  # found by their own name
    reading: Reading
    concepts: tuple[str, ...] = ()  # that the vector lane looked for besides (B06)


@dataclass(frozen=True, slots=True)
class Head:
    """A search that was begun: what could be done while the query was being embedded, and its vectors."""

    plan: SearchPlan
    reading: Reading
    hits: Mapping[str, Hits] = field(default_factory=dict)
    vectors: Vectors = ()
    begun: bool = True  # else the words were not looked at yet

    @property
    def waits(self) -> bool:
        """Whether a vector is missing: that of the query as it was meant, where there were typing errors in it."""
        return VECTOR in self.plan.lanes and not self.vectors


async def start(plan: SearchPlan, query: Query, place: Place, embedder: Embedder | None) -> Head:
    """Embed the query if the plan wants a vector, and run the lexical lanes meanwhile. Without one, the lexical plan stands in.

    Where there is nothing to wait for, nothing is begun: `begin` does it, on the thread that does all the rest.
    """
    if VECTOR not in plan.lanes:
        return Head(plan, Reading(query), begun=False)
    known = at_once(embedder, query.texts, query.context, bare=place.bare)
    if known is not None:
        return _with(known, Head(plan, Reading(query), begun=False), query)
    looking = look(embedder, query.texts, query.context, bare=place.bare)
    head, vectors = await asyncio.gather(offload(_ahead, plan, query, place), looking)
    if head.reading.query.texts != query.texts and not isinstance(vectors, str):  # what was embedded meanwhile has the typing errors in it
        return await finish(head, query, place, embedder)
    return _with(vectors, head, query)


def begin(head: Head, place: Place) -> Head:
    """Do what there was no time for. A head that still waits needs a vector (`finish`)."""
    return head if head.begun else _ahead(head.plan, head.reading.query, place, head.vectors)


async def finish(head: Head, query: Query, place: Place, embedder: Embedder | None) -> Head:
    """The vectors of the query as the catalog reads it."""
    return _with(await look(embedder, head.reading.query.texts, query.context, bare=place.bare), head, query)


def _with(vectors: Vectors | str, head: Head, query: Query) -> Head:
    """The head with its vectors, or where there are none, the query as it was asked, for the words alone."""
    if not isinstance(vectors, str):
        return replace(head, vectors=vectors)
    if head.plan.strategy is Strategy.EMBEDDING:
        raise VectorsUnavailable(f"This search needs vectors: {vectors} Use another strategy, such as bm25, or try again later.")
    return Head(head.plan.without_vector(vectors), Reading(query), begun=False)


def _ahead(plan: SearchPlan, query: Query, place: Place, vectors: Vectors = ()) -> Head:
    """What the catalog makes of the query's words, and the lanes that need no vector or have one."""
    if REGEX in plan.lanes:
        return Head(plan, Reading(query), vectors=vectors)
    reading = read(query, place, correct=plan.correct) if plan.reads else Reading(query)
    asked: list[Asked] = [(lane, plan.depth, None) for lane in plan.lanes if lane in PROBES]
    if reading.query.name:
        asked.append((EXACT, EXACT_DEPTH, None))
    vectors = vectors if reading.query.texts == query.texts else ()
    if vectors and not plan.expand:
        asked.append((VECTOR, plan.depth, None))
    hits = _search(asked, reading.query, vectors, place)
    if GRAPH in plan.lanes:
        hits[GRAPH] = _walk(reading.query, plan, place.store)
    return Head(plan, reading, hits, vectors)


def _walk(query: Query, plan: SearchPlan, store: Store) -> Hits:
    """E04: the entities that the graph leads to, each by its first document."""
    found = dict(walk(query.words, store, plan.filter, plan.depth))
    documents = store.first_documents(list(found), plan.filter)
    return tuple(Hit(documents[entity][0], score) for entity, score in found.items() if entity in documents)


def run(head: Head, place: Place) -> Found:
    """The lane that waited for the vector; then, once for all lanes, the scores that are missing."""
    head = begin(head, place)
    plan, query = head.plan, head.reading.query
    vectors, concepts = _expanded(head, place)
    if REGEX in plan.lanes:
        matches, named = pattern.scan(place.store, query.text, plan.filter, plan.depth)
        return Found(plan, (Ranking(REGEX, matches),), {REGEX: dict(matches)}, named, head.reading)
    hits = dict(head.hits)
    if vectors and VECTOR not in hits:
        hits |= _search([(VECTOR, plan.depth, None)], query, vectors, place)
    exact = frozenset(number for number, _ in hits.pop(EXACT, ()))
    if exact:  # an exact name is an answer even where no lane had it among its best
        extra = _search([(lane, len(exact), exact) for lane in hits if lane != GRAPH], query, vectors, place)
        hits |= {lane: _merged(hits[lane], more) for lane, more in extra.items()}
    scores = {lane: dict(ranking) for lane, ranking in hits.items()}
    if plan.fill:
        _fill(scores, query, vectors, place)
    for number in exact.difference(*scores.values()):  # named by a word that no lane looks for, such as "on"
        scores[plan.lanes[0]][number] = 0.0
    return Found(plan, tuple(Ranking(lane, ranking) for lane, ranking in hits.items()), scores, exact, head.reading, concepts)


def _expanded(head: Head, place: Place) -> tuple[Vectors, tuple[str, ...]]:
    """B06: the vectors with what is near to them, and the words for it that were added."""
    if not head.plan.expand or place.expansion is None:
        return head.vectors, ()
    known = known_in(place.index, place.visible, place.store)
    moved = [place.expansion.expand(vector, head.reading.query.words, place.revision, known) for vector in head.vectors]
    return tuple(vector for vector, _ in moved), tuple(dict.fromkeys(word for _, words in moved for word in words))


def _fill(scores: Scores, query: Query, vectors: Vectors, place: Place) -> None:
    every = frozenset().union(*scores.values())
    asked = [(lane, len(missing), missing) for lane, known in scores.items() if (missing := every.difference(known))]
    for lane, hits in _search(asked, query, vectors, place).items():
        scores[lane].update(hits)


def _search(asked: Iterable[Asked], query: Query, vectors: Vectors, place: Place) -> dict[str, Hits]:
    """The hits of each lane: all lanes in one call of the engine."""
    queries = [LaneQuery(lane, probe, depth, among) for lane, depth, among in asked for probe in _probes(lane, query, vectors)]
    found: dict[str, Hits] = {lane: () for lane, _, _ in asked}
    for one, hits in zip(queries, place.index.search(queries, place.scope), strict=True):
        found[one.lane] = _merged(found[one.lane], hits) if found[one.lane] else hits
    return found


def _probes(lane: str, query: Query, vectors: Vectors) -> Iterable[Sparse | Vector | str]:
    if lane == VECTOR:
        return vectors
    return (query.name,) if lane == EXACT else (_probe(lane, query.words, query.context_words),)


@lru_cache(maxsize=256)  # one search asks each lane twice
def _probe(lane: str, words: tuple[str, ...], context: tuple[str, ...]) -> Sparse:
    return PROBES[lane](words, context)


def _merged(hits: Iterable[Hit], extra: Iterable[Hit]) -> Hits:
    """Both together, each document with its better score, best first."""
    best: dict[int, float] = {}
    for number, score in (*hits, *extra):
        best[number] = max(score, best.get(number, score))
    return tuple(sorted((Hit(*hit) for hit in best.items()), key=lambda hit: (-hit.score, hit.number)))
