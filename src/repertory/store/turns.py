"""Whose turn is it to write, where several processes share a database?

Whoever has the turn writes the truth and lets the index follow, and nobody else does either: so the index hears of everything in order. The
turn is a lock of the connection on which its holder writes. PostgreSQL lets go of it when that connection ends, be it by `kill -9`, and
then its holder cannot write any more, because it has no other connection to write on.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import uuid
from collections.abc import Callable, Iterator
from enum import Enum, auto
from typing import Any

from sqlalchemy import Connection, func, select, text

from repertory.errors import CatalogUnavailable
from repertory.store import write
from repertory.store.database import REACHING, Database, read_fact, write_fact

_log = logging.getLogger(__name__)

HOLDER = "turn"  # the fact that tells who had the last turn

PATIENCE = 300  # seconds that a writer waits for its turn: as long as the others may write at a stretch

_TURN = 0x72657074  # "rept": the advisory lock of the turn
_LOOK = 1.0  # seconds after which processes look, though they have heard nothing


class Turn(Enum):
    """What whoever asks for the turn gets."""

    AGAIN = auto()  # nobody else has had it since
    AFTER_OTHERS = auto()
    TAKEN = auto()  # not now: somebody else has it


class Turns(Database):
    """The part of the store that knows of other processes. Over SQLite there are none."""

    _name = ""

    @contextlib.contextmanager
    def turn(self, *, wait: bool = True) -> Iterator[Turn]:
        """Have the turn, on this thread, until the block ends."""
        if not self.shared:
            yield Turn.AGAIN
            return
        with self._changing.connect() as connection:
            connection.execute(text(f"SET LOCAL lock_timeout = '{PATIENCE}s'"))
            ask = func.pg_advisory_lock if wait else func.pg_try_advisory_lock
            taken = connection.execute(select(ask(_TURN))).scalar() is False
            connection.commit()
            if taken:
                yield Turn.TAKEN
                return
            self._own.connection = connection
            try:
                yield self._note_holder()
            finally:
                self._own.connection = None
                _let_go(connection)

    def _note_holder(self) -> Turn:
        self._name = self._name or uuid.uuid4().hex
        with self._begin() as connection:
            if read_fact(connection, HOLDER) == self._name:
                return Turn.AGAIN
            write_fact(connection, HOLDER, self._name)
        return Turn.AFTER_OTHERS

    def tell_indexed(self) -> int:
        """The index has heard of everything: a revision of its own, so that nobody keeps what was answered before. Answers it."""
        with self._begin() as connection:
            return write.revise(connection, "indexed")

    @contextlib.contextmanager
    def hearing(self, heard: Callable[[], None]) -> Iterator[None]:
        """Call `heard` on a thread whenever another process may have written, until the block ends."""
        if not self.shared:
            yield
            return
        ends = threading.Event()
        listener = threading.Thread(target=self._listen, args=(heard, ends), name="repertory-listener", daemon=True)
        listener.start()
        try:
            yield
        finally:
            ends.set()
            with contextlib.suppress(CatalogUnavailable), self._engine.begin() as connection:
                write.tell_others(connection)  # and thereby wake our own
            listener.join()

    def _listen(self, heard: Callable[[], None], ends: threading.Event) -> None:
        import psycopg  # whoever comes here has it

        address = self._engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
        while not ends.is_set():
            with contextlib.suppress(psycopg.Error), psycopg.connect(address, autocommit=True, **REACHING) as connection:
                connection.execute(f"LISTEN {write.CHANNEL}")
                while not ends.is_set():
                    _tell(heard)
                    _hear(connection)
            ends.wait(_LOOK)


def _tell(heard: Callable[[], None]) -> None:
    try:
        heard()
    except CatalogUnavailable as error:
        _log.warning("What other processes wrote cannot be seen; it is tried again: %s", error)
    except Exception:
        _log.exception("What other processes wrote cannot be followed; it is tried again")


def _hear(connection: Any) -> None:
    """Wait for a word, or a while; what was said meanwhile is one word."""
    for _ in connection.notifies(timeout=_LOOK, stop_after=1):
        pass


def _let_go(connection: Connection) -> None:
    try:
        connection.rollback()
        connection.execute(select(func.pg_advisory_unlock(_TURN)))
        connection.commit()
    except CatalogUnavailable:
        connection.invalidate()  # PostgreSQL has let go of it, or does so with the connection
