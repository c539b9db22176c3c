"""How is a plan carried out?

One line per stage, forward only. What happens in a stage is its own module's affair.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from repertory import access
from repertory.cache import TimedCache
from repertory.embedders.base import Embedder
from repertory.indexes.base import VECTOR, Index
from repertory.indexes.features import dimension
from repertory.indexes.sync import Sync
from repertory.model import Candidate, Diagnostic, Filter, Principal, Result, SearchRequest, SearchResponse
from repertory.offload import in_turn, offload
from repertory.remote.base import Reranker, Rewriter
from repertory.search import boost, group, lanes, neighbours, offers
from repertory.search.distribute import distribute
from repertory.search.expand import Expansion
from repertory.search.fuse import fuse
from repertory.search.judge import Judge, Verdict
from repertory.search.lanes import Found, Head
from repertory.search.place import Place
from repertory.search.plan import BROWSE, EMPTY, NO_WISHES, REGEX, Defaults, SearchPlan, plan
from repertory.search.rank import rank
from repertory.search.rerank import rerank
from repertory.search.rescale import rescale
from repertory.search.rewrite import rewritten
from repertory.search.spelling import Vocabulary
from repertory.search.supplement import supplement
from repertory.search.usage import Usage
from repertory.search.withheld import withheld
from repertory.store import Reference, Store
from repertory.telemetry import measured
from repertory.text.context import context_text
from repertory.text.query import understand
from repertory.text.tokens import stem

_log = logging.getLogger(__name__)

EMPTY_CATALOG = Diagnostic("empty_catalog", "The catalog is empty. Add something: repertory add PATH")
ANYTHING = access.everything_for(Principal())
REFERENCES = 200_000  # kept in memory; a document's number always means the same document


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(slots=True)
class Engine:
    """Answers requests over one catalog."""

    store: Store
    index: Index
    sync: Sync
    embedder: Embedder | None
    judge: Judge
    vocabulary: Vocabulary
    expansion: Expansion | None
    answers: TimedCache[Hashable, SearchResponse]
    rewriter: Rewriter | None = None
    reranker: Reranker | None = None
    defaults: Defaults = NO_WISHES
    log_queries: bool = False
    usage: Usage | None = None
    clock: Callable[[], datetime] = _now
    _references: dict[int, Reference] = field(default_factory=dict)
    _searched: bool = False
    _loaded: bool = False  # all references

    async def search(self, request: SearchRequest, principal: Principal) -> SearchResponse:
        """Answer one request, or give the answer that was given before where nothing has changed since (E09)."""
        with measured("search") as labels:
            response = await self._search(request, principal)
            labels |= {"strategy": response.strategy, "mode": response.mode, "cached": str(response.cached).lower()}
            return response

    async def _search(self, request: SearchRequest, principal: Principal) -> SearchResponse:
        started = time.perf_counter()
        planned = plan(request, access.filter_for(request, principal), self.defaults)
        context = context_text(request.summary, request.context)
        bare = replace(request, summary="", context=None) if request.summary or request.context else request
        key = (self.sync.snapshot.revision, principal, bare, context)
        response, made = await self.answers.get(key, lambda: self._find(planned, context, request))
        if any(note.code != "abstained" for note in response.diagnostics):  # what was missing may be back at any moment
            self.answers.forget(key)
        seen = self._seen(response, principal)
        response = replace(response, **seen, cached=not made, took_ms=(time.perf_counter() - started) * 1000)
        self._log_search(request, response)
        return response

    async def _find(self, planned: SearchPlan, context: str, request: SearchRequest) -> SearchResponse:
        if not request.query.strip() and not context:
            return await offload(self._browse, planned)
        rewrite, rewrite_note = await rewritten(self.rewriter if planned.rewrite else None, request.query)
        query = understand(rewrite or request.query, self.sync.snapshot.short_names, context, request.query if rewrite else "")
        if request.hypothesis.strip():
            query = replace(query, hypothesis=request.hypothesis.strip())
        if planned.identify and query.identifier and await offload(self._is_telling, query.identifier):
            planned = planned.by_words()
        place = self._place(planned.filter)
        head = await lanes.start(planned, query, place, self.embedder)
        aside = in_turn if self.index.alone and REGEX not in planned.lanes else offload  # to look at every text may take a second
        rerank_note: Diagnostic | None = None
        if self.reranker is None or not planned.rerank:
            while isinstance(response := await aside(self._carry_out, head, place, request), Head):
                head = await lanes.finish(response, query, place, self.embedder)
        else:
            while (head := await aside(lanes.begin, head, place)).waits:
                head = await lanes.finish(head, query, place, self.embedder)
            found, ranked = await aside(self._rank, head, place)
            ranked, rerank_note = await self._rerank(self.reranker, found, ranked)
            response = await aside(self._answer, found, ranked, place, request)
        notes = tuple(note for note in (rewrite_note, rerank_note) if note)
        return replace(response, rewritten=rewrite, diagnostics=(*notes, *response.diagnostics)) if rewrite or notes else response

    def _carry_out(self, head: Head, place: Place, request: SearchRequest) -> SearchResponse | Head:
        """Everything on one thread; the head comes back where the query was misspelt, and what was meant is yet to be embedded."""
        head = lanes.begin(head, place)
        return head if head.waits else self._answer(*self._rank(head, place), place, request)

    def _rank(self, head: Head, place: Place) -> tuple[Found, list[Candidate]]:
        """The whole ranking, one candidate per entity."""
        found = lanes.run(head, place)
        fused = fuse(found)
        references = self._refer(fused, found.plan.filter)
        ranked = rank(fused, references, found.exact, self._boosts(found, references))
        return found, group.best_per_entity(neighbours.join(ranked, found, self.store))

    def _answer(self, found: Found, ranked: list[Candidate], place: Place, request: SearchRequest) -> SearchResponse:
        """What of it is shown, and how."""
        planned, reading, snapshot = found.plan, found.reading, self.sync.snapshot
        verdict = self.judge.judge(found, ranked, place)
        sure = {one.number: confidence for one, confidence in zip(ranked, verdict.confidences, strict=False)}
        ranked = [] if verdict.abstains else ranked
        chosen = distribute(ranked, planned.limit) if planned.distribute else ranked[: planned.limit]
        told = [one._replace(confidence=sure.get(one.number)) for one in chosen]
        shown = rescale(ranked, told, planned.rescale, planned.floor)
        results = group.present(self.store, shown, planned.filter, reading.query, snapshot.broken, explain=request.explain)
        beside, following = supplement(results, ranked, self.store, planned.filter, planned.depth) if planned.supplement else ((), ())
        return SearchResponse(
            results=results,
            strategy=planned.strategy.value,
            mode=planned.mode,
            revision=snapshot.revision,
            took_ms=0.0,
            diagnostics=(*planned.diagnostics, *self._notes(found, verdict)),
            lanes={ranking.lane: len(ranking.hits) for ranking in found.rankings},
            known=round(reading.known, 4) if planned.adapt else None,
            confidence=verdict.chance,
            terms=reading.terms,
            idf=reading.idf,
            abstained=verdict.abstains,
            tools=offers.lift(results, self.store, planned.filter, planned.limit) if planned.lift else (),
            related=beside,
            next_steps=following,
            anchors=reading.anchors,
            corrected=reading.corrected,
            concepts=found.concepts,
            withheld=withheld(snapshot.counts, planned.filter) if request.explain else None,
        )

    def _seen(self, response: SearchResponse, principal: Principal) -> dict[str, Any]:
        """A18, F06: every entry as this principal may see it. How far the catalog knows a word is told to none but who sees all of it."""
        shown: dict[str, Any] = {"results": tuple(self._result(one, principal) for one in response.results)}
        for others in ("tools", "related", "next_steps"):
            shown[others] = tuple(one._replace(entity=access.reveal(one.entity, principal)) for one in getattr(response, others))
        if not principal.is_admin and not all(map(access.everything_for(principal).admits, self.sync.snapshot.counts)):
            shown |= {"known": None, "idf": 0.0}
        return shown

    def _result(self, result: Result, principal: Principal) -> Result:
        entity = access.reveal(result.entity, principal)
        return result if entity is result.entity else replace(result, entity=entity)

    async def _rerank(self, reranker: Reranker, found: Found, ranked: list[Candidate]) -> tuple[list[Candidate], Diagnostic | None]:
        head = [candidate.document_id for candidate in ranked[: found.plan.rerank]]
        passages = await offload(self.store.passages, head)
        return await rerank(reranker, found.reading.query.text, ranked, [passages.get(one, ("", ""))[1] for one in head], found.exact)

    def _browse(self, planned: SearchPlan) -> SearchResponse:
        """E08: nothing was asked."""
        entities, total = self.store.list_entities(planned.filter, limit=planned.limit)
        mode = BROWSE if total else EMPTY
        notes = () if self.sync.snapshot.counts else (EMPTY_CATALOG,)
        results = group.browsed(self.store, entities, self.sync.snapshot.broken)
        return SearchResponse(results, planned.strategy.value, mode, self.sync.snapshot.revision, 0.0, notes)

    def _boosts(self, found: Found, references: dict[int, Reference]) -> boost.Boosts:
        anchored = boost.anchored(references, found.reading.anchors, self.store) if found.plan.anchored else {}
        recent = boost.recent(references, self.store, self.clock()) if found.plan.recent else {}
        learned = self.usage.boosts(found.reading.query.words, references) if self.usage and found.plan.learns else {}
        return boost.merge(anchored, recent, learned)

    def _place(self, filter: Filter) -> Place:
        snapshot = self.sync.snapshot
        return Place(
            scope=self.sync.scope(filter),
            everything=self.sync.scope(ANYTHING),
            vectors=self.sync.vectors,
            visible=self.sync.scope(replace(filter, kinds=None, tags=frozenset())),
            index=self.index,
            store=self.store,
            revision=snapshot.revision,
            names=snapshot.short_names,
            spelling=lambda: self.vocabulary.at(snapshot.revision),
            expansion=self.expansion,
            bare=bool(snapshot.counts) and not self.sync.vectors,
        )

    def _is_telling(self, identifier: str) -> bool:
        """D05: a code says all there is to say; the name of a function does where the catalog has it, and else may be read as words."""
        return any(map(str.isdigit, identifier)) or bool(self.store.frequencies([dimension(stem(identifier))]))

    def _notes(self, found: Found, verdict: Verdict) -> Iterator[Diagnostic]:
        if verdict.abstains:
            yield Diagnostic("abstained", verdict.reason)
        total, vectors = sum(self.sync.snapshot.counts.values()), self.sync.vectors
        if not total:
            yield EMPTY_CATALOG
        elif VECTOR in found.scores and vectors < total:
            yield Diagnostic("vectors_missing", f"{total - vectors} of {total} documents have no vector yet; words alone find them.")

    def _refer(self, numbers: Iterable[int], filter: Filter) -> dict[int, Reference]:
        """Which document each number is: from memory, else from the store.

        A document that left the catalog since the lanes ran is not here any more. One that came in since the filter became a scope may be
        of a bucket that the scope had not heard of: it is decided here.
        """
        known, asked = self._references, list(numbers)
        missing = [number for number in asked if number not in known]
        if missing:
            if len(known) > REFERENCES:
                known = self._references = {number: known[number] for number in asked if number in known}
            # Whoever searches twice will search often: then all at once, so that later searches ask the store for none.
            all_fit = self._searched and sum(self.sync.snapshot.counts.values()) <= REFERENCES
            known.update(self.store.references(None if all_fit and not self._loaded else missing))
            self._loaded = self._loaded or all_fit
        self._searched = True
        found: dict[int, Reference] = {}
        admitted: dict[int, bool] = {}  # a catalog has few buckets, and each is one object
        for number in asked:
            if (about := known.get(number)) is not None:
                bucket = about.bucket
                if id(bucket) not in admitted:
                    admitted[id(bucket)] = filter.admits(bucket)
                if admitted[id(bucket)]:
                    found[number] = about
        return found

    def _log_search(self, request: SearchRequest, response: SearchResponse) -> None:
        """A17: lane sizes and top scores; the query's text only where the settings allow it."""
        if _log.isEnabledFor(logging.DEBUG):
            text = repr(request.query) if self.log_queries else f"{len(request.query)} characters"
            tops = [round(result.score, 3) for result in response.results[:3]]
            _log.debug("search %s mode=%s lanes=%s top=%s", text, response.mode, response.lanes, tops)
