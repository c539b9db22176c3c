"""How are denied attempts noted, without letting them flood the audit log?

The first of a kind is written at once, the rest of its minute as one line with their number. Kinds are bounded: what a stranger makes up
is never a kind of its own.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from repertory.store import Store

WINDOW = 60.0  # seconds that one line stands for
MOST = 100  # kinds in one window; those beyond are counted together


class Denial(NamedTuple):
    """A kind of denied attempt."""

    who: str
    action: str  # "access.unauthorized" or "access.forbidden"
    target: str  # the route, never what was asked of it


class Denials:
    """Counts denied attempts. Calls block: they may write."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._clock = clock
        self._counts: dict[Denial, int] = {}  # since the line that was written first
        self._began = clock()
        self._turn = threading.Lock()

    def note(self, denial: Denial) -> None:
        """One more attempt."""
        if self._clock() - self._began >= WINDOW:
            self.flush()
        with self._turn:
            if denial not in self._counts and len(self._counts) >= MOST:
                denial = Denial("several", denial.action, "several")
            if denial in self._counts:
                self._counts[denial] += 1
                return
            self._counts[denial] = 0
        self._store.record(*denial, {"attempts": 1})

    def flush(self) -> None:
        """Write what was counted, and begin anew."""
        with self._turn:
            counts, self._counts, self._began = self._counts, {}, self._clock()
        for denial, more in counts.items():
            if more:
                self._store.record(*denial, {"attempts": more})
