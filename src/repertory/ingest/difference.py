"""What of a source is new or changed?

Entities are compared with the store by digest, then their documents by signature: what is the same is neither worked out nor written again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from repertory.indexes.read import Reading, read
from repertory.indexes.sync import Written
from repertory.ingest.offers import guard
from repertory.ingest.prepare import Prepared, prepare
from repertory.ingest.project import VERSION
from repertory.ingest.report import IngestReport
from repertory.model import Document, Entity, content_digest
from repertory.sources.base import Problem
from repertory.store import Changes, NewDocument, Store

BATCH = 1000  # entities in one transaction

Known = Mapping[str, tuple[str, str]]  # what a source brought last time: the digest and the file of each entity


@dataclass(frozen=True, slots=True)
class Batch:
    """Some entities of a source, and what they change."""

    came: list[Entity]
    ours: list[Entity]  # without those of another source
    changes: Changes

    @property
    def changed(self) -> list[Entity]:
        """Those that are new, or not what they were."""
        return [entity for entity, _ in self.changes.put_entities]


def batches(entities: Iterable[Entity], source: str, mark: str, known: Known, store: Store, report: IngestReport) -> Iterator[Batch]:
    """Entities in their order, so many at a time as one transaction takes, compared with what is known."""
    for came in _portions(entities):
        batch = Batch(came, list(_unowned(came, known, store, report)), Changes(f"add {source}", source))
        for entity in batch.ours:
            compare(entity, mark, known, batch.changes, report)
        yield batch


def _portions(entities: Iterable[Entity]) -> Iterator[list[Entity]]:
    portion: list[Entity] = []
    for entity in entities:
        portion.append(entity)
        if len(portion) == BATCH:
            yield portion
            portion = []
    if portion:
        yield portion


def _unowned(came: Sequence[Entity], known: Known, store: Store, report: IngestReport) -> Iterator[Entity]:
    """An entry belongs to the source that brought it first: another source does not take it over unasked."""
    owners = store.owners([entity.id for entity in came if entity.id not in known])
    for entity in came:
        if entity.id in owners:
            message = f"{entity.id} already comes from the source {owners[entity.id]!r}; this one is left out."
            report.problems.append(Problem(entity.provenance, message))
        else:
            yield entity


def compare(entity: Entity, mark: str, known: Known, changes: Changes, report: IngestReport) -> None:
    """Note an entity among the changes if it is one. The mark is part of every digest: under another, all are looked at anew."""
    entity = replace(entity, held="", findings=()) if entity.held or entity.findings else entity  # ours to say, not the source's
    digest = content_digest([VERSION, mark, entity.as_json()])
    before = known.get(entity.id)
    if before is None:
        report.added += 1
    elif before[0] == digest:
        report.unchanged += 1
        return
    else:
        report.changed += 1
    changes.put_entities.append((entity, digest))


def diff_documents(changes: Changes, store: Store, prepared: Mapping[str, Prepared]) -> Written:
    """Of the entities that changed, only the documents that changed; answers what was read in them, which the index needs too."""
    guard(changes, store)
    stored = store.signatures([entity.id for entity, _ in changes.put_entities])
    changed: list[tuple[Document, str]] = []
    readings: list[Reading | None] = []
    for one in _as_they_are(changes, prepared):
        changes.links[one.entity.id] = one.links
        if one.look:
            changes.looks[one.entity.id] = one.look
        for position, (document, signature) in enumerate(one.documents):
            if stored.pop(document.id, "") != signature:
                changed.append((document, signature))
                readings.append(one.readings[position] if one.readings else None)
    changes.remove_documents += stored
    unread = read(document.fields for (document, _), reading in zip(changed, readings, strict=True) if reading is None)
    every = [(document, signature, reading or next(unread)) for (document, signature), reading in zip(changed, readings, strict=True)]
    changes.put_documents += (_new_document(*one) for one in every)
    return {document.id: (document, reading) for document, _, reading in every}


def _as_they_are(changes: Changes, prepared: Mapping[str, Prepared]) -> Iterator[Prepared]:
    """What follows from the entities as they are written now, which may not be what they were when it was prepared."""
    for entity, _ in changes.put_entities:
        before = prepared.get(entity.id)
        yield before if before is not None and before.is_of(entity) else prepare([entity], inspected=False)[0]


def _new_document(document: Document, signature: str, reading: Reading) -> NewDocument:
    length = float(reading.terms.values.sum())
    return NewDocument(document, signature, length, reading.short_names, reading.terms.dimensions, reading.grams.dimensions, reading.plain)


def said(written: Iterable[NewDocument], known: Mapping[str, object]) -> Iterable[str]:
    """The texts of each new entity, as one digest: what moves says the same under another path, and keeps its vectors."""
    texts: dict[str, str] = {}
    for new in written if known else ():  # a source that had nothing has nothing to move
        if new.document.entity_id not in known:
            texts[new.document.entity_id] = texts.get(new.document.entity_id, "") + new.document.digest
    return texts.values()
