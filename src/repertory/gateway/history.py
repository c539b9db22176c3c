"""What did agents do, and which search led them there?

Calls and searches are noted in memory and written together, so that no call waits for a disk: a process that is killed loses the last
minute of it. Where usage teaches (F07), a call that worked counts for the latest searches of the same caller that had shown the tool.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, TypeVar

from repertory.errors import RepertoryError
from repertory.offload import offload
from repertory.search.usage import Terms, Usage
from repertory.store import Call, Store

BATCH = 500  # calls that are written without waiting for the next tidying up
WINDOW = 600.0  # seconds in which a call still belongs to a search
LATEST = 3  # searches of a caller that a call may belong to: agents often rephrase before they find
CALLERS = 1000  # whose searches are remembered

T = TypeVar("T")


class Who(NamedTuple):
    """Whose searches and calls belong together."""

    name: str
    session: str = ""


@dataclass(slots=True)
class _Search:
    at: float
    terms: Terms
    shown: set[str]  # the tools that have not been called since: each counts once


@dataclass(slots=True)
class Noted:
    """What becomes of a call."""

    tool: str = ""  # an id, once it is known
    outcome: str = "failed"


class History:
    """What is noted of calls and searches, until it is written."""

    def __init__(self, store: Store, usage: Usage | None, *, days: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.usage = usage
        self._store = store
        self._days = days
        self._clock = clock
        self._calls: deque[Call] = deque()  # filled here and emptied on another thread
        self._learned: deque[tuple[Terms, str]] = deque()
        self._searches: OrderedDict[Who, deque[_Search]] = OrderedDict()
        self._writing = threading.Lock()
        self._flushes: set[asyncio.Task[None]] = set()

    def searched(self, who: Who, terms: Terms, shown: set[str]) -> None:
        """A search was answered with these entries."""
        if self.usage is None or not terms or not shown:
            return
        self._searches.setdefault(who, deque(maxlen=LATEST)).append(_Search(self._clock(), terms, shown))
        self._searches.move_to_end(who)
        if len(self._searches) > CALLERS:
            self._searches.popitem(last=False)

    @contextmanager
    def noting(self, who: Who) -> Iterator[Noted]:
        """Note a call: how long it takes and how it ends."""
        noted, started = Noted(), time.perf_counter()
        try:
            yield noted
        except RepertoryError as error:
            noted.outcome = error.code
            raise
        except asyncio.CancelledError:
            noted.outcome = "cancelled"
            raise
        finally:
            self.note(who.name, noted.tool, (time.perf_counter() - started) * 1000, noted.outcome)
        if noted.outcome == "ok":
            self._learn(who, noted.tool)

    def _learn(self, who: Who, entity_id: str) -> None:
        for search in self._searches.get(who, ()):
            if entity_id in search.shown and self._clock() - search.at <= WINDOW:
                search.shown.discard(entity_id)
                self._learned.append((search.terms, entity_id))

    def note(self, who: str, tool: str, ms: float, outcome: str, exposed: int | None = None, withheld: int | None = None) -> None:
        """Somebody used something, which ended just now."""
        if not self._days:
            return
        began = datetime.now(UTC) - timedelta(milliseconds=ms)
        self._calls.append(Call(who, tool, began.isoformat(timespec="milliseconds"), ms, outcome, exposed, withheld))
        if len(self._calls) >= BATCH and not self._flushes:
            task = asyncio.get_running_loop().create_task(offload(self.flush))
            self._flushes.add(task)
            task.add_done_callback(self._flushes.discard)

    def flush(self) -> None:
        """Write what was noted, and learn from it. Blocks."""
        with self._writing:
            if calls := _taken(self._calls):
                self._store.note_calls(calls)
            if (learned := _taken(self._learned)) and self.usage is not None:
                self.usage.learn(learned)

    def forget(self) -> None:
        """Let go of what is older than is kept. Blocks."""
        self._store.forget_calls(datetime.now(UTC) - timedelta(days=self._days))


def _taken(waiting: deque[T]) -> list[T]:
    return [waiting.popleft() for _ in range(len(waiting))]
