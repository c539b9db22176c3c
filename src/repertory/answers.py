"""Who answers a search, and how does another take over?

An engine with the index and the model that it asks. When a change of models is done (C07), another engine with another index takes its
place, as a whole: a search that is under way ends with the one it began with.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Hashable, Sequence
from dataclasses import replace

from repertory.cache import TimedCache
from repertory.embedders.base import Embedder
from repertory.embedders.choose import recipe
from repertory.errors import EmbedderError, IndexUnavailable
from repertory.indexes.base import VECTOR, Index
from repertory.indexes.choose import make_index
from repertory.indexes.sync import Sync
from repertory.ingest import change
from repertory.ingest.change import Answering, Change
from repertory.ingest.intake import Intake
from repertory.model import Principal, SearchRequest, SearchResponse
from repertory.offload import offload
from repertory.remote.base import Reranker, Rewriter
from repertory.search.engine import Engine
from repertory.search.expand import Expansion
from repertory.search.judge import Judge
from repertory.search.plan import Defaults
from repertory.search.spelling import Vocabulary
from repertory.search.usage import Usage
from repertory.settings import Settings
from repertory.sources.serverspec import Identify, nobody
from repertory.store import Store

_log = logging.getLogger(__name__)

ANSWER_TTL = 300.0  # seconds (E09)


class Answers(Intake):
    """An open catalog, searched by the model that can."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        index: Index,
        sync: Sync,
        embedder: Embedder | None,
        under_way: Change | None,
        rewriter: Rewriter | None,
        reranker: Reranker | None,
        identify: Identify = nobody,
    ) -> None:
        super().__init__(settings, store, sync, embedder, under_way, identify)
        self._remote = rewriter, reranker
        self._vocabulary = Vocabulary(store)
        self._usage = Usage(store, settings.usage_half_life) if settings.usage else None
        self._engines = [self._make_engine(index, under_way.old if under_way else embedder)]  # the last one answers

    @property
    def _engine(self) -> Engine:
        return self._engines[-1]

    async def search(self, request: SearchRequest | str, principal: Principal = Principal()) -> SearchResponse:
        """Find what answers a request."""
        asked = SearchRequest(request) if isinstance(request, str) else request
        try:
            answer = await self._engine.search(asked, principal)
        except IndexUnavailable as error:
            self._sync.doubt(error)
            raise
        if self._change is None or VECTOR not in (answer.lanes or ()):
            return answer
        return replace(answer, diagnostics=(self._change.note(), *answer.diagnostics))

    async def warm(self) -> None:
        """Load the models that answer and embed (C08)."""
        if self._change is not None:
            with contextlib.suppress(EmbedderError):
                await self._change.old.embed_query("warm up")
        await super().warm()

    def begin(self, known: Answering, settled: str | None) -> None:
        """Bring the index up to date, and clear away what former ones left; `settled`: this model answers, and no other is awaited."""
        self._turns.begin(lambda: self._begin(known, settled))

    def _begin(self, known: Answering, settled: str | None) -> None:
        self._sync.open()
        change.tidy(make_index(self.settings, self._store, known.other_folder))
        if settled is not None:
            change.settle(self._store, settled, known, self.settings)

    async def close(self) -> None:
        """Wait until nobody writes, make the index durable, and let go of everything."""
        await self.quiet()
        await offload(self._turns.end)
        await self._let_go(self._engines[:])

    async def _take_over(self) -> None:
        if self._change is None:
            return
        known = await offload(change.recall, self._store)
        beside = await offload(make_index, self.settings, self._store, known.other_folder)
        successor = Answering(recipe(self.settings), known.other_folder)
        try:
            await self._write(self._follow, self._make_engine(beside, self._change.new), self._change.new, successor)
        except IndexUnavailable as error:  # the old one goes on answering, and whoever embeds next tries again
            _log.warning("%s cannot take over yet: %s", self._change.new.model, error)
            return
        await self._let_go(self._engines[:-1])
        await offload(change.tidy, make_index(self.settings, self._store, successor.other_folder))

    def _follow(self, engine: Engine, embedder: Embedder, successor: Answering) -> None:
        try:
            self._sync.move(engine.index, model=embedder.model, dimensions=embedder.dimensions)
        except BaseException:
            engine.index.close()
            raise
        change.remember(self._store, successor)
        self._engines.append(engine)
        self._change = None
        self._store.prune_embeddings({embedder.model})

    async def _let_go(self, engines: Sequence[Engine]) -> None:
        for engine in engines:
            await engine.answers.close()  # waits for the searches that are under way
            if engine.embedder is not None:
                await engine.embedder.close()
            engine.index.close()
            self._engines.remove(engine)

    def _make_engine(self, index: Index, embedder: Embedder | None) -> Engine:
        settings, store = self.settings, self._store
        defaults = Defaults(settings.preset, settings.strategy, settings.fusion, settings.lane_weights, settings.min_confidence)
        expansion = Expansion(store, embedder.model) if settings.expansion and embedder else None
        answers: TimedCache[Hashable, SearchResponse] = TimedCache(size=settings.answer_cache, ttl=ANSWER_TTL)
        return Engine(
            store,
            index,
            self._sync,
            embedder,
            Judge(index, embedder.model if embedder else None),
            self._vocabulary,
            expansion,
            answers,
            *self._remote,
            defaults,
            settings.log_queries,
            self._usage,
        )
