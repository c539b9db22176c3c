"""Which texts have vectors, and what has the index yet to hear of?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

import numpy as np
from sqlalchemy import func, select

from repertory.embedders.base import Vector
from repertory.model import Entity, content_digest
from repertory.store import write
from repertory.store.database import WANTED, Database
from repertory.store.schema import documents, embeddings, entities, outbox, words

CONCEPT_DOCUMENTS = 2  # a word of one document leads to that document alone
CONCEPTS = 5000  # the most frequent: half a minute of the bundled model, and 8 MB


class Vectors(Database):
    """The part of the store that knows vectors, the vocabulary they are made of, and the outbox."""

    def add_embeddings(self, model: str, vectors: Mapping[str, Vector]) -> int:
        """Keep vectors by text digest and tell the index which documents have them now."""
        with self._writing, self._engine.begin() as connection:
            return write.add_embeddings(connection, model, vectors)

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
        wanted = select(embeddings.c.digest, embeddings.c.vector).where(embeddings.c.model == model, embeddings.c.digest.in_(WANTED))
        for row in self._select(wanted, list(digests)):
            found[digests[row.digest]] = np.frombuffer(row.vector, dtype="<f4")
        return found

    def words(self, least: int = 1, limit: int | None = None) -> dict[str, int]:
        """The vocabulary: the words that at least so many documents have, the most frequent first, with how many have them."""
        wanted = select(words).where(words.c.documents >= least).order_by(words.c.documents.desc(), words.c.word).limit(limit)
        with self._engine.connect() as connection:
            return {row.word: row.documents for row in connection.execute(wanted)}

    def outbox(self, after: int, limit: int) -> list[tuple[int, int, bool]]:
        """What happened after a position: (position, number, removed), oldest first."""
        wanted = select(outbox).where(outbox.c.position > after).order_by(outbox.c.position).limit(limit)
        with self._engine.connect() as connection:
            return [(row.position, row.number, row.removed) for row in connection.execute(wanted)]

    def oldest_outbox(self) -> int | None:
        """The oldest entry that is still there."""
        with self._engine.connect() as connection:
            return connection.execute(select(func.min(outbox.c.position))).scalar()

    def trim_outbox(self, position: int) -> None:
        """Forget what the index has made durable."""
        with self._writing, self._engine.begin() as connection:
            connection.execute(outbox.delete().where(outbox.c.position <= position))
