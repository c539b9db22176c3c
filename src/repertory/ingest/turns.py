"""How does a process write and search beside others that share its catalog?

It writes when it has the turn (`store/turns`). Whoever comes after others first lets the index and itself hear of what they wrote, be it
that one of them died before the index did; whoever ends tells the index how far it is. In between, it moves its snapshot whenever another
has written, and with it everything that is remembered by revision. A catalog directory has one process, which always has the turn.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from repertory.errors import IndexUnavailable
from repertory.indexes.sync import Sync
from repertory.ingest import change
from repertory.store import Store, Turn

P = ParamSpec("P")
T = TypeVar("T")


class Turns:
    """The turns of one process. Calls block."""

    def __init__(self, store: Store, sync: Sync) -> None:
        self._store = store
        self._sync = sync
        self._having = threading.Lock()  # held while we have the turn: then nobody else writes, and there is nothing to follow
        self._answering = change.recall(store)
        self._outdated = False  # others have written, and we have not yet begun where they ended
        self._first: Callable[[], None] | None = None  # what is yet to be done before anything else

    def begin(self, work: Callable[[], None]) -> None:
        """Do what is done when a catalog is opened; where another process has the turn, in our first one: until then, see what is there."""
        self._first = work
        with self._store.turn(wait=False) as turn:
            if turn is not Turn.TAKEN:
                self._have(turn, lambda: None)
                return
        self._sync.follow()

    def end(self) -> None:
        """Make the index durable. Where others go on, it was at the end of each turn."""
        if not self._store.shared:
            self._sync.close()

    def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do what writes, when it is our turn."""
        with self._store.turn() as turn:
            return self._have(turn, work, *args, **kwargs)

    def mend(self) -> None:
        """Let the index hear of what it missed, unless another process has the turn: that one does so anyway."""
        with self._store.turn(wait=False) as turn:
            if turn is not Turn.TAKEN:
                try:
                    self._have(turn, self._sync.catch_up)
                except IndexUnavailable as error:
                    self._sync.doubt(error)

    def left_over(self) -> bool:
        """Whether somebody may have died before the index heard of everything."""
        return bool(self._sync.behind) or (self._store.shared and self._store.oldest_outbox() is not None)

    def follow(self) -> None:
        """Another process may have written: see what is there now."""
        if self._having.acquire(blocking=False):
            try:
                if self._store.revision() != self._sync.snapshot.revision:
                    self._sync.follow()
            finally:
                self._having.release()

    def _have(self, turn: Turn, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        with self._having:
            self._outdated |= turn is Turn.AFTER_OTHERS
            if self._first is not None:
                self._first()
            elif self._outdated:
                self._same_model()
                self._sync.reopen()
            self._first, self._outdated = None, False
            try:
                return work(*args, **kwargs)
            finally:
                if self._store.shared:
                    self._sync.close()  # what is written is told: whoever comes next begins there
                    self._answering = change.recall(self._store)

    def _same_model(self) -> None:
        """C07 is one process's doing: for the others their index is gone, and they must not build it again."""
        if change.recall(self._store) != self._answering:
            raise IndexUnavailable("Another process has changed the model that answers. Start this one again, with the same settings.")
