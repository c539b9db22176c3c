"""How is the truth read and written?

`Store` is the only door to the database. Calls block (callers offload them); writes are one transaction each and durable when they return.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import BindParameter, Engine, Row, Select, bindparam, create_engine, event, func, insert, select
from sqlalchemy.exc import DatabaseError

from repertory.embedders.base import Vector
from repertory.errors import CatalogError, CatalogFormat
from repertory.graph.derive import MAY_USE, is_node
from repertory.model import Bucket, Document, Edge, Entity, Field, Filter, Kind, content_digest
from repertory.store import graph, write
from repertory.store.migrate import migrate
from repertory.store.records import Changes, DocumentRecord, Reference, Snapshot, SourceRecord, SourceState
from repertory.store.schema import (
    FORMAT,
    documents,
    embeddings,
    entities,
    facts,
    marks,
    metadata,
    outbox,
    sources,
    words,
)

CONCEPT_DOCUMENTS = 2  # a word of one document leads to that document alone
CONCEPTS = 5000  # the most frequent: half a minute of the bundled model, and 8 MB

# Built once, because building a statement costs as much as running it.
_OF_A_DOCUMENT = [documents.c[name] for name in ("number", "id", "entity_id", "bucket", "tags", "fields", "text", "anchor")]
_WANTED: BindParameter[Any] = bindparam("wanted", expanding=True)
_PASSAGES = select(documents.c.id, documents.c.anchor, documents.c.text).where(documents.c.id.in_(_WANTED))

_BROKEN = select(sources.c.name).where(sources.c.state == SourceState.BROKEN)
_BY_ENTITY = select(documents.c.number, documents.c.id, documents.c.entity_id, documents.c.bucket, documents.c.tags).where(
    documents.c.entity_id.in_(_WANTED)
)


class Store:
    """The truth of one catalog."""

    def __init__(self, url: str) -> None:
        self._engine = _engine(url)
        self._writing = threading.Lock()  # SQLite has one writer; waiting here is fair and never times out
        self._node_words: tuple[int, list[str]] = (-1, [])
        try:
            with self._engine.begin() as connection:
                metadata.create_all(connection)
                found = connection.execute(select(facts.c.value).where(facts.c.name == "format")).scalar()
                if found is None:
                    connection.execute(insert(facts).values(name="format", value=str(FORMAT)))
                else:
                    found = migrate(connection, found, str(FORMAT))
        except DatabaseError as error:
            raise CatalogError(f"The catalog's database cannot be opened: {error.orig}. Restore it from a backup or remove it.") from error
        if found is not None and found != str(FORMAT):
            raise CatalogFormat(f"The catalog has format {found}, this Repertory reads format {FORMAT}. Use the version that wrote it.")

    @classmethod
    def at(cls, directory: Path) -> Store:
        """The SQLite store of a catalog directory."""
        return cls(f"sqlite:///{directory / 'catalog.db'}")

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    # Writing

    def write(self, changes: Changes) -> int:
        """Apply changes in one transaction and answer the new revision."""
        with self._writing, self._engine.begin() as connection:
            return write.apply(connection, changes)

    def add_embeddings(self, model: str, vectors: Mapping[str, Vector]) -> int:
        """Keep vectors by text digest and tell the index which documents have them now."""
        with self._writing, self._engine.begin() as connection:
            return write.add_embeddings(connection, model, vectors)

    def trim_outbox(self, position: int) -> None:
        """Forget what the index has made durable."""
        with self._writing, self._engine.begin() as connection:
            connection.execute(outbox.delete().where(outbox.c.position <= position))

    def put_source(self, name: str, location: str, *, live: bool = False) -> None:
        """Remember where entries come from; what is known of it stays."""
        with self._writing, self._engine.begin() as connection:
            if connection.execute(select(sources.c.name).where(sources.c.name == name)).first() is None:
                connection.execute(insert(sources).values(name=name, location=location, live=live, problems=0))

    def mark_source(self, name: str, *, problems: int = 0, error: str = "") -> bool:
        """Remember how the reading of a source went, and answer whether it broke or recovered: results say so, so the revision moves."""
        with self._writing, self._engine.begin() as connection:
            return write.mark_source(connection, name, problems, error)

    def drop_source(self, name: str) -> None:
        """Forget a source that brings nothing any more."""
        with self._writing, self._engine.begin() as connection:
            connection.execute(sources.delete().where(sources.c.name == name))

    def put_mark(self, source: str, mark: str) -> None:
        """Remember what to come back to a source with."""
        with self._writing, self._engine.begin() as connection:
            connection.execute(marks.delete().where(marks.c.source == source))
            connection.execute(insert(marks).values(source=source, mark=mark))

    def mark(self, source: str) -> str | None:
        """What to come back to a source with."""
        with self._engine.connect() as connection:
            return connection.execute(select(marks.c.mark).where(marks.c.source == source)).scalar()

    # The whole catalog

    def snapshot(self) -> Snapshot:
        """Counts and lengths as of now."""
        with self._engine.connect() as connection:
            statistics = connection.execute(
                select(documents.c.bucket, func.count(), func.sum(documents.c.length)).group_by(documents.c.bucket)
            ).all()
            names = connection.execute(select(documents.c.short_names).where(documents.c.short_names != "").distinct()).scalars()
            counts = {Bucket.from_key(key): int(count) for key, count, _ in statistics}
            return Snapshot(
                revision=write.counter(connection, "revision"),
                position=write.counter(connection, "position"),
                counts=counts,
                mean_length=sum(length for _, _, length in statistics) / (sum(counts.values()) or 1),
                short_names=frozenset(name for joined in names for name in joined.split()),
                broken=frozenset(connection.execute(_BROKEN).scalars()),
            )

    def sources(self) -> list[SourceRecord]:
        """Every source with the number of its entries."""
        entries = select(entities.c.source, func.count().label("entries")).group_by(entities.c.source).subquery()
        joined = select(sources, entries.c.entries).outerjoin(entries, entries.c.source == sources.c.name).order_by(sources.c.name)
        with self._engine.connect() as connection:
            rows = connection.execute(joined).all()
        return [
            SourceRecord(
                name=row.name,
                location=row.location,
                live=row.live,
                state=SourceState(row.state),
                error=row.error,
                attempted=row.attempted,
                succeeded=row.succeeded,
                problems=row.problems,
                entries=row.entries or 0,
            )
            for row in rows
        ]

    # Entities

    def list_entities(self, filter: Filter, *, limit: int, offset: int = 0) -> tuple[list[Entity], int]:
        """What a filter admits, in registration order, and how many there are in all."""
        visible = self._visible(filter)
        wanted = select(entities.c.data).where(entities.c.bucket.in_(visible)).order_by(entities.c.position)
        with self._engine.connect() as connection:
            if filter.tags:
                every = (Entity.from_json(json.loads(data)) for data in connection.execute(wanted).scalars())
                tagged = [entity for entity in every if filter.tags <= set(entity.tags)]
                return tagged[offset : offset + limit], len(tagged)
            rows = connection.execute(wanted.limit(limit).offset(offset)).scalars()
            return [Entity.from_json(json.loads(data)) for data in rows], self.count_entities(filter)

    def _visible(self, filter: Filter) -> list[str]:
        with self._engine.connect() as connection:
            keys = connection.execute(select(entities.c.bucket).distinct()).scalars().all()
        return [key for key in keys if filter.admits(Bucket.from_key(key))]

    def digests(self, source: str) -> dict[str, tuple[str, str]]:
        """What a source brought last time: the digest and the file of each of its entities."""
        wanted = select(entities.c.id, entities.c.digest, entities.c.provenance).where(entities.c.source == source)
        with self._engine.connect() as connection:
            return {row.id: (row.digest, row.provenance) for row in connection.execute(wanted)}

    def owners(self, ids: Sequence[str]) -> dict[str, str]:
        """Which source brought these entities."""
        rows = self._select(select(entities.c.id, entities.c.source).where(entities.c.id.in_(_WANTED)), ids)
        return {row.id: row.source for row in rows}

    def modified(self, ids: Sequence[str]) -> dict[str, datetime]:
        """When these entities were last modified, where that is known."""
        wanted = select(entities.c.id, entities.c.modified).where(entities.c.id.in_(_WANTED), entities.c.modified.is_not(None))
        return {row.id: datetime.fromisoformat(row.modified) for row in self._select(wanted, ids)}

    def find(self, reference: str, filter: Filter) -> list[Entity]:
        """The entities that a person may mean: by id, else by path, else by name."""
        by_path = [f"{kind.prefix}:{reference}" for kind in Kind]
        visible = self._visible(filter)
        with self._engine.connect() as connection:
            for condition in (entities.c.id == reference, entities.c.id.in_(by_path), entities.c.name == reference):
                wanted = select(entities.c.data).where(condition, entities.c.bucket.in_(visible)).order_by(entities.c.position)
                if found := connection.execute(wanted).scalars().all():
                    return [Entity.from_json(json.loads(data)) for data in found]
        return []

    def entities(self, ids: Sequence[str], filter: Filter) -> dict[str, Entity]:
        """These entities, as far as the filter admits them."""
        rows = self._select(select(entities.c.id, entities.c.bucket, entities.c.data).where(entities.c.id.in_(_WANTED)), ids)
        return {row.id: Entity.from_json(json.loads(row.data)) for row in rows if filter.admits(Bucket.from_key(row.bucket))}

    # The graph

    def neighbours(self, ids: Sequence[str], filter: Filter) -> list[Edge]:
        """One hop out and in, in a stable order, only between entities that the filter admits."""
        return [edge for edge in self.edges_of(ids, filter, (MAY_USE,)) if not is_node(edge.target)]

    def edges_of(self, ids: Sequence[str], filter: Filter, pairs: Sequence[str] = ()) -> list[Edge]:
        """Everything that leaves these entities, to nodes too, and what other entities say of them (E02)."""
        visible = self._visible(filter)
        with self._engine.connect() as connection:
            return graph.around(connection, visible, ids, pairs)

    def all_edges(self, filter: Filter, *, nodes: bool, limit: int) -> list[Edge]:
        """The whole graph, between entities, or with the nodes in which they meet."""
        visible = self._visible(filter)
        with self._engine.connect() as connection:
            return graph.everywhere(connection, visible, nodes, limit)

    def owners_of(self, nodes: Sequence[str], filter: Filter) -> list[Edge]:
        """The entities that lead to these nodes (E04)."""
        visible = self._visible(filter)
        with self._engine.connect() as connection:
            return graph.owners(connection, visible, nodes, filter.tags)

    def node_words(self) -> list[str]:
        """The words that entities are about, kept in memory until the catalog changes: fuzzy matching looks at all of them."""
        with self._engine.connect() as connection:
            revision = write.counter(connection, "revision")  # first: words that came in since are then read again
            if self._node_words[0] != revision:
                self._node_words = (revision, graph.words(connection))
        return self._node_words[1]

    def count_entities(self, filter: Filter) -> int:
        """How many entities a filter admits, whatever their tags."""
        visible = self._visible(filter)
        with self._engine.connect() as connection:
            return connection.execute(select(func.count()).select_from(entities).where(entities.c.bucket.in_(visible))).scalar_one()

    # Documents

    def signatures(self, entity_ids: Sequence[str]) -> dict[str, str]:
        """The documents of these entities, each with its signature."""
        rows = self._select(select(documents.c.id, documents.c.signature).where(documents.c.entity_id.in_(_WANTED)), entity_ids)
        return {row.id: row.signature for row in rows}

    def texts(self, entity_ids: Sequence[str]) -> dict[str, str]:
        """The digests of what each of these entities has for the embedder, in order, as one string."""
        wanted = select(documents.c.entity_id, documents.c.digest).where(documents.c.entity_id.in_(_WANTED)).order_by(documents.c.number)
        found: dict[str, str] = {}
        for row in self._select(wanted, entity_ids):
            found[row.entity_id] = found.get(row.entity_id, "") + row.digest
        return found

    def references(self, numbers: Sequence[int] | None) -> dict[int, Reference]:
        """What search needs to know of these documents, or of all; numbers that are gone are left out."""
        columns = "SELECT number, id, entity_id, bucket FROM documents"
        if numbers is None:
            with self._engine.connect() as connection:
                rows: Iterable[Any] = connection.exec_driver_sql(columns).all()
        else:
            rows = self._look_up(f"{columns} WHERE number IN", numbers)
        return {number: Reference(document_id, entity_id, Bucket.from_key(bucket)) for number, document_id, entity_id, bucket in rows}

    def frequencies(self, dimensions: Sequence[int]) -> dict[int, int]:
        """How many documents have each of these terms; terms that none has are left out."""
        return dict(self._look_up("SELECT dimension, documents FROM terms WHERE dimension IN", dimensions))

    def words(self, least: int = 1, limit: int | None = None) -> dict[str, int]:
        """The vocabulary: the words that at least so many documents have, the most frequent first, with how many have them."""
        wanted = select(words).where(words.c.documents >= least).order_by(words.c.documents.desc(), words.c.word).limit(limit)
        with self._engine.connect() as connection:
            return {row.word: row.documents for row in connection.execute(wanted)}

    def passages(self, document_ids: Sequence[str]) -> dict[str, tuple[str, str]]:
        """The anchor and the text of documents."""
        return {row.id: (row.anchor, row.text) for row in self._select(_PASSAGES, document_ids)}

    def fields(self, numbers: Sequence[int]) -> dict[int, dict[Field, str]]:
        """What documents say, by field."""
        rows = self._look_up("SELECT number, fields FROM documents WHERE number IN", numbers)
        return {number: {Field(name): text for name, text in json.loads(fields).items()} for number, fields in rows}

    def first_documents(self, entity_ids: Sequence[str], filter: Filter) -> dict[str, tuple[int, Reference]]:
        """The first document of each of these entities that the filter admits."""
        rows = self._select(_BY_ENTITY, entity_ids)
        found: dict[str, tuple[int, Reference]] = {}
        for row in sorted(rows, key=lambda row: row.number):
            bucket = Bucket.from_key(row.bucket)
            if filter.admits(bucket) and filter.tags <= set(json.loads(row.tags)):
                found.setdefault(row.entity_id, (row.number, Reference(row.id, row.entity_id, bucket)))
        return found

    def entities_of(self, numbers: Sequence[int]) -> dict[str, Entity]:
        """The entities of these documents, by id."""
        joined = "SELECT e.id, e.data FROM documents d JOIN entities e ON e.id = d.entity_id WHERE d.number IN"
        return {entity_id: Entity.from_json(json.loads(data)) for entity_id, data in self._look_up(joined, numbers)}

    def _look_up(self, statement: str, numbers: Sequence[int]) -> list[Any]:
        """Rows by number, written straight into the statement: on the path of every search, binding would cost more than running."""
        found: list[Any] = []
        with self._engine.connect() as connection:
            for chunk in write.chunks(numbers):
                found += connection.exec_driver_sql(f"{statement} ({','.join(str(int(number)) for number in chunk)})")
        return found

    def _select(self, statement: Select[Any], wanted: Sequence[Any]) -> list[Row[Any]]:
        if not wanted:
            return []
        with self._engine.connect() as connection:
            return [row for chunk in write.chunks(wanted) for row in connection.execute(statement, {"wanted": chunk})]

    def haystacks(self, filter: Filter) -> Iterator[tuple[int, str, str]]:
        """What a regular expression looks at, name and text of each document, in number order (C01)."""
        visible = self._visible(filter)
        with self._engine.connect() as connection:
            wanted = select(documents.c.number, documents.c.name, documents.c.title, documents.c.text, documents.c.tags)
            rows = connection.execution_options(yield_per=1000).execute(
                wanted.where(documents.c.bucket.in_(visible)).order_by(documents.c.number)
            )
            for number, name, title, text, tags in rows:
                if not filter.tags or filter.tags <= set(json.loads(tags)):
                    yield number, name, f"{title}\n{text}"

    def documents(self, model: str, numbers: Sequence[int] | None = None) -> Iterator[DocumentRecord]:
        """Documents with their vectors under a model: these numbers, or all, in number order."""
        joined = (
            select(*_OF_A_DOCUMENT, embeddings.c.vector)
            .outerjoin(embeddings, (embeddings.c.digest == documents.c.digest) & (embeddings.c.model == model))
            .order_by(documents.c.number)
        )
        chunks = [joined] if numbers is None else [joined.where(documents.c.number.in_(chunk)) for chunk in write.chunks(numbers)]
        with self._engine.connect() as connection:
            for statement in chunks:
                for row in connection.execution_options(yield_per=1000).execute(statement):
                    vector = np.frombuffer(row.vector, dtype="<f4") if row.vector is not None else None
                    yield DocumentRecord(row.number, _document(row), vector)

    # Vectors and the outbox

    def pending(self, model: str, after: int, limit: int) -> list[tuple[int, str, str]]:
        """Documents after a number that have no vector under this model yet: (number, digest, text)."""
        wanted = (
            select(documents.c.number, documents.c.digest, documents.c.text)
            .outerjoin(embeddings, (embeddings.c.digest == documents.c.digest) & (embeddings.c.model == model))
            .where(documents.c.number > after, embeddings.c.digest.is_(None))
            .order_by(documents.c.number)
            .limit(limit)
        )
        with self._engine.connect() as connection:
            return [(row.number, row.digest, row.text) for row in connection.execute(wanted)]

    def pending_of(self, source: str, model: str) -> Iterator[tuple[str, Entity]]:
        """What a source brought from an index file (C06) and has no vector under this model yet: the digest of its text, and the entity."""
        wanted = (
            select(documents.c.digest, entities.c.data)
            .join(entities, entities.c.id == documents.c.entity_id)
            .outerjoin(embeddings, (embeddings.c.digest == documents.c.digest) & (embeddings.c.model == model))
            .where(entities.c.source == source, embeddings.c.digest.is_(None), entities.c.data.contains('"embeddingProvider"'))
        )
        with self._engine.connect() as connection:
            rows = connection.execute(wanted).all()
        for digest, data in rows:
            yield digest, Entity.from_json(json.loads(data))

    def count_pending(self, model: str) -> int:
        """How many texts have no vector under this model."""
        wanted = (
            select(func.count(documents.c.digest.distinct()))
            .outerjoin(embeddings, (embeddings.c.digest == documents.c.digest) & (embeddings.c.model == model))
            .where(embeddings.c.digest.is_(None))
        )
        with self._engine.connect() as connection:
            return connection.execute(wanted).scalar_one()

    def concepts(self, model: str) -> dict[str, Vector | None]:
        """The concept vocabulary (B06): words that several documents have, the most frequent first, with their vectors under a model."""
        digests = {content_digest(word): word for word in self.words(CONCEPT_DOCUMENTS, CONCEPTS)}
        found: dict[str, Vector | None] = dict.fromkeys(digests.values())
        wanted = select(embeddings.c.digest, embeddings.c.vector).where(embeddings.c.model == model, embeddings.c.digest.in_(_WANTED))
        for row in self._select(wanted, list(digests)):
            found[digests[row.digest]] = np.frombuffer(row.vector, dtype="<f4")
        return found

    def outbox(self, after: int, limit: int) -> list[tuple[int, int, bool]]:
        """What happened after a position: (position, number, removed), oldest first."""
        wanted = select(outbox).where(outbox.c.position > after).order_by(outbox.c.position).limit(limit)
        with self._engine.connect() as connection:
            return [(row.position, row.number, row.removed) for row in connection.execute(wanted)]

    def oldest_outbox(self) -> int | None:
        """The oldest entry that is still there."""
        with self._engine.connect() as connection:
            return connection.execute(select(func.min(outbox.c.position))).scalar()


def _engine(url: str) -> Engine:
    engine = create_engine(url)
    if engine.dialect.name == "sqlite":

        @event.listens_for(engine, "connect")
        def _durable(connection: object, _record: object) -> None:
            cursor = connection.cursor()  # type: ignore[attr-defined]
            for pragma in ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=10000", "cache_size=-16000"):
                cursor.execute(f"PRAGMA {pragma}")
            cursor.close()

    return engine


def _document(row: object) -> Document:
    fields = json.loads(row.fields)  # type: ignore[attr-defined]
    return Document(
        id=row.id,  # type: ignore[attr-defined]
        entity_id=row.entity_id,  # type: ignore[attr-defined]
        bucket=Bucket.from_key(row.bucket),  # type: ignore[attr-defined]
        tags=tuple(json.loads(row.tags)),  # type: ignore[attr-defined]
        fields={Field(name): value for name, value in fields.items()},
        text=row.text,  # type: ignore[attr-defined]
        anchor=row.anchor,  # type: ignore[attr-defined]
    )
