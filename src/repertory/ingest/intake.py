"""What do sources bring in?

Files, addresses, servers and entries of a program are read, and what is held back of them is reviewed; whoever watches them keeps the
catalog as they are. Each write takes its turn (`writer`).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from repertory.embedders.base import Embedder
from repertory.errors import Conflict, InvalidRequest, NotFound, SourceError
from repertory.indexes.sync import Sync
from repertory.ingest.attend import Attendant
from repertory.ingest.bundled import bundle_at, ingest_bundle
from repertory.ingest.change import Change
from repertory.ingest.live import Round, config_at, due, open_config, spec_at, take_in, take_in_at, together
from repertory.ingest.report import IngestReport, Progress
from repertory.ingest.review import Held, decide, held_entries
from repertory.ingest.run import fetch, forget, ingest, ingest_feed, ingest_history, ingest_path
from repertory.ingest.screen import Policy
from repertory.ingest.watch import Watcher
from repertory.ingest.writer import Writer
from repertory.model import Entity, Principal
from repertory.offload import offload
from repertory.settings import Settings
from repertory.sources.mcp import Outcome, Unreachable, contact, contact_all
from repertory.sources.serverspec import Identify, ServerSpec, nobody
from repertory.sources.web import clean, is_address
from repertory.store import Event, SourceRecord, Store
from repertory.telemetry import measured

_log = logging.getLogger(__name__)

IN_PYTHON = "python:"  # opens the location of a source that is no file


class Intake(Writer):
    """All that sources bring into one open catalog."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        sync: Sync,
        embedder: Embedder | None,
        change: Change | None = None,
        identify: Identify = nobody,
    ) -> None:
        super().__init__(settings, store, sync, embedder, change)
        self._identify = identify  # what servers know us by when they are asked what they offer
        self._policy = Policy.of(settings)
        self._watcher: Watcher | None = None  # follows every file source while there is one
        self._attendant: Attendant | None = None  # attends to live servers while there is one

    async def add(
        self,
        where: Path | str,
        progress: Progress = lambda *_: None,
        *,
        commits: int | None = None,
        dry_run: bool = False,
        embed: bool = True,
        by: Principal = Principal(),
    ) -> IngestReport:
        """Read a file, a folder, a bundle, the servers of a config, or what is at an http(s) address into the catalog; embed what is new.

        With `commits`, read so many of the newest commits of the git repository that is there instead. A dry run of files writes nothing
        and tells what would happen. Without `embed`, words alone find what is new until the next run or a serving process embeds it (C08).
        The audit log says by whom it was done.
        """
        with measured("index"):
            report = await self._add(where, progress, commits, dry_run, embed)
        if not dry_run:
            told = {"added": report.added, "changed": report.changed, "removed": report.removed, "problems": len(report.problems)}
            await offload(self._store.record, by.name, "source.add", report.source, told)
        return report

    async def _add(self, where: Path | str, progress: Progress, commits: int | None, dry_run: bool, embed: bool) -> IngestReport:
        config = None if commits is not None or is_address(where) else await offload(config_at, Path(where))
        if dry_run and (commits is not None or is_address(where) or config is not None):
            raise InvalidRequest("Only files and folders can be tried with a dry run.")
        if commits is not None:
            if is_address(where) or commits < 1:
                raise InvalidRequest("A git history is read from a folder on this machine, and at least one commit of it.")
            report = await self._write(ingest_history, Path(where), commits, self._store, self._sync)
        elif is_address(where):
            report = await self._add_address(str(where), progress)
        elif config is not None:
            servers = await self._write(open_config, config, self._store, self._sync)
            report = together(config.name, await self._ask(servers, progress))
        elif (bundle := await offload(bundle_at, Path(where))) is not None:
            model = self._embedder.model if self._embedder else None
            report = await self._write(ingest_bundle, bundle, model, self._store, self._sync, dry_run=dry_run)
            if dry_run:
                return report
        else:
            report = await self._write(ingest_path, Path(where), self._store, self._sync, progress, policy=self._policy, dry_run=dry_run)
            if dry_run:
                return report
            if self._watcher is not None:
                self._watcher.follow(await offload(_located, where))
        return await self._embedded(report, progress, embed=embed)

    async def _add_address(self, address: str, progress: Progress) -> IngestReport:
        """A registry, a card, or else an MCP server itself: which it is shows when it is asked. Others may write while we wait."""
        location = clean(address)
        if known := [source for source in await self.sources() if source.live and source.location == location]:
            return together(known[0].name, await self._ask(await self._write(due, known, self._store, self._sync), progress))
        try:
            feed = await offload(fetch, address, self._store, progress)
        except SourceError as reason:
            if not reason.absent:
                raise
            try:
                offer = await contact(spec_at(location), identify=self._identify)
            except Unreachable as error:
                raise SourceError(f"{reason} No MCP server answers there either: {error}.") from None
            return await self._write(take_in_at, location, offer, self._store, self._sync, self._policy)
        return await self._write(ingest_feed, feed, self._store, self._sync, self._policy)

    async def source(self, name: str) -> SourceRecord:
        """One source. Raises `NotFound`."""
        found = next((source for source in await self.sources() if source.name == name), None)
        if found is None:
            raise NotFound(f"There is no source {name!r}.")
        return found

    async def reread(self, source: SourceRecord, progress: Progress = lambda *_: None) -> IngestReport:
        """Read one source again."""
        if source.live:
            return await self.refresh([source.name], progress)
        if not is_address(source.location) and not Path(source.location).is_absolute():
            raise Conflict(
                f"{source.location} is no file and no address: whoever brought the entries of {source.name!r} must bring them again."
            )
        return await self.add(source.location, progress)

    async def forget(self, source: SourceRecord, who: str = "owner") -> None:
        """Take the entries of a source out, with what was decided about them, and the source itself."""
        await self._write(forget, source, Event(who, "source.remove", source.name, {"location": source.location}), self._store, self._sync)

    async def refresh(self, names: Collection[str] | None = None, progress: Progress = lambda *_: None) -> IngestReport:
        """Ask live servers again, all or those named; those that fail keep their entries and are marked broken."""
        known = [source for source in await self.sources() if source.live]
        if self._attendant is not None:
            self._attendant.keep([source.name for source in known])
        live = [source for source in known if names is None or source.name in names]
        report = together("live servers", await self._ask(await self._write(due, live, self._store, self._sync), progress))
        return await self._embedded(report, progress)

    async def _ask(self, wanted: Round, progress: Progress) -> list[IngestReport]:
        """Contact servers; each is written as soon as it has answered, and others write meanwhile."""
        locations = {asked.spec.name: asked for asked in wanted.asked}
        reports = list(wanted.reports)

        async def told(spec: ServerSpec, outcome: Outcome) -> None:
            reports.append(await self._write(take_in, locations[spec.name], outcome, self._store, self._sync, self._policy))
            if self._attendant is not None:
                self._attendant.told(spec, outcome)
            progress("Asking", len(reports) - len(wanted.reports), len(locations))

        progress("Asking", 0, len(locations))
        await contact_all((asked.spec for asked in wanted.asked), told, self._identify)
        return sorted(reports, key=lambda report: report.source)

    async def watch(self, paths: Iterable[Path | str] = (), tell: Callable[[IngestReport], None] = lambda _: None) -> None:
        """Keep the catalog as its files are (B11): these paths, or all file sources and those added meanwhile. Ends when cancelled."""

        async def read(location: Path) -> None:
            tell(await self._add(location, lambda *_: None, None, False, True))

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

    async def put(
        self, source: str, entities: Iterable[Entity], progress: Progress = lambda *_: None, *, embed: bool = True
    ) -> IngestReport:
        """Make these entities everything that a source of this name brings."""
        report = await self._write(ingest, source, f"{IN_PYTHON}{source}", entities, self._store, self._sync, policy=self._policy)
        return await self._embedded(report, progress, embed=embed)

    async def held(self, principal: Principal = Principal()) -> list[Held]:
        """What is held back, why, and what changed in it (F06)."""
        return await offload(held_entries, self._store, principal)

    async def approve(self, *references: str, all_of: str | None = None, principal: Principal = Principal()) -> list[str]:
        """Let these entries be found and called again, as they are now; `all_of` names a server or source. Answers their ids."""
        return await self._write(decide, self._store, self._sync, references, all_of, principal, approve=True)

    async def reject(self, *references: str, all_of: str | None = None, principal: Principal = Principal()) -> list[str]:
        """Keep these entries back for good, as they are now: another change of theirs is held back for review again."""
        return await self._write(decide, self._store, self._sync, references, all_of, principal, approve=False)

    async def keep_refreshing(self) -> None:
        """Ask live servers again and again, and those that change in between: a serving process runs this behind the requests."""
        turn = self.settings.refresh_minutes * 60
        if not turn:
            return
        async with Attendant(self.refresh, turn) as attendant:
            self._attendant = attendant
            try:
                while True:
                    try:
                        await self.refresh()
                    except Exception:
                        _log.exception("Asking live servers failed; it is tried again")
                    await asyncio.sleep(turn)
            finally:
                self._attendant = None

    async def sources(self) -> list[SourceRecord]:
        """Where the entries come from."""
        return await offload(self._store.sources)


def _located(path: Path | str) -> Path:
    return Path(path).expanduser().resolve()
