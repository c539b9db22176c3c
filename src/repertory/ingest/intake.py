"""Who writes next?

Everything that changes a catalog takes its turn here: files, addresses, servers and entries of a program go in, what is new gets its
vectors, and a serving process keeps both going behind the requests.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import ParamSpec, TypeVar

from repertory.embedders.base import Embedder, Vector
from repertory.errors import EmbedderError, InvalidRequest
from repertory.indexes.sync import Sync
from repertory.ingest import indexfile
from repertory.ingest.embed import embed_concepts, embed_pending, pending_concepts
from repertory.ingest.live import Round, config_at, due, open_config, take_in, together
from repertory.ingest.review import Held, decide, held_entries
from repertory.ingest.run import IngestReport, Progress, fetch, ingest, ingest_feed, ingest_history, ingest_path
from repertory.ingest.screen import Policy
from repertory.ingest.watch import Watcher
from repertory.model import Entity, Principal
from repertory.offload import offload
from repertory.settings import Settings
from repertory.sources.mcp import Outcome, contact_all
from repertory.sources.serverspec import ServerSpec
from repertory.sources.web import is_address
from repertory.store import SourceRecord, Store

_log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

IN_PYTHON = "python:"  # opens the location of a source that is no file
RETRY_EMBEDDING = 30.0  # seconds between attempts of a serving process to embed what waits


class Intake:
    """All that writes into one open catalog, one at a time."""

    def __init__(self, settings: Settings, store: Store, sync: Sync, embedder: Embedder | None) -> None:
        self.settings = settings
        self._store = store
        self._sync = sync
        self._embedder = embedder
        self._policy = Policy.of(settings)
        self._writing = asyncio.Lock()
        self._embedding = asyncio.Lock()
        self._watcher: Watcher | None = None  # follows every file source while there is one

    async def add(
        self, where: Path | str, progress: Progress = lambda *_: None, *, commits: int | None = None, dry_run: bool = False
    ) -> IngestReport:
        """Read a file, a folder, the servers of a config, or what is at an http(s) address into the catalog, and embed what is new.

        With `commits`, read so many of the newest commits of the git repository that is there instead. A dry run of files writes nothing
        and tells what would happen.
        """
        config = None if commits is not None or is_address(where) else await offload(config_at, Path(where))
        if dry_run and (commits is not None or is_address(where) or config is not None):
            raise InvalidRequest("Only files and folders can be tried with a dry run.")
        if commits is not None:
            if is_address(where) or commits < 1:
                raise InvalidRequest("A git history is read from a folder on this machine, and at least one commit of it.")
            report = await self._write(ingest_history, Path(where), commits, self._store, self._sync)
        elif is_address(where):
            feed = await offload(fetch, str(where), self._store, progress)  # others may write while we wait for the network
            report = await self._write(ingest_feed, feed, self._store, self._sync, self._policy)
        elif config is not None:
            servers = await self._write(open_config, config, self._store, self._sync)
            report = together(config.name, await self._ask(servers, progress))
        else:
            report = await self._write(ingest_path, Path(where), self._store, self._sync, progress, policy=self._policy, dry_run=dry_run)
            if dry_run:
                return report
            if self._watcher is not None:
                self._watcher.follow(await offload(_located, where))
        return await self._embedded(report, progress)

    async def refresh(self, progress: Progress = lambda *_: None) -> IngestReport:
        """Ask every live server again; those that fail keep their entries and are marked broken."""
        live = [source for source in await self.sources() if source.live]
        report = together("live servers", await self._ask(await self._write(due, live, self._store, self._sync), progress))
        return await self._embedded(report, progress)

    async def _ask(self, wanted: Round, progress: Progress) -> list[IngestReport]:
        """Contact servers; each is written as soon as it has answered, and others write meanwhile."""
        locations = {asked.spec.name: asked for asked in wanted.asked}
        reports = list(wanted.reports)

        async def told(spec: ServerSpec, outcome: Outcome) -> None:
            reports.append(await self._write(take_in, locations[spec.name], outcome, self._store, self._sync, self._policy))
            progress("Asking", len(reports) - len(wanted.reports), len(locations))

        progress("Asking", 0, len(locations))
        await contact_all((asked.spec for asked in wanted.asked), told)
        return sorted(reports, key=lambda report: report.source)

    async def watch(self, paths: Iterable[Path | str] = (), tell: Callable[[IngestReport], None] = lambda _: None) -> None:
        """Keep the catalog as its files are (B11): these paths, or all file sources and those added meanwhile. Ends when cancelled."""

        async def read(location: Path) -> None:
            tell(await self.add(location))

        watcher = Watcher(read, self.settings.catalog)
        chosen = await offload(lambda: [_located(path) for path in paths])
        known = [Path(source.location) for source in await self.sources() if Path(source.location).is_absolute() and not source.live]
        self._watcher = None if chosen else watcher
        try:
            for location in chosen or known:
                watcher.follow(location)
            await asyncio.Event().wait()
        finally:
            self._watcher = None
            await watcher.close()

    async def put(self, source: str, entities: Iterable[Entity], progress: Progress = lambda *_: None) -> IngestReport:
        """Make these entities everything that a source of this name brings."""
        report = await self._write(ingest, source, f"{IN_PYTHON}{source}", entities, self._store, self._sync, policy=self._policy)
        return await self._embedded(report, progress)

    async def held(self, principal: Principal = Principal()) -> list[Held]:
        """What is held back, why, and what changed in it (F06)."""
        return await offload(held_entries, self._store, principal)

    async def approve(self, *references: str, all_of: str | None = None, principal: Principal = Principal()) -> list[str]:
        """Let these entries be found and called again, as they are now; `all_of` names a server or source. Answers their ids."""
        return await self._write(decide, self._store, self._sync, references, all_of, principal, approve=True)

    async def reject(self, *references: str, all_of: str | None = None, principal: Principal = Principal()) -> list[str]:
        """Keep these entries back for good, as they are now: another change of theirs is held back for review again."""
        return await self._write(decide, self._store, self._sync, references, all_of, principal, approve=False)

    async def _embedded(self, report: IngestReport, progress: Progress) -> IngestReport:
        if self._embedder is not None:
            await self._write(self._keep_given, report.source, self._embedder.model, self._embedder.dimensions)
        report.embedded, report.excuse = await self._embed(progress)
        report.waiting = await self.waiting()
        report.revision = self._sync.snapshot.revision
        return report

    async def embed(self, progress: Progress = lambda *_: None) -> int:
        """Embed what has no vector yet, and answer how many texts that were. A model that fails leaves them for later: see `waiting`."""
        return (await self._embed(progress))[0]

    async def _embed(self, progress: Progress) -> tuple[int, str]:
        if self._embedder is None:
            return 0, ""
        model = self._embedder.model

        async def write(vectors: Mapping[str, Vector]) -> None:
            await self._write(self._keep_vectors, model, vectors)

        async with self._embedding:  # writes of others go in between two batches
            done, excuse = await embed_pending(self._store, self._embedder, write, progress)
            if self.settings.expansion and not excuse:
                excuse = await embed_concepts(self._store, self._embedder, write, progress)
        if done:
            await self._write(self._sync.settle)
        return done, excuse

    def _keep_given(self, source: str, model: str, dimensions: int) -> None:
        """C06: vectors that came with a file need not be made."""
        for vectors in indexfile.given(self._store, source, model, dimensions):
            self._keep_vectors(model, vectors)

    def _keep_vectors(self, model: str, vectors: Mapping[str, Vector]) -> None:
        self._store.add_embeddings(model, vectors)
        self._sync.catch_up()

    async def _write(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """One writer at a time. A caller who leaves does not free the place before its work is done: a thread cannot be stopped."""
        async with self._writing:
            running = asyncio.ensure_future(offload(work, *args, **kwargs))
            try:
                return await asyncio.shield(running)
            except asyncio.CancelledError:
                await asyncio.wait([running])
                raise

    async def keep_embedding(self) -> None:
        """Embed what waits, again and again: a serving process runs this behind the requests."""
        if self._embedder is not None:
            with contextlib.suppress(EmbedderError):
                await self._embedder.embed_query("warm up")  # C08: the first visitor should not wait for the model to load
        while True:
            try:
                if await self.waiting():
                    await self.embed()
            except Exception:
                _log.exception("Embedding behind the requests failed; it is tried again")
            await asyncio.sleep(RETRY_EMBEDDING)

    async def keep_refreshing(self) -> None:
        """Ask live servers again and again: a serving process runs this behind the requests, so that who recovers is found to have."""
        while self.settings.refresh_minutes:
            try:
                await self.refresh()
            except Exception:
                _log.exception("Asking live servers failed; it is tried again")
            await asyncio.sleep(self.settings.refresh_minutes * 60)

    async def waiting(self) -> int:
        """How many texts have no vector yet, concepts included where they are wanted (B06)."""
        if self._embedder is None:
            return 0
        texts = await offload(self._store.count_pending, self._embedder.model)
        return texts + (len(await offload(pending_concepts, self._store, self._embedder.model)) if self.settings.expansion else 0)

    async def sources(self) -> list[SourceRecord]:
        """Where the entries come from."""
        return await offload(self._store.sources)

    async def check(self) -> list[str]:
        """Where the index differs from the truth: empty when all is well."""
        return await self._write(self._sync.differences)

    async def rebuild(self) -> None:
        """Build the search index anew from the truth."""
        await self._write(self._sync.rebuild)

    async def quiet(self) -> None:
        """Wait until nobody writes."""
        async with self._writing:
            pass


def _located(path: Path | str) -> Path:
    return Path(path).expanduser().resolve()
