"""Which texts have vectors, and what has the index yet to hear of?"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence

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

    def add_embeddings(self, model: str, vectors: Mapping[str, Vector], *, announce: bool = True) -> dict[int, Vector]:
        """Keep vectors by text digest, tell the index which documents have them now, and answer which.

        Vectors that nobody searches by yet (C07) are not announced: the catalog answers as before.
        """
        with self._begin() as connection:
            return write.add_embeddings(connection, model, vectors, announce=announce)

    def prune_embeddings(self, models: Collection[str]) -> int:
        """Keep the vectors of these models alone, and of them those of texts and concepts that the catalog still has."""
        concepts = set(map(content_digest, self.words(CONCEPT_DOCUMENTS, CONCEPTS)))
        with self._begin() as connection:
            return write.prune_embeddings(connection, models, concepts)

    def vectors(self, model: str, numbers: Sequence[int]) -> list[tuple[int, str, Vector | None]]:
        """These documents with no more than their ids and their vectors under a model, for who has the rest at hand."""
        wanted = select(documents.c.number, documents.c.id, embeddings.c.vector).outerjoin(
            embeddings, (embeddings.c.digest == documents.c.digest) & (embeddings.c.model == model)
        )
        rows = self._select(wanted.where(documents.c.number.in_(WANTED)).order_by(documents.c.number), numbers)
        return [(row.number, row.id, np.frombuffer(row.vector, dtype="<f4") if row.vector is not None else None) for row in rows]

    def kept_vectors(self, model: str, digests: Sequence[str]) -> dict[str, Vector]:
        """The vectors of these texts under a model, as far as there are any."""
        wanted = select(embeddings.c.digest, embeddings.c.vector).where(embeddings.c.model == model, embeddings.c.digest.in_(WANTED))
        return {row.digest: np.frombuffer(row.vector, dtype="<f4") for row in self._select(wanted, digests)}

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

    def count_texts(self) -> int:
        """How many texts there are to embed; equal ones count once."""
        with self._engine.connect() as connection:
            return connection.execute(select(func.count(documents.c.digest.distinct()))).scalar_one()

    def concepts(self, model: str) -> dict[str, Vector | None]:
        """The concept vocabulary (B06): words that several documents have, the most frequent first, with their vectors under a model."""
        digests = {content_digest(word): word for word in self.words(CONCEPT_DOCUMENTS, CONCEPTS)}
        kept = self.kept_vectors(model, list(digests))
        return {word: kept.get(digest) for digest, word in digests.items()}

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
        with self._begin() as connection:
            connection.execute(outbox.delete().where(outbox.c.position <= position))
