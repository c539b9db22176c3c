"""Which places do entries come from, and how did it go when they were last read?"""

from __future__ import annotations

from sqlalchemy import func, insert, select

from repertory.store import write
from repertory.store.database import Database
from repertory.store.records import SourceRecord, SourceState
from repertory.store.schema import entities, marks, sources


class Sources(Database):
    """The part of the store that knows sources."""

    def put_source(self, name: str, location: str, *, live: bool = False) -> None:
        """Remember where entries come from; what is known of it stays."""
        with self._begin() as connection:
            if connection.execute(select(sources.c.name).where(sources.c.name == name)).first() is None:
                connection.execute(insert(sources).values(name=name, location=location, live=live, problems=0))

    def mark_source(self, name: str, *, problems: int = 0, error: str = "") -> bool:
        """Remember how the reading of a source went, and answer whether it broke or recovered: results say so, so the revision moves."""
        with self._begin() as connection:
            return write.mark_source(connection, name, problems, error)

    def drop_source(self, name: str) -> None:
        """Forget a source that brings nothing any more."""
        with self._begin() as connection:
            connection.execute(sources.delete().where(sources.c.name == name))
            connection.execute(marks.delete().where(marks.c.source == name))

    def put_mark(self, source: str, mark: str) -> None:
        """Remember what to come back to a source with."""
        with self._begin() as connection:
            connection.execute(marks.delete().where(marks.c.source == source))
            connection.execute(insert(marks).values(source=source, mark=mark))

    def mark(self, source: str) -> str | None:
        """What to come back to a source with."""
        with self._engine.connect() as connection:
            return connection.execute(select(marks.c.mark).where(marks.c.source == source)).scalar()

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
