"""How is a plan carried out?

One line per stage, forward only. What happens in a stage is its own module's affair.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field

from repertory import access
from repertory.embedders.base import Embedder
from repertory.indexes.base import Index
from repertory.indexes.sync import Sync
from repertory.model import Diagnostic, Fusion, Principal, SearchRequest, SearchResponse, Strategy
from repertory.offload import offload
from repertory.search import group, lanes
from repertory.search.fuse import fuse
from repertory.search.lanes import Found
from repertory.search.plan import plan
from repertory.search.rank import rank
from repertory.search.rescale import rescale
from repertory.store import Reference, Store
from repertory.text.query import understand

_log = logging.getLogger(__name__)

EMPTY = Diagnostic("empty_catalog", "The catalog is empty. Add something: repertory add PATH")
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
    _references: OrderedDict[int, Reference] = field(default_factory=OrderedDict)

    async def search(self, request: SearchRequest, principal: Principal) -> SearchResponse:
        """Answer one request."""
        started = time.perf_counter()
        snapshot = self.sync.snapshot
        query = understand(request.query, snapshot.short_names)
        planned = plan(request, access.filter_for(request, principal), strategy=self.strategy, fusion=self.fusion)
        found = await lanes.run(planned, query, self.sync.scope(planned.filter), self.index, self.store, self.embedder)
        fused = fuse(found)
        ranked = rank(fused, await self._refer(fused), found.exact)
        chosen = rescale(group.best_per_entity(ranked), found.plan.rescale)[: found.plan.limit]
        results = await offload(group.present, self.store, chosen)
        self._log_search(request, found)
        return SearchResponse(
            results=results,
            strategy=found.plan.strategy.value,
            mode=found.plan.mode,
            revision=snapshot.revision,
            took_ms=(time.perf_counter() - started) * 1000,
            diagnostics=(*found.plan.diagnostics, *(() if snapshot.counts else (EMPTY,))),
            lanes={ranking.lane: len(ranking.hits) for ranking in found.rankings},
        )

    async def _refer(self, numbers: Iterable[int]) -> dict[int, Reference]:
        """Which document each number is: from memory, else from the store."""
        known = self._references
        asked = list(numbers)
        missing = [number for number in asked if number not in known]
        if missing:
            known.update(await offload(self.store.references, missing))
            while len(known) > REFERENCES:
                known.popitem(last=False)
        return {number: known[number] for number in asked if number in known}

    def _log_search(self, request: SearchRequest, found: Found) -> None:
        """A17: lane sizes and top scores; the query's text only where the settings allow it."""
        if _log.isEnabledFor(logging.DEBUG):
            sizes = {r.lane: (len(r.hits), round(r.hits[0].score, 4) if r.hits else None) for r in found.rankings}
            text = repr(request.query) if self.log_queries else f"{len(request.query)} characters"
            _log.debug("search %s mode=%s limit=%d lanes=%s", text, found.plan.mode, found.plan.limit, sizes)
