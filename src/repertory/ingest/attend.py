"""When does a live server have to be asked again before its turn?

When it says that its tools have changed, or when the time is over for which it said that its listing holds. What is said in a burst is one
change. A server that is lost is listened to again after the next look that finds it well.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection
from typing import Self

from repertory.sources.listen import listen
from repertory.sources.mcp import Offer, Outcome
from repertory.sources.serverspec import ServerSpec

_log = logging.getLogger(__name__)

SETTLE = 1.0  # seconds that a change may take: a server that adds ten tools says so ten times
PAUSE = 5.0  # seconds between two looks, however often servers say that something changed
LEAST_TTL = 30.0  # seconds that every listing holds: a shorter time would be one endless question
MOST = 32  # servers that are listened to at a time: each may be a process that is kept

Ask = Callable[[Collection[str]], Awaitable[object]]  # the servers of these names


class Attendant:
    """Attends to live servers; used as a context, it lets go of them at its end."""

    def __init__(self, ask: Ask, turn: float) -> None:
        self._ask = ask
        self._turn = turn  # seconds after which everybody is asked anyway
        self._due: set[str] = set()
        self._something = asyncio.Event()  # is due
        self._listening: dict[str, tuple[ServerSpec, asyncio.Task[None]]] = {}
        self._aging: dict[str, asyncio.TimerHandle] = {}
        self._leaving: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._asking = asyncio.create_task(self._ask_again())
        return self

    async def __aexit__(self, *_: object) -> None:
        self.keep(())
        self._asking.cancel()
        await asyncio.gather(self._asking, *self._leaving, return_exceptions=True)

    def told(self, spec: ServerSpec, outcome: Outcome) -> None:
        """A server was asked: attend to it as its answer says."""
        name = spec.name
        if name in self._aging:
            self._aging.pop(name).cancel()
        known = self._listening.get(name)
        if known is not None and (known[0] != spec or known[1].done() or not isinstance(outcome, Offer)):
            self._leave(name)
        if not isinstance(outcome, Offer):
            return
        if outcome.announces and name not in self._listening and len(self._listening) < MOST:
            self._listening[name] = (spec, asyncio.create_task(listen(spec, lambda: self._changed(name))))
        if 0 < outcome.ttl < self._turn:
            self._aging[name] = asyncio.get_running_loop().call_later(max(outcome.ttl, LEAST_TTL), self._changed, name)

    def keep(self, names: Collection[str]) -> None:
        """Attend to these only: others are no longer there."""
        for name in self._listening.keys() - set(names):
            self._leave(name)
        for name in self._aging.keys() - set(names):
            self._aging.pop(name).cancel()

    def _leave(self, name: str) -> None:
        _, task = self._listening.pop(name)
        task.cancel()
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)

    def _changed(self, name: str) -> None:
        self._due.add(name)
        self._something.set()

    async def _ask_again(self) -> None:
        while True:
            await self._something.wait()
            await asyncio.sleep(SETTLE)
            self._something.clear()
            names, self._due = self._due, set()
            try:
                await self._ask(names)
            except Exception:
                _log.exception("Asking servers that changed failed; their turn comes")
            await asyncio.sleep(PAUSE)
