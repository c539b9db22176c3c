"""How is the database opened, and rows looked up in it?"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from sqlalchemy import BindParameter, Engine, Row, Select, bindparam, create_engine, event, insert, select
from sqlalchemy.exc import DatabaseError

from repertory.errors import CatalogError, CatalogFormat
from repertory.store import write
from repertory.store.migrate import migrate
from repertory.store.rows import chunks
from repertory.store.schema import FORMAT, facts, metadata

DATABASE = "catalog.db"  # in a catalog directory
IDENTITY = "catalog"  # the fact that tells this catalog from others
WANTED: BindParameter[Any] = bindparam("wanted", expanding=True)


class Database:
    """The connection that every part of the store shares."""

    def __init__(self, url: str) -> None:
        self._engine = _engine(url)
        self._writing = threading.Lock()  # SQLite has one writer; waiting here is fair and never times out
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
    def at(cls, directory: Path) -> Self:
        """The SQLite store of a catalog directory."""
        return cls(f"sqlite:///{directory / DATABASE}")

    def fact(self, name: str) -> str | None:
        """Something small that the catalog remembers of itself."""
        with self._engine.connect() as connection:
            return connection.execute(select(facts.c.value).where(facts.c.name == name)).scalar()

    def put_fact(self, name: str, value: str) -> None:
        """Remember it, instead of what was there."""
        with self._writing, self._engine.begin() as connection:
            connection.execute(facts.delete().where(facts.c.name == name))
            connection.execute(insert(facts).values(name=name, value=value))

    def identity(self) -> str:
        """The name of this catalog among others, made when it is first asked for. A copy gets one of its own."""
        known = self.fact(IDENTITY)
        if known is None:
            known = uuid.uuid4().hex[:12]
            self.put_fact(IDENTITY, known)
        return known

    def revision(self) -> int:
        """The revision of the truth, which the index may not have reached yet."""
        with self._engine.connect() as connection:
            return write.counter(connection, "revision")

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    def _look_up(self, statement: str, numbers: Sequence[int]) -> list[Any]:
        """Rows by number, straight from the driver: on the path of every search, all that is around it costs more than running it."""
        found: list[Any] = []
        connection = self._engine.raw_connection()
        try:
            cursor = connection.cursor()
            for chunk in chunks(numbers):
                cursor.execute(f"{statement} ({','.join(str(int(number)) for number in chunk)})")
                found += cursor.fetchall()
        finally:
            connection.close()
        return found

    def _select(self, statement: Select[Any], wanted: Sequence[Any]) -> list[Row[Any]]:
        if not wanted:
            return []
        with self._engine.connect() as connection:
            return [row for chunk in chunks(wanted) for row in connection.execute(statement, {"wanted": chunk})]


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
