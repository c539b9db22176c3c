"""What need not be worked out again?

E09: bounded, limited in time, and a single flight: equal keys at the same time are worked out once. A key must hold everything that the
value depends on. Lives on one event loop.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, NamedTuple, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

Clock = Callable[[], float]


class Kept(NamedTuple, Generic[V]):
    """A value, and whether this very call had it made: who counts costs counts only then."""

    value: V
    made: bool


class TimedCache(Generic[K, V]):
    """Remembers the `size` values used last, each for `ttl` seconds. None is a value; failures are not remembered."""

    def __init__(self, *, size: int, ttl: float, clock: Clock = time.monotonic) -> None:
        self._size = size
        self._ttl = ttl
        self._clock = clock
        self._entries: OrderedDict[K, tuple[float, V]] = OrderedDict()  # key -> (expiry, value), oldest use first
        self._flights: dict[K, asyncio.Task[V]] = {}

    async def get(self, key: K, make: Callable[[], Awaitable[V]]) -> Kept[V]:
        """The value of a key; where it is not known, `make` makes it, for everyone who waits."""
        if (entry := self._entry(key)) is not None:
            return Kept(entry[1], made=False)
        if (flight := self._flights.get(key)) is not None:
            return Kept(await asyncio.shield(flight), made=False)
        # A task of its own, shielded: a caller who leaves must not take the value from the others.
        flight = self._flights[key] = asyncio.create_task(self._fly(key, make))
        flight.add_done_callback(lambda task: task.cancelled() or task.exception())  # seen, even when every caller left
        return Kept(await asyncio.shield(flight), made=True)

    def known(self, key: K) -> V | None:
        """The value of a key, where it is known."""
        entry = self._entry(key)
        return None if entry is None else entry[1]

    def forget(self, key: K) -> None:
        """Make the value anew next time."""
        self._entries.pop(key, None)

    async def close(self) -> None:
        """Wait for what is under way, then forget everything."""
        await asyncio.gather(*self._flights.values(), return_exceptions=True)
        self._entries.clear()

    def _entry(self, key: K) -> tuple[float, V] | None:
        if (entry := self._entries.get(key)) is None:
            return None
        if self._clock() >= entry[0]:
            del self._entries[key]
            return None
        self._entries.move_to_end(key)
        return entry

    async def _fly(self, key: K, make: Callable[[], Awaitable[V]]) -> V:
        try:
            value = await make()
        finally:
            del self._flights[key]
        self._entries[key] = (self._clock() + self._ttl, value)
        self._entries.move_to_end(key)
        if len(self._entries) > self._size:
            self._entries.popitem(last=False)
        return value
