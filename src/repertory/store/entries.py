"""Which entries are there, in which order?"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

from sqlalchemy import Table, func, select

from repertory.model import HARMLESS, READ_ONLY, Bucket, Entity, Filter
from repertory.store.database import Database
from repertory.store.schema import documents, entities


class Entries(Database):
    """The part of the store that lists entities as a filter admits them."""

    def list_entities(self, filter: Filter, *, limit: int, offset: int = 0) -> tuple[list[Entity], int]:
        """What a filter admits, in registration order, and how many there are in all."""
        if filter.tags:
            tagged = list(self.every_entity(filter))
            return tagged[offset : offset + limit], len(tagged)
        wanted = select(entities.c.data).where(entities.c.bucket.in_(self._visible(filter))).order_by(entities.c.position)
        with self._engine.connect() as connection:
            rows = connection.execute(wanted.limit(limit).offset(offset)).scalars()
            return [Entity.from_json(json.loads(data)) for data in rows], self.count_entities(filter)

    def every_entity(self, filter: Filter) -> Iterator[Entity]:
        """All that a filter admits, tags included, in registration order."""
        wanted = select(entities.c.data).where(entities.c.bucket.in_(self._visible(filter))).order_by(entities.c.position)
        with self._still.connect() as connection:
            for data in connection.execution_options(yield_per=1000).execute(wanted).scalars():
                entity = Entity.from_json(json.loads(data))
                if filter.tags <= set(entity.tags):
                    yield entity

    def count_entities(self, filter: Filter) -> int:
        """How many entities a filter admits, whatever their tags."""
        visible = self._visible(filter)
        with self._engine.connect() as connection:
            return connection.execute(select(func.count()).select_from(entities).where(entities.c.bucket.in_(visible))).scalar_one()

    def tags(self, filter: Filter) -> Counter[str]:
        """How many of the entities that a filter admits have each tag of their authors."""
        wanted = select(documents.c.entity_id, documents.c.tags).where(documents.c.bucket.in_(self._visible(filter, documents)))
        with self._engine.connect() as connection:
            tagged = {row.entity_id: row.tags for row in connection.execute(wanted.where(documents.c.tags != "[]").distinct())}
        return Counter(tag for tags in tagged.values() for tag in set(json.loads(tags)) - {READ_ONLY, HARMLESS})

    def statuses(self) -> dict[str, int]:
        """How many entities have each status."""
        with self._engine.connect() as connection:
            rows = connection.execute(select(entities.c.bucket, func.count()).group_by(entities.c.bucket)).all()
        counts: Counter[str] = Counter()
        for key, count in rows:
            counts[Bucket.from_key(key).status.value] += count
        return dict(counts)

    def _visible(self, filter: Filter, of: Table = entities) -> list[str]:
        """The buckets of a table that a filter admits. Each is found from the one before it: looking for all would look at every row."""
        first = select(func.min(of.c.bucket).label("bucket")).cte("buckets", recursive=True)
        following = select(func.min(of.c.bucket)).where(of.c.bucket > first.c.bucket).scalar_subquery()
        every = first.union_all(select(following).where(first.c.bucket.is_not(None)))
        with self._engine.connect() as connection:
            keys = connection.execute(select(every.c.bucket).where(every.c.bucket.is_not(None))).scalars().all()
        return [key for key in keys if filter.admits(Bucket.from_key(key))]
