"""How long is a broken model left alone?

A15: one failed call never turns a process dumb until restart, and a dead model does not slow every search.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from repertory.cache import Clock
from repertory.errors import RepertoryError

T = TypeVar("T")


class Breaker:
    """A time limit and a circuit breaker around the calls of one model; what it raises, and what opens it, is a `fault`.

    A call that fails or times out opens the breaker: calls fail at once, for `pause` seconds. Then one call is let through; its success
    closes the breaker, its failure starts the next pause.
    """

    def __init__(self, name: str, fault: type[RepertoryError], *, pause: float, timeout: float, clock: Clock = time.monotonic) -> None:
        self._name = name  # opens a sentence: "The embedder X"
        self._fault = fault
        self._pause = pause
        self._timeout = timeout
        self._clock = clock
        self._retry_at: float | None = None  # None: the breaker is closed
        self._reason = ""

    async def call(self, make: Callable[[], Awaitable[T]]) -> T:
        """What `make` answers in time."""
        self.refuse_while_open()
        started = self._clock()
        trial = self._retry_at is not None
        if trial:
            self._retry_at = started + self._pause  # refuses everyone else until this one is back
        try:
            async with asyncio.timeout(self._timeout):
                answer = await make()
        except TimeoutError:
            raise self._open(f"{self._name} did not answer in {self._timeout:g} s.") from None
        except self._fault as error:
            raise self._open(str(error)) from error
        except asyncio.CancelledError:
            if trial:
                self._retry_at = started  # the caller left and nothing was learned: the next call is the trial
            raise
        self._retry_at = None
        return answer

    def refuse_while_open(self) -> None:
        """Fail at once during a pause."""
        if self._retry_at is not None and (left := self._retry_at - self._clock()) > 0:
            raise self._fault(f"{self._name} rests after a failure, to be tried again in {left:.1f} s. {self._reason}")

    def _open(self, reason: str) -> RepertoryError:
        self._retry_at = self._clock() + self._pause
        self._reason = reason
        return self._fault(f"{reason} It will be tried again in {self._pause:g} s.")
