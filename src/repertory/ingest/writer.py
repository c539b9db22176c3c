"""Who writes next, and who gives what came in its vectors?

Everything that changes a catalog takes its turn here, in this process and among those that share it. What is new gets its vectors between
two turns, and a serving process keeps that going behind the requests.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from repertory.embedders.base import Embedder
from repertory.errors import CatalogUnavailable, EmbedderError
from repertory.indexes.sync import Sync
from repertory.ingest import indexfile
from repertory.ingest.change import Change
from repertory.ingest.embed import Write, embed_concepts, embed_pending, pending_concepts
from repertory.ingest.report import IngestReport, Progress
from repertory.ingest.turns import Turns
from repertory.offload import offload
from repertory.settings import Settings
from repertory.store import Store

_log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

RETRY_INDEX = 2.0  # seconds between attempts to reach an index that was left behind
RETRY_EMBEDDING = 30.0  # seconds between attempts of a serving process to embed what waits


class Writer:
    """Writes into one open catalog, one thing at a time."""

    def __init__(self, settings: Settings, store: Store, sync: Sync, embedder: Embedder | None, change: Change | None = None) -> None:
        self.settings = settings
        self._store = store
        self._sync = sync
        self._embedder = embedder  # that documents are embedded with
        self._change = change
        self._writing = asyncio.Lock()
        self._turns = Turns(store, sync)
        self._embedding = asyncio.Lock()

    async def _write(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """One writer at a time, among all processes that share the catalog."""
        return await self._alone(lambda: self._turns.run(work, *args, **kwargs))

    async def _alone(self, work: Callable[[], T]) -> T:
        """One at a time here. A caller who leaves does not free the place before its work is done: a thread cannot be stopped."""
        async with self._writing:
            running = asyncio.ensure_future(offload(work))
            try:
                return await asyncio.shield(running)
            except asyncio.CancelledError:
                await asyncio.wait([running])
                raise

    async def quiet(self) -> None:
        """Wait until nobody writes."""
        async with self._writing:
            pass

    async def embed(self, progress: Progress = lambda *_: None) -> int:
        """Embed what has no vector yet, and answer how many texts that were. A model that fails leaves them for later: see `waiting`."""
        return (await self._embed(progress))[0]

    async def _embed(self, progress: Progress) -> tuple[int, str]:
        if self._embedder is None:
            return 0, ""

        def write(model: str) -> Write:
            return lambda vectors: self._write(self._sync.keep_vectors, model, vectors)

        def told(stage: str, done: int, total: int) -> None:
            if self._change is not None:
                self._change.left = total - done
            progress(stage, done, total)

        async with self._embedding:  # writes of others go in between two batches
            if self._change is not None:  # what came in meanwhile, so that whoever answers knows it
                await embed_pending(self._store, self._change.old, write(self._change.old.model), lambda *_: None)
            done, excuse = await embed_pending(self._store, self._embedder, write(self._embedder.model), told)
            if self.settings.expansion and not excuse:
                excuse = await embed_concepts(self._store, self._embedder, write(self._embedder.model), progress)
            if self._change is not None and not await self.waiting():
                await self._take_over()
        if done:
            await self._write(self._sync.settle)
        return done, excuse

    async def _embedded(self, report: IngestReport, progress: Progress, *, embed: bool = True) -> IngestReport:
        if self._embedder is not None:
            await self._write(self._keep_given, report.source, self._embedder.model, self._embedder.dimensions)
        if embed:
            report.embedded, report.excuse = await self._embed(progress)
        report.waiting = await self.waiting()
        report.revision = self._sync.snapshot.revision
        report.behind = self._sync.behind
        return report

    def _keep_given(self, source: str, model: str, dimensions: int) -> None:
        """C06: vectors that came with a file need not be made."""
        for vectors in indexfile.given(self._store, source, model, dimensions):
            self._sync.keep_vectors(model, vectors)

    async def _take_over(self) -> None:
        """Let the model that was waited for answer (C07). Who answers is the affair of `app`."""

    async def waiting(self) -> int:
        """How many texts have no vector yet, concepts included where they are wanted (B06)."""
        if self._embedder is None:
            return 0
        texts = await offload(self._store.count_pending, self._embedder.model)
        return texts + (len(await offload(pending_concepts, self._store, self._embedder.model)) if self.settings.expansion else 0)

    async def warm(self) -> None:
        """Load the model (C08). One that cannot be loaded says so when it is needed."""
        if self._embedder is not None:
            with contextlib.suppress(EmbedderError):
                await self._embedder.embed_query("warm up")

    async def keep_embedding(self) -> None:
        """Embed what waits, again and again: a serving process runs this behind the requests."""
        await self.warm()  # C08: the first visitor should not wait for the model to load
        while True:
            try:
                await self.embed()
            except Exception:
                _log.exception("Embedding behind the requests failed; it is tried again")
            await asyncio.sleep(RETRY_EMBEDDING)

    async def keep_following(self) -> None:
        """Let an index hear of what it missed: it could not be reached, or whoever wrote has died. A serving process runs this."""
        while True:
            await asyncio.sleep(RETRY_INDEX)
            try:
                if await offload(self._turns.left_over):
                    await self._alone(self._turns.mend)
            except CatalogUnavailable as error:
                _log.warning("The search index does not follow; it is tried again: %s", error)
            except Exception:
                _log.exception("The search index does not follow; it is tried again")

    async def check(self) -> list[str]:
        """Where the index differs from the truth: empty when all is well."""
        return await self._write(self._sync.differences)

    async def rebuild(self) -> None:
        """Build the search index anew from the truth, and forget vectors that nothing needs any more."""
        await self._write(self._rebuild)

    def _rebuild(self) -> None:
        self._sync.rebuild()
        if self._embedder is not None:
            self._store.prune_embeddings({self._embedder.model, self._sync.model})
