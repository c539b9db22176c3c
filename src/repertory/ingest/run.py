"""What changed in a source, and how is it written?

A source is read, each entity compared with what the store has by digest, and the difference written in batches, each one transaction.
Nothing is embedded here: documents are found by their words at once, and `embed` follows.
"""

from __future__ import annotations

import gc
import json
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain, count
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from repertory.errors import InvalidRequest, SourceError
from repertory.indexes.sync import Sync, Written
from repertory.ingest.ahead import ahead
from repertory.ingest.difference import batches, compare, diff_documents, said
from repertory.ingest.override import decide
from repertory.ingest.prepare import Prepared, prepare
from repertory.ingest.project import VERSION
from repertory.ingest.report import IngestReport, Progress
from repertory.ingest.screen import DEFAULT, Policy, screen
from repertory.model import Entity
from repertory.sources import folder, history
from repertory.sources.base import Gone, Problem
from repertory.sources.content import storable
from repertory.sources.feed import Feed, read_feed
from repertory.sources.web import Web, is_address
from repertory.store import Changes, Event, Override, SourceRecord, Store


def ingest_path(
    path: Path, store: Store, sync: Sync, progress: Progress, *, policy: Policy = DEFAULT, dry_run: bool = False
) -> IngestReport:
    """Read a file or folder into the catalog; what it no longer holds leaves it. A dry run only tells what would happen."""
    location = path.expanduser().resolve()
    name = source_name(str(location), location.stem if location.is_file() else location.name or "root", store)
    items = folder.read_path(location, name, lambda done, total: progress("Reading", done, total))
    found = items if store.digests(name) else _something(items, str(location))
    return ingest(name, str(location), found, store, sync, policy=policy, dry_run=dry_run)


def ingest_history(path: Path, commits: int, store: Store, sync: Sync) -> IngestReport:
    """Read the newest commits of a git repository into the catalog; older ones leave it."""
    top = history.top_of(path.expanduser().resolve())
    location = f"git:{storable(str(top))}"  # the same folder may be a source of files, too
    name = source_name(location, f"{storable(top.name.removesuffix('.git') or 'root')}@git", store)
    return ingest(name, location, history.read_history(top, commits), store, sync)


def fetch(address: str, store: Store, progress: Progress) -> Feed:
    """What an address has to tell since last time; nothing is written."""
    known = {source.location: source.name for source in store.sources()}

    def mark_of(location: str) -> str | None:
        if location not in known:
            return None
        version, mark = json.loads(store.mark(known[location]) or '[0, ""]')
        return str(mark) if version == VERSION else ""  # entries are to be made anew: then all of them are needed

    with Web() as web:
        return read_feed(address, mark_of, web, lambda done, total: progress("Reading", done, total))


def ingest_feed(feed: Feed, store: Store, sync: Sync, policy: Policy = DEFAULT) -> IngestReport:
    """Write what an address told, and remember what to come back with."""
    parts = urlsplit(feed.location)
    name = source_name(feed.location, parts.netloc, store)
    items = feed.items if store.digests(name) else _something(feed.items, feed.location)
    report = ingest(name, feed.location, items, store, sync, policy=policy, complete=feed.complete)
    if feed.mark or feed.complete:
        store.put_mark(name, json.dumps([VERSION, feed.mark]))
    return report


def ingest(
    name: str,
    location: str,
    items: Iterable[Entity | Problem | Gone],
    store: Store,
    sync: Sync,
    *,
    policy: Policy = DEFAULT,
    complete: bool = True,
    live: bool = False,
    dry_run: bool = False,
    events: Sequence[Event] = (),
) -> IngestReport:
    """Make a source's entries in the catalog what `items` says they are; where they are not complete, what they do not tell of stays."""
    report = IngestReport(name, dry_run=dry_run)
    taken = {source.name: source.location for source in store.sources()}.get(name, location)
    if taken != location:
        raise InvalidRequest(f"{name!r} is the name of another source, {taken}. Choose another name.")
    known = store.digests(name)
    provenance: dict[str, str] = {}
    unread: set[str] = set()
    withdrawn: set[str] = set()
    came: Counter[str] = Counter()  # what new entities say
    overrides, originals = store.overrides(), dict[str, Entity]()
    noted = list(events)  # for the audit log, with the first write
    brought = _decided(_unique(items, provenance, unread, withdrawn, report), overrides, originals)
    compared = batches(brought, name, policy.mark, known, store, report)
    with _collecting_little() as collect:
        for position, (batch, several) in enumerate(ahead(compared, inspected=policy.guard != "off")):
            if position == 0 and not dry_run:
                store.put_source(name, location, live=live)  # before its first entry: a run that is killed must not leave entries of nobody
            changes, prepared = batch.changes, {one.entity.id: one for one in several}
            changes.put_overrides += _kept_apart([entity.id for entity in batch.ours], overrides, originals, store)
            report.tell(screen(batch.came, changes, prepared, store, policy, foreign=live or is_address(location)))
            written = diff_documents(changes, store, prepared)
            came.update(said(changes.put_documents, known))
            _write(changes, written, store, sync, report, noted)
            collect()
    # What a file held stays when the file could not be read this time: a typing error must not empty the catalog.
    gone = [
        entity_id
        for entity_id, (_, file) in known.items()
        if entity_id not in provenance and (entity_id in withdrawn or (complete and not _is_under(file, unread)))
    ]
    report.moved = (came & Counter(store.texts(gone).values())).total()
    report.added -= report.moved
    report.removed = len(gone) - report.moved
    if not complete:
        report.unchanged = len(known) - report.changed - len(gone)
    _write(Changes(f"add {name}", name, remove_entities=gone), {}, store, sync, report, noted)
    if dry_run:
        return report
    sync.settle()
    store.put_source(name, location, live=live)
    if store.mark_source(name, problems=len(report.problems)):
        sync.catch_up()
    return report


def _something(items: Iterable[Entity | Problem | Gone], location: str) -> Iterator[Entity | Problem | Gone]:
    """A new source must bring something; one that is known may have become empty."""
    empty = True
    for item in items:
        empty = False
        yield item
    if empty:
        raise SourceError(f"Nothing to add in {location}: no tool file, agent card, server.json, SKILL.md or Markdown file is there.")


def source_name(location: str, wished: str, store: Store) -> str:
    """The name a location already has, or a new one like the one wished for."""
    taken = {source.name: source.location for source in store.sources()}
    for name, known in taken.items():
        if known == location:
            return name
    return next(name for name in chain([wished], (f"{wished}-{n}" for n in count(2))) if name not in taken)


def _is_under(file: str, places: Collection[str]) -> bool:
    """Whether a file or address is one of these places, or below one."""
    end = len(file)
    while end > 0:
        if file[:end] in places:
            return True
        end = max(file.rfind("/", 0, end), file.rfind(os.sep, 0, end))
    return False


def _unique(
    items: Iterable[Entity | Problem | Gone],
    provenance: dict[str, str],
    unread: set[str],
    withdrawn: set[str],
    report: IngestReport,
) -> Iterator[Entity]:
    for item in items:
        if isinstance(item, Gone):
            withdrawn.add(item.id)
        elif isinstance(item, Problem):
            report.problems.append(item)
            unread.add(item.file)
        elif item.id in provenance:
            message = f"{item.id} is already in {provenance[item.id]}; this one is left out. Rename one of them."
            report.problems.append(Problem(item.provenance, message))
        else:
            provenance[item.id] = item.provenance
            yield item


def apply(changes: Changes, store: Store, sync: Sync, prepared: Mapping[str, Prepared] = MappingProxyType({})) -> None:
    """Write changes of entries that are known already."""
    written = diff_documents(changes, store, prepared)
    store.write(changes)
    sync.catch_up(written)
    sync.settle()


def forget(source: SourceRecord, event: Event, store: Store, sync: Sync) -> None:
    """Take a source out of the catalog, with its entries and what was decided about them."""
    ids = list(store.digests(source.name))
    decided = store.overrides().keys() | store.originals(ids).keys()
    forgotten = [Override(one, {}, None) for one in ids if one in decided]
    store.write(Changes(f"forget {source.name}", source.name, remove_entities=ids, put_overrides=forgotten, events=[event]))
    store.drop_source(source.name)
    sync.catch_up()
    sync.settle()


def rewrite(changes: Changes, entities: Iterable[Entity], store: Store, sync: Sync, policy: Policy = DEFAULT) -> None:
    """Write what is different of these entities of one source, with the changes that go with it."""
    known, family = store.digests(changes.source), list(entities)
    for entity in family:
        compare(entity, policy.mark, known, changes, IngestReport(changes.source))
    source = next((source for source in store.sources() if source.name == changes.source), None)
    prepared = {one.entity.id: one for one in prepare((entity for entity, _ in changes.put_entities), inspected=policy.guard != "off")}
    screen(family, changes, prepared, store, policy, foreign=source is not None and (source.live or is_address(source.location)))
    apply(changes, store, sync, prepared)


def _decided(brought: Iterator[Entity], overrides: Mapping[str, Mapping[str, Any]], originals: dict[str, Entity]) -> Iterator[Entity]:
    """Each entity as it was decided about; what its source says instead is noted."""
    if not overrides:
        yield from brought
        return
    for after, before in decide(brought, overrides).values():
        if after != before:
            originals[before.id] = before
        yield after


def _kept_apart(
    ids: Sequence[str], overrides: Mapping[str, Mapping[str, Any]], originals: Mapping[str, Entity], store: Store
) -> Iterator[Override]:
    """What is to be noted anew of what sources say."""
    stored = store.originals(ids)
    for entity_id in ids:
        if stored.get(entity_id) != originals.get(entity_id):
            yield Override(entity_id, overrides.get(entity_id, {}), originals.get(entity_id))


def _write(changes: Changes, written: Written, store: Store, sync: Sync, report: IngestReport, events: list[Event]) -> None:
    report.documents += len(changes.put_documents)
    if changes and not report.dry_run:
        changes.events += events
        events.clear()
        store.write(changes)
        sync.catch_up(written)


@contextmanager
def _collecting_little() -> Iterator[Callable[[], object]]:
    """Without the garbage collector but where it is called: a batch is a million objects, all needed until it is written, and looking
    through them and all others again and again took a fifth. Called, it looks through what is new."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield partial(gc.collect, 0) if collects else int
    finally:
        if collects:
            gc.enable()
