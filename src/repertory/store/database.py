"""How is the database opened, and rows looked up in it?

SQLite in the catalog directory, for one process; or PostgreSQL, for several. Both have one writer at a time: SQLite by nature, PostgreSQL
by a lock that every write takes, so that counters and comparisons hold for both.
"""

from __future__ import annotations

import contextlib
import threading
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from sqlalchemy import BindParameter, Connection, Engine, Row, Select, bindparam, create_engine, event, func, insert, select
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import DatabaseError, DataError, NoSuchModuleError, OperationalError

from repertory.errors import CatalogBusy, CatalogError, CatalogFormat, CatalogUnavailable, SettingsError
from repertory.store import write
from repertory.store.migrate import migrate
from repertory.store.rows import chunks
from repertory.store.schema import FORMAT, facts, metadata

DATABASE = "catalog.db"  # in a catalog directory
IDENTITY = "catalog"  # the fact that tells this catalog from others
POSTGRES = "postgresql"
CONNECTIONS = 10  # that a process keeps, and as many again at need: PostgreSQL has 100 for everybody
WANTED: BindParameter[Any] = bindparam("wanted", expanding=True)

_WRITING = 0x72657077  # "repw": the advisory lock of a write, until its transaction ends
_PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=10000", "cache_size=-16000")
_LOCK_TIMEOUT = "55P03"
_PROGRAM_LIMIT = "54"  # opens the codes of what PostgreSQL will never take, such as a key of 3 kB

# A machine that is gone must not keep its locks: both sides look after ten silent seconds, and give up fifteen later.
_KEEPALIVE = {"idle": 10, "interval": 5, "count": 3}
REACHING: dict[str, Any] = {
    "connect_timeout": 5,
    "options": " ".join(f"-c tcp_keepalives_{name}={value}" for name, value in _KEEPALIVE.items()),
    **{f"keepalives_{name}": value for name, value in _KEEPALIVE.items()},
}


class Database:
    """The connection that every part of the store shares."""

    def __init__(self, url: str) -> None:
        self._changing = self._still = self._engine = _engine(url)
        self.shared = self._engine.dialect.name == POSTGRES  # with other processes
        if self.shared:  # who reads needs no transaction, which is two more questions; but for who reads long, what is there stands still
            self._engine = self._changing.execution_options(isolation_level="AUTOCOMMIT")
            self._still = self._changing.execution_options(isolation_level="REPEATABLE READ")
        self._writing = threading.Lock()  # SQLite has one writer; waiting here is fair and never times out
        self._own = threading.local()  # the connection of whoever has the turn (see `turns`)
        try:
            self._prepare()
        except BaseException:
            self._engine.dispose()
            raise

    def _prepare(self) -> None:
        try:
            with self._begin() as connection:
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
            return read_fact(connection, name)

    def put_fact(self, name: str, value: str) -> None:
        """Remember it, instead of what was there."""
        with self._begin() as connection:
            write_fact(connection, name, value)

    def identity(self) -> str:
        """The name of this catalog among others, made when it is first asked for. A copy gets one of its own."""
        known = self.fact(IDENTITY)
        if known is None:
            with self._begin() as connection:  # two processes may ask first
                known = read_fact(connection, IDENTITY) or uuid.uuid4().hex[:12]
                write_fact(connection, IDENTITY, known)
        return known

    def revision(self) -> int:
        """The revision of the truth, which the index may not have reached yet."""
        with self._engine.connect() as connection:
            return write.counter(connection, "revision")

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection for who reads all of it: it sees one state where others write."""
        with self._still.connect() as connection:
            yield connection

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    @contextlib.contextmanager
    def _begin(self) -> Iterator[Connection]:
        """One write, as one transaction. Whoever has the turn writes on its own connection: without the one there is not the other."""
        own: Connection | None = getattr(self._own, "connection", None)
        with contextlib.ExitStack() as stack:
            stack.enter_context(self._writing)
            connection = own or stack.enter_context(self._changing.connect())
            stack.enter_context(connection.begin())
            if self.shared:
                connection.execute(select(func.pg_advisory_xact_lock(_WRITING)))
            yield connection

    def _look_up(self, statement: str, numbers: Sequence[int]) -> list[Any]:
        """Rows by number, straight from the driver: on the path of every search, all that is around it costs more than running it."""
        found: list[Any] = []
        if self.shared:  # where connections break, somebody must notice
            with self._engine.connect() as alive:
                for chunk in chunks(numbers):
                    found += alive.exec_driver_sql(_among(statement, chunk)).all()
            return found
        connection = self._engine.raw_connection()
        try:
            cursor = connection.cursor()
            for chunk in chunks(numbers):
                cursor.execute(_among(statement, chunk))
                found += cursor.fetchall()
        finally:
            connection.close()
        return found

    def _select(self, statement: Select[Any], wanted: Sequence[Any]) -> list[Row[Any]]:
        if not wanted:
            return []
        with self._engine.connect() as connection:
            return [row for chunk in chunks(wanted) for row in connection.execute(statement, {"wanted": chunk})]


def _among(statement: str, numbers: Sequence[int]) -> str:
    return f"{statement} ({','.join(str(int(number)) for number in numbers)})"


def read_fact(connection: Connection, name: str) -> str | None:
    """What a fact says now."""
    return connection.execute(select(facts.c.value).where(facts.c.name == name)).scalar()


def write_fact(connection: Connection, name: str, value: str) -> None:
    """Let a fact say this."""
    connection.execute(facts.delete().where(facts.c.name == name))
    connection.execute(insert(facts).values(name=name, value=value))


def _engine(url: str) -> Engine:
    return _postgres(url) if url.startswith(POSTGRES) else _sqlite(url)


def _sqlite(url: str) -> Engine:
    engine = create_engine(url)

    @event.listens_for(engine, "connect")
    def _durable(connection: object, _record: object) -> None:
        cursor = connection.cursor()  # type: ignore[attr-defined]
        for pragma in _PRAGMAS:
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    return engine


def _postgres(url: str) -> Engine:
    try:
        # With a ping first, a database that was restarted is simply asked again.
        engine = create_engine(url, pool_pre_ping=True, pool_size=CONNECTIONS, max_overflow=CONNECTIONS, connect_args=REACHING)
    except (ImportError, NoSuchModuleError) as error:
        raise SettingsError("A database on PostgreSQL needs the package psycopg: pip install 'repertory[postgres]'.") from error

    @event.listens_for(engine, "handle_error")
    def _say_what_is_the_matter(context: ExceptionContext) -> None:
        error = context.sqlalchemy_exception
        code = str(getattr(context.original_exception, "sqlstate", None) or "")
        if code == _LOCK_TIMEOUT:
            raise CatalogBusy("Another process has been writing into the catalog for minutes. Try again when it is done.") from error
        reason = str(context.original_exception).strip().partition("\n")[0]
        if code.startswith(_PROGRAM_LIMIT) or isinstance(error, DataError):  # a NUL is no text there
            raise CatalogError(f"The catalog's database does not take this: {reason}.") from error
        if (context.is_disconnect or isinstance(error, OperationalError)) and not context.is_pre_ping:
            raise CatalogUnavailable(f"The catalog's database does not answer: {reason}. Try again in a moment.") from error

    return engine
