"""How does one change become one transaction?

Every write moves the revision, and every document that comes, changes or goes leaves a line in the outbox for the index.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import numpy as np
from sqlalchemy import Connection, delete, func, insert, select, update

from repertory.embedders.base import Vector
from repertory.graph import derive as graph
from repertory.guard.company import look_of
from repertory.model import Bucket, Entity, Field, Kind, Link
from repertory.store.records import Changes, Event, NewDocument, Override, Pin, SourceState
from repertory.store.rows import chunks, delete_rows, execute_many, insert_rows
from repertory.store.schema import (
    audit,
    documents,
    edges,
    embeddings,
    entities,
    facts,
    looks,
    outbox,
    overrides,
    pins,
    revisions,
    sources,
    statements,
)
from repertory.store.vocabulary import keep_vocabulary

CHANNEL = "repertory"  # of PostgreSQL, on which processes hear of each other


def counter(connection: Connection, name: str) -> int:
    """The last value given out by a counter."""
    value = connection.execute(select(facts.c.value).where(facts.c.name == name)).scalar()
    return int(value) if value is not None else 0


def apply(connection: Connection, changes: Changes) -> int:
    """Apply changes and answer the new revision."""
    gone = [*changes.remove_entities]
    removed = _documents_of(connection, gone)
    replaced = changes.remove_documents + [new.document.id for new in changes.put_documents]
    removed += _numbers(connection, replaced)
    keep_vocabulary(connection, removed, changes.put_documents)
    delete_rows(connection, documents.c.number, removed)
    _delete_entities(connection, gone)
    _put_entities(connection, changes)
    added = _put_documents(connection, changes.put_documents)
    _announce(connection, removed=removed, put=added)
    _put_overrides(connection, changes.put_overrides)
    _put_pins(connection, changes.pins)
    note_events(connection, changes.events)
    return revise(connection, changes.note)


def _put_overrides(connection: Connection, decided: Sequence[Override]) -> None:
    delete_rows(connection, overrides.c.entity_id, [one.entity_id for one in decided])
    rows = [
        {
            "entity_id": one.entity_id,
            "changes": json.dumps(dict(one.changes), ensure_ascii=False),
            "original": json.dumps(one.original.as_json(), ensure_ascii=False, default=str) if one.original else "",
        }
        for one in decided
        if one.changes or one.original
    ]
    insert_rows(connection, overrides, rows)


def note_events(connection: Connection, events: Iterable[Event]) -> None:
    """Write into the audit log."""
    at = datetime.now(UTC).isoformat(timespec="seconds")
    rows = [
        {"at": at, "who": one.who, "action": one.action, "target": one.target, "detail": json.dumps(dict(one.detail), default=str)}
        for one in events
    ]
    if rows:
        connection.execute(insert(audit), rows)


def _put_pins(connection: Connection, accepted: Sequence[Pin]) -> None:
    at = datetime.now(UTC).isoformat(timespec="seconds")
    delete_rows(connection, pins.c.entity_id, [pin.entity_id for pin in accepted])
    insert_rows(
        connection,
        pins,
        [{**asdict(pin), "content": json.dumps(pin.content, ensure_ascii=False, default=str), "at": at} for pin in accepted],
    )


def add_embeddings(connection: Connection, model: str, vectors: Mapping[str, Vector], *, announce: bool) -> dict[int, Vector]:
    """Keep vectors; answers which documents have them now, after announcing them where somebody searches by this model."""
    digests = list(vectors)
    for chunk in chunks(digests):
        connection.execute(delete(embeddings).where(embeddings.c.model == model, embeddings.c.digest.in_(chunk)))
    rows = [
        {"model": model, "digest": digest, "vector": np.ascontiguousarray(vector, dtype="<f4").tobytes()}
        for digest, vector in vectors.items()
    ]
    insert_rows(connection, embeddings, rows)
    if not announce:
        return {}
    found: dict[int, Vector] = {}
    for chunk in chunks(digests):
        owners = connection.execute(select(documents.c.number, documents.c.digest).where(documents.c.digest.in_(chunk)))
        found.update((number, vectors[digest]) for number, digest in owners)
    _announce(connection, removed=(), put=sorted(found))
    revise(connection, f"embedded {len(vectors)} texts")
    return found


def prune_embeddings(connection: Connection, models: Collection[str], concepts: Collection[str]) -> int:
    """Forget the vectors of other models, and of texts that are neither in the catalog nor among these; answers how many."""
    gone = connection.execute(delete(embeddings).where(embeddings.c.model.not_in(models))).rowcount
    texts = select(documents.c.digest).where(documents.c.digest == embeddings.c.digest).exists()
    unused = [digest for digest in connection.execute(select(embeddings.c.digest).where(~texts)).scalars() if digest not in concepts]
    delete_rows(connection, embeddings.c.digest, unused)
    return gone + len(unused)


def _delete_entities(connection: Connection, ids: Sequence[str]) -> None:
    for column in (entities.c.id, edges.c.origin, statements.c.owner, looks.c.entity_id):
        delete_rows(connection, column, ids)


def _put_entities(connection: Connection, changes: Changes) -> None:
    changed = changes.put_entities
    ids = [entity.id for entity, _ in changed]
    positions: dict[str, int] = {}
    owners: dict[str, str] = {}  # an entry stays with the source that brought it, whoever writes it again
    for chunk in chunks(ids):
        for row in connection.execute(select(entities.c.id, entities.c.position, entities.c.source).where(entities.c.id.in_(chunk))):
            positions[row.id], owners[row.id] = row.position, row.source
    last = connection.execute(select(func.max(entities.c.position))).scalar() or 0
    _delete_entities(connection, list(positions))
    insert_rows(
        connection,
        looks,
        [(changes.looks.get(entity.id) or look_of(entity))._asdict() for entity, _ in changed if entity.kind is Kind.TOOL],
    )
    rows: list[dict[str, Any]] = []
    for entity_id, (entity, digest) in zip(ids, changed, strict=True):
        if entity_id not in positions:
            last += 1
            positions[entity_id] = last
        rows.append(
            {
                "id": entity_id,
                "position": positions[entity_id],
                "kind": entity.kind.value,
                "name": entity.name,
                "bucket": Bucket.of(entity).key,
                "source": owners.get(entity_id, changes.source),
                "provenance": entity.provenance,
                "digest": digest,
                "data": json.dumps(entity.as_json(), ensure_ascii=False, default=str),
                "modified": entity.modified.isoformat() if entity.modified else None,
            }
        )
    insert_rows(connection, entities, rows)
    put_edges(connection, [entity for entity, _ in changed], changes.links)


def put_edges(connection: Connection, changed: Sequence[Entity], links: Mapping[str, Sequence[Link]]) -> None:
    """E03: what each entity declares, what follows from it, and what it states of others. The links are those that are known already."""
    several = ((entity.id, links[entity.id] if entity.id in links else graph.owned(entity)) for entity in changed)
    owned = [(entity_id, *link) for entity_id, some in several for link in some]
    stated = [{"owner": entity.id, **edge._asdict()} for entity in changed for edge in graph.statements(entity)]
    execute_many(connection, insert(edges), [column.name for column in edges.columns], owned)  # as `Link` has it: target, then relation
    insert_rows(connection, statements, stated)


def _put_documents(connection: Connection, added: Sequence[NewDocument]) -> list[int]:
    numbers = _take(connection, "number", len(added))
    rows = [
        {
            "number": number,
            "id": new.document.id,
            "entity_id": new.document.entity_id,
            "bucket": new.document.bucket.key,
            "digest": new.document.digest,
            "signature": new.signature,
            "name": new.document.fields.get(Field.NAME, ""),
            "title": new.document.fields.get(Field.TITLE, ""),
            "anchor": new.document.anchor,
            "tags": json.dumps(new.document.tags, ensure_ascii=False),
            "fields": json.dumps(dict(new.document.fields), ensure_ascii=False),
            "text": new.document.text,
            "length": new.length,
            "short_names": " ".join(sorted(new.short_names)),
            "terms": new.terms.astype("<u4").tobytes(),
            "grams": new.grams.astype("<u4").tobytes(),
            "words": " ".join(sorted(new.words)),
        }
        for number, new in zip(numbers, added, strict=True)
    ]
    insert_rows(connection, documents, rows)
    return list(numbers)


def _documents_of(connection: Connection, entity_ids: Sequence[str]) -> list[int]:
    found: list[int] = []
    for chunk in chunks(entity_ids):
        found += connection.execute(select(documents.c.number).where(documents.c.entity_id.in_(chunk))).scalars()
    return found


def _numbers(connection: Connection, document_ids: Sequence[str]) -> list[int]:
    found: list[int] = []
    for chunk in chunks(document_ids):
        found += connection.execute(select(documents.c.number).where(documents.c.id.in_(chunk))).scalars()
    return found


def mark_source(connection: Connection, name: str, problems: int, error: str) -> bool:
    """How the reading of a source went, and whether it broke or recovered."""
    before = connection.execute(select(sources.c.state).where(sources.c.name == name)).scalar()
    now = datetime.now(UTC).isoformat(timespec="seconds")
    state = SourceState.BROKEN if error else SourceState.OK
    went: dict[str, Any] = {"state": state, "error": error, "attempted": now}
    if not error:
        went |= {"succeeded": now, "problems": problems}
    connection.execute(update(sources).where(sources.c.name == name).values(went))
    changed = (state is SourceState.BROKEN) != (before == SourceState.BROKEN)
    if changed:
        revise(connection, f"{name} {'broke' if error else 'recovered'}")
    return changed


def _announce(connection: Connection, *, removed: Iterable[int], put: Iterable[int]) -> None:
    lines = [(number, True) for number in removed] + [(number, False) for number in put]
    positions = _take(connection, "position", len(lines))
    rows = [{"position": p, "number": n, "removed": gone} for p, (n, gone) in zip(positions, lines, strict=True)]
    insert_rows(connection, outbox, rows)


def tell_others(connection: Connection) -> None:
    """Where other processes share the database, let them look when this is written."""
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_notify(CHANNEL, "")))


def revise(connection: Connection, note: str) -> int:
    """Move the revision, and answer it."""
    (revision,) = _take(connection, "revision", 1)
    tell_others(connection)
    connection.execute(insert(revisions).values(revision=revision, at=datetime.now(UTC).isoformat(timespec="seconds"), note=note))
    return revision


def _take(connection: Connection, name: str, count: int) -> range:
    """The next values of a counter."""
    last = counter(connection, name)
    if count:
        value = str(last + count)
        changed = connection.execute(update(facts).where(facts.c.name == name).values(value=value))
        if not changed.rowcount:
            connection.execute(insert(facts).values(name=name, value=value))
    return range(last + 1, last + count + 1)
