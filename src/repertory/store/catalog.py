"""How is the truth read and written?

`Store` is the only door to the database. Calls block (callers offload them); writes are one transaction each and durable when they return.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime

import numpy as np
from sqlalchemy import select

from repertory.graph.derive import MAY_USE, OFFERED, is_node
from repertory.model import Bucket, Document, Edge, Entity, Field, Filter, Kind
from repertory.store import graph, write
from repertory.store.audit import Audit
from repertory.store.calls import Calls
from repertory.store.database import WANTED
from repertory.store.entries import Entries
from repertory.store.keys import Keys
from repertory.store.lookups import Lookups
from repertory.store.overrides import Overrides
from repertory.store.pairings import Pairings
from repertory.store.pins import Pins
from repertory.store.records import Changes, DocumentRecord, Reference, Snapshot, SourceState
from repertory.store.rows import chunks
from repertory.store.schema import documents, edges, embeddings, entities, short_names, sources, tallies
from repertory.store.sources import Sources
from repertory.store.turns import Turns
from repertory.store.vectors import Vectors

# Built once, because building a statement costs as much as running it.
_OF_A_DOCUMENT = [documents.c[name] for name in ("number", "id", "entity_id", "bucket", "tags", "fields", "text", "anchor")]
_PASSAGES = select(documents.c.id, documents.c.anchor, documents.c.text).where(documents.c.id.in_(WANTED))

_BROKEN = select(sources.c.name).where(sources.c.state == SourceState.BROKEN)
_BY_ENTITY = select(documents.c.number, documents.c.id, documents.c.entity_id, documents.c.bucket, documents.c.tags).where(
    documents.c.entity_id.in_(WANTED)
)


class Store(Audit, Calls, Entries, Keys, Lookups, Overrides, Pairings, Pins, Sources, Turns, Vectors):
    """The truth of one catalog."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self._node_words: tuple[int, list[str]] = (-1, [])

    def write(self, changes: Changes) -> int:
        """Apply changes in one transaction and answer the new revision."""
        try:
            with self._begin() as connection:
                return write.apply(connection, changes)
        finally:
            self._forget()

    # The whole catalog

    def snapshot(self) -> Snapshot:
        """Counts and lengths as of now."""
        with self._still.connect() as connection:
            counted = connection.execute(select(tallies)).all()
            counts = {Bucket.from_key(row.bucket): row.documents for row in counted}
            return Snapshot(
                revision=write.counter(connection, "revision"),
                position=write.counter(connection, "position"),
                counts=counts,
                mean_length=sum(row.length for row in counted) / (sum(counts.values()) or 1),
                short_names=frozenset(connection.execute(select(short_names.c.name)).scalars()),
                broken=frozenset(connection.execute(_BROKEN).scalars()),
            )

    # Entities

    def digests(self, source: str) -> dict[str, tuple[str, str]]:
        """What a source brought last time: the digest and the file of each of its entities."""
        wanted = select(entities.c.id, entities.c.digest, entities.c.provenance).where(entities.c.source == source)
        with self._engine.connect() as connection:
            return {row.id: (row.digest, row.provenance) for row in connection.execute(wanted)}

    def owners(self, ids: Sequence[str]) -> dict[str, str]:
        """Which source brought these entities."""
        rows = self._select(select(entities.c.id, entities.c.source).where(entities.c.id.in_(WANTED)), ids)
        return {row.id: row.source for row in rows}

    def modified(self, ids: Sequence[str]) -> dict[str, datetime]:
        """When these entities were last modified, where that is known."""
        wanted = select(entities.c.id, entities.c.modified).where(entities.c.id.in_(WANTED), entities.c.modified.is_not(None))
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
        rows = self._select(select(entities.c.id, entities.c.bucket, entities.c.data).where(entities.c.id.in_(WANTED)), ids)
        return {row.id: Entity.from_json(json.loads(row.data)) for row in rows if filter.admits(Bucket.from_key(row.bucket))}

    def buckets(self, ids: Sequence[str]) -> dict[str, Bucket]:
        """Who sees these entities."""
        rows = self._select(select(entities.c.id, entities.c.bucket).where(entities.c.id.in_(WANTED)), ids)
        return {row.id: Bucket.from_key(row.bucket) for row in rows}

    def offering(self, tools: Sequence[str]) -> dict[str, tuple[Entity, str]]:
        """The servers that offer any of these tools, each with its digest."""
        offered = select(edges.c.origin).where(edges.c.relation.in_(OFFERED), edges.c.target.in_(WANTED))
        origins = sorted({row.origin for row in self._select(offered, tools)})
        rows = self._select(select(entities.c.id, entities.c.digest, entities.c.data).where(entities.c.id.in_(WANTED)), origins)
        return {row.id: (Entity.from_json(json.loads(row.data)), row.digest) for row in rows}

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

    # Documents

    def signatures(self, entity_ids: Sequence[str]) -> dict[str, str]:
        """The documents of these entities, each with its signature."""
        rows = self._select(select(documents.c.id, documents.c.signature).where(documents.c.entity_id.in_(WANTED)), entity_ids)
        return {row.id: row.signature for row in rows}

    def texts(self, entity_ids: Sequence[str]) -> dict[str, str]:
        """The digests of what each of these entities has for the embedder, in order, as one string."""
        wanted = select(documents.c.entity_id, documents.c.digest).where(documents.c.entity_id.in_(WANTED)).order_by(documents.c.number)
        found: dict[str, str] = {}
        for row in self._select(wanted, entity_ids):
            found[row.entity_id] = found.get(row.entity_id, "") + row.digest
        return found

    def passages(self, document_ids: Sequence[str]) -> dict[str, tuple[str, str]]:
        """The anchor and the text of documents."""
        return {row.id: (row.anchor, row.text) for row in self._select(_PASSAGES, document_ids)}

    def first_documents(self, entity_ids: Sequence[str], filter: Filter) -> dict[str, tuple[int, Reference]]:
        """The first document of each of these entities that the filter admits."""
        rows = self._select(_BY_ENTITY, entity_ids)
        found: dict[str, tuple[int, Reference]] = {}
        for row in sorted(rows, key=lambda row: row.number):
            bucket = Bucket.from_key(row.bucket)
            if filter.admits(bucket) and filter.tags <= set(json.loads(row.tags)):
                found.setdefault(row.entity_id, (row.number, Reference(row.id, row.entity_id, bucket)))
        return found

    def haystacks(self, filter: Filter) -> Iterator[tuple[int, str, str]]:
        """What a regular expression looks at, name and text of each document, in number order (C01)."""
        visible = self._visible(filter, documents)
        with self._still.connect() as connection:
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
        several = [joined] if numbers is None else [joined.where(documents.c.number.in_(chunk)) for chunk in chunks(numbers)]
        with self._still.connect() as connection:
            for statement in several:
                for row in connection.execution_options(yield_per=1000).execute(statement):
                    vector = np.frombuffer(row.vector, dtype="<f4") if row.vector is not None else None
                    yield DocumentRecord(row.number, _document(row), vector)


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
