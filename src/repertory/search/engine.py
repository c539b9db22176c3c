"""How is a plan carried out?

One line per stage, forward only. What happens in a stage is its own module's affair.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from repertory import access
from repertory.embedders.base import Embedder
from repertory.indexes.base import Index, Scope
from repertory.indexes.sync import Sync
from repertory.model import Diagnostic, Filter, Fusion, Principal, SearchRequest, SearchResponse, Strategy
from repertory.offload import offload
from repertory.search import group, lanes
from repertory.search.fuse import fuse
from repertory.search.lanes import Head
from repertory.search.plan import plan
from repertory.search.rank import rank
from repertory.search.rescale import rescale
from repertory.store import Reference, Store
from repertory.text.query import Query, understand

_log = logging.getLogger(__name__)

REFERENCES = 200_000  # kept in memory; a document's number always means the same document


@dataclass(slots=True)
class Engine:
    """Answers requests over one catalog."""

    store: Store
    index: Index
    sync: Sync
    embedder: Embedder | None
    strategy: Strategy
    fusion: Fusion
    log_queries: bool = False
    _references: dict[int, Reference] = field(default_factory=dict)
    _searched: bool = False
    _loaded: bool = False  # all references

    async def search(self, request: SearchRequest, principal: Principal) -> SearchResponse:
        """Answer one request."""
        started = time.perf_counter()
        query = understand(request.query, self.sync.snapshot.short_names)
        planned = plan(request, access.filter_for(request, principal), strategy=self.strategy, fusion=self.fusion)
        scope = self.sync.scope(planned.filter)
        bare = bool(self.sync.snapshot.counts) and not self.sync.vectors
        head = await lanes.start(planned, query, scope, self.index, self._frequencies, self.embedder, bare)
        response = await offload(self._answer, head, query, scope, started)
        self._log_search(request, response)
        return response

    def _answer(self, head: Head, query: Query, scope: Scope, started: float) -> SearchResponse:
        """Everything after the query's vector, on one worker thread."""
        snapshot = self.sync.snapshot
        found = lanes.run(head, query, scope, self.index, self.store)
        fused = fuse(found)
        ranked = rank(fused, self._refer(fused, found.plan.filter), found.exact)
        chosen = rescale(group.best_per_entity(ranked), found.plan.rescale, found.plan.limit)
        return SearchResponse(
            results=group.present(self.store, chosen, found.plan.filter),
            strategy=found.plan.strategy.value,
            mode=found.plan.mode,
            revision=snapshot.revision,
            took_ms=(time.perf_counter() - started) * 1000,
            diagnostics=(*found.plan.diagnostics, *self._notes(head)),
            lanes={ranking.lane: len(ranking.hits) for ranking in found.rankings},
            known=round(found.known, 4) if found.plan.adapt else None,
        )

    def _frequencies(self, dimensions: Sequence[int]) -> list[int]:
        found = self.store.frequencies(dimensions)
        return [found.get(dimension, 0) for dimension in dimensions]

    def _notes(self, head: Head) -> Iterator[Diagnostic]:
        total, vectors = sum(self.sync.snapshot.counts.values()), self.sync.vectors
        if not total:
            yield Diagnostic("empty_catalog", "The catalog is empty. Add something: repertory add PATH")
        elif head.vector is not None and vectors < total:
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
        return {number: about for number in asked if (about := known.get(number)) is not None and filter.admits(about.bucket)}

    def _log_search(self, request: SearchRequest, response: SearchResponse) -> None:
        """A17: lane sizes and top scores; the query's text only where the settings allow it."""
        if _log.isEnabledFor(logging.DEBUG):
            text = repr(request.query) if self.log_queries else f"{len(request.query)} characters"
            tops = [round(result.score, 3) for result in response.results[:3]]
            _log.debug("search %s mode=%s lanes=%s top=%s", text, response.mode, response.lanes, tops)
