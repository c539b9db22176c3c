"""How does one change become one transaction?

Every write moves the revision, and every document that comes, changes or goes leaves a line in the outbox for the index.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ClauseElement, Column, Connection, Table, delete, func, insert, select, text, update

from repertory.embedders.base import Vector
from repertory.graph import derive as graph
from repertory.guard.company import look_of
from repertory.model import Bucket, Entity, Field, Kind
from repertory.store.records import Changes, Event, NewDocument, Override, Pin, SourceState
from repertory.store.schema import (
    audit,
    documents,
    edges,
    embeddings,
    entities,
    facts,
    grams,
    looks,
    outbox,
    overrides,
    pins,
    revisions,
    sources,
    statements,
    terms,
    words,
)

CHUNK = 500  # values in one IN list: below every database's limit


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
    _keep_vocabulary(connection, removed, changes.put_documents)
    _delete(connection, documents.c.number, removed)
    _delete(connection, entities.c.id, gone)
    _delete(connection, edges.c.origin, gone)
    _delete(connection, statements.c.owner, gone)
    _delete(connection, looks.c.entity_id, gone)
    _put_entities(connection, changes.put_entities, changes.source)
    added = _put_documents(connection, changes.put_documents)
    _announce(connection, removed=removed, put=added)
    _put_overrides(connection, changes.put_overrides)
    _put_pins(connection, changes.pins)
    note_events(connection, changes.events)
    return _revise(connection, changes.note)


def _put_overrides(connection: Connection, decided: Sequence[Override]) -> None:
    _delete(connection, overrides.c.entity_id, [one.entity_id for one in decided])
    rows = [
        {
            "entity_id": one.entity_id,
            "changes": json.dumps(dict(one.changes), ensure_ascii=False),
            "original": json.dumps(one.original.as_json(), ensure_ascii=False, default=str) if one.original else "",
        }
        for one in decided
        if one.changes or one.original
    ]
    _insert(connection, overrides, rows)


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
    _delete(connection, pins.c.entity_id, [pin.entity_id for pin in accepted])
    _insert(
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
    _insert(connection, embeddings, rows)
    if not announce:
        return {}
    found: dict[int, Vector] = {}
    for chunk in chunks(digests):
        owners = connection.execute(select(documents.c.number, documents.c.digest).where(documents.c.digest.in_(chunk)))
        found.update((number, vectors[digest]) for number, digest in owners)
    _announce(connection, removed=(), put=sorted(found))
    _revise(connection, f"embedded {len(vectors)} texts")
    return found


def prune_embeddings(connection: Connection, models: Collection[str], concepts: Collection[str]) -> int:
    """Forget the vectors of other models, and of texts that are neither in the catalog nor among these; answers how many."""
    gone = connection.execute(delete(embeddings).where(embeddings.c.model.not_in(models))).rowcount
    texts = select(documents.c.digest).where(documents.c.digest == embeddings.c.digest).exists()
    unused = [digest for digest in connection.execute(select(embeddings.c.digest).where(~texts)).scalars() if digest not in concepts]
    _delete(connection, embeddings.c.digest, unused)
    return gone + len(unused)


def _put_entities(connection: Connection, changed: Sequence[tuple[Entity, str]], source: str) -> None:
    ids = [entity.id for entity, _ in changed]
    positions: dict[str, int] = {}
    owners: dict[str, str] = {}  # an entry stays with the source that brought it, whoever writes it again
    for chunk in chunks(ids):
        for row in connection.execute(select(entities.c.id, entities.c.position, entities.c.source).where(entities.c.id.in_(chunk))):
            positions[row.id], owners[row.id] = row.position, row.source
    last = connection.execute(select(func.max(entities.c.position))).scalar() or 0
    _delete(connection, entities.c.id, ids)
    _delete(connection, looks.c.entity_id, ids)
    _insert(connection, looks, [look_of(entity)._asdict() for entity, _ in changed if entity.kind is Kind.TOOL])
    _delete(connection, edges.c.origin, ids)
    _delete(connection, statements.c.owner, ids)
    rows: list[dict[str, Any]] = []
    for entity, digest in changed:
        if entity.id not in positions:
            last += 1
            positions[entity.id] = last
        rows.append(
            {
                "id": entity.id,
                "position": positions[entity.id],
                "kind": entity.kind.value,
                "name": entity.name,
                "bucket": Bucket.of(entity).key,
                "source": owners.get(entity.id, source),
                "provenance": entity.provenance,
                "digest": digest,
                "data": json.dumps(entity.as_json(), ensure_ascii=False, default=str),
                "modified": entity.modified.isoformat() if entity.modified else None,
            }
        )
    _insert(connection, entities, rows)
    put_edges(connection, [entity for entity, _ in changed])


def put_edges(connection: Connection, changed: Sequence[Entity]) -> None:
    """E03: what each entity declares, what follows from it, and what it states of others."""
    owned = [(entity.id, *link) for entity in changed for link in dict.fromkeys((*graph.declared(entity), *graph.derive(entity)))]
    stated = [{"owner": entity.id, **edge._asdict()} for entity in changed for edge in graph.statements(entity)]
    _many(connection, insert(edges), [column.name for column in edges.columns], owned)  # as `Link` has it: target, then relation
    _insert(connection, statements, stated)


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
    _insert(connection, documents, rows)
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


def _keep_vocabulary(connection: Connection, removed: Sequence[int], added: Sequence[NewDocument]) -> None:
    """What leaves counts less, what comes counts more."""
    gone = _vocabulary_of(connection, removed)
    by_term = _counted(new.terms for new in added)
    by_term.subtract(_counted(np.frombuffer(row.terms, "<u4") for row in gone))
    by_gram = _counted(new.grams for new in added)
    by_gram.subtract(_counted(np.frombuffer(row.grams, "<u4") for row in gone))
    by_word = Counter(chain.from_iterable(new.words for new in added))
    by_word.subtract(chain.from_iterable(row.words.split() for row in gone))
    count(connection, terms.c.dimension, by_term)
    count(connection, grams.c.dimension, by_gram)
    count(connection, words.c.word, by_word)


def _vocabulary_of(connection: Connection, numbers: Sequence[int]) -> list[Any]:
    wanted = select(documents.c.terms, documents.c.grams, documents.c.words)
    return [row for chunk in chunks(numbers) for row in connection.execute(wanted.where(documents.c.number.in_(chunk)))]


def _counted(several: Iterable[NDArray[np.uint32]]) -> Counter[int]:
    found, times = np.unique(np.concatenate([np.empty(0, np.uint32), *several]), return_counts=True)
    return Counter(dict(zip(found.tolist(), times.tolist(), strict=True)))


def count(connection: Connection, key: Column[Any], change: Mapping[Any, int]) -> None:
    """Add to the documents of each key; a key that no document has any more is gone."""
    table, name = key.table.name, key.name
    add = f"""INSERT INTO {table} ({name}, documents) VALUES (:key, :by)
              ON CONFLICT ({name}) DO UPDATE SET documents = {table}.documents + excluded.documents"""  # noqa: S608 - names of ours
    _many(connection, text(add), ("key", "by"), [(value, by) for value, by in change.items() if by])
    for chunk in chunks([value for value, by in change.items() if by < 0]):
        connection.execute(delete(key.table).where(key.in_(chunk), key.table.c.documents <= 0))


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
        _revise(connection, f"{name} {'broke' if error else 'recovered'}")
    return changed


def _announce(connection: Connection, *, removed: Iterable[int], put: Iterable[int]) -> None:
    lines = [(number, True) for number in removed] + [(number, False) for number in put]
    positions = _take(connection, "position", len(lines))
    rows = [{"position": p, "number": n, "removed": gone} for p, (n, gone) in zip(positions, lines, strict=True)]
    _insert(connection, outbox, rows)


def _revise(connection: Connection, note: str) -> int:
    (revision,) = _take(connection, "revision", 1)
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


def _insert(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    names = [column.name for column in table.columns]
    _many(connection, insert(table), names, list(map(itemgetter(*names), rows)))


def _many(connection: Connection, statement: ClauseElement, names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
    """One statement for many rows, straight to the driver: SQLAlchemy's way of binding takes longer than writing them."""
    if rows:
        compiled = statement.compile(dialect=connection.dialect)
        bound: Sequence[Any] = rows if connection.dialect.positional else [dict(zip(names, row, strict=True)) for row in rows]
        connection.exec_driver_sql(str(compiled), bound)


def _delete(connection: Connection, column: Any, values: Sequence[Any]) -> None:
    for chunk in chunks(values):
        connection.execute(delete(column.table).where(column.in_(chunk)))


def chunks(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Lists that fit into one IN."""
    for start in range(0, len(items), CHUNK):
        yield items[start : start + CHUNK]
