"""Which servers are we talking to?

One session per server and principal, opened at the first call and kept while it is used: what one principal is known by, another never
shares. A session that broke is opened anew at the next call, with a pause that grows while its server stays away; one that idles is closed,
and its child with it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from repertory.errors import LoginRequired
from repertory.gateway.credentials import EVERYONE, Key
from repertory.gateway.session import Order, Session
from repertory.sources.serverspec import Identify, ServerSpec, nobody

MOST = 64  # sessions at a time: each may be a process
IDLE = 300.0  # seconds without a call, after which a session is closed
PAUSE = 0.5  # seconds after a first failure, doubled by every further one
MAX_PAUSE = 15.0


@dataclass(slots=True)
class Trouble:
    """How often a server could not be reached, and when it is tried again."""

    failures: int = 0
    until: float = 0.0


class Upstreams:
    """All sessions. `find` gives the specification of a server by its name, as its config says now; `known` tells what a principal is known
    by."""

    def __init__(
        self,
        find: Callable[[str], Awaitable[ServerSpec]],
        log: Callable[[str], Callable[[bytes], None]],
        known: Callable[[str], Identify] = lambda _: nobody,
    ) -> None:
        self._find = find
        self._log = log
        self._known = known
        self._sessions: dict[Key, Session] = {}
        self._opening: dict[Key, asyncio.Lock] = {}
        self._trouble: dict[Key, Trouble] = {}
        self._leaving: set[asyncio.Task[None]] = set()
        self._retired: set[Session] = set()

    async def call(self, key: Key, order: Order) -> dict[str, Any]:
        """What a server answers to a call. Raises `UpstreamError` when it does not, and `MCPError` when it answers with an error."""
        from mcp import MCPError
        from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT

        for again in (True, False):
            session = await self._session(key, order)
            try:
                return await session.call(order)
            except MCPError as error:
                if error.code == REQUEST_TIMEOUT:
                    raise session.failure(f"it did not answer within {order.within:g} s") from None
                if session.refused:
                    self._drop(key, session)
                    raise session.failure("") from None
                if error.code == CONNECTION_CLOSED or session.unheard or session.over:
                    self._drop(key, session)
                    if session.unheard and again and not session.busy:  # with others under way, nobody knows whose request was lost
                        continue
                    raise session.failure("the connection was lost during the call; it may have been carried out or not") from None
                raise session.without_secrets(error) from None
        raise AssertionError

    async def _session(self, key: Key, order: Order) -> Session:
        async with self._opening.setdefault(key, asyncio.Lock()):
            known = self._sessions.get(key)
            if known is not None and not known.over:
                return known
            trouble = self._trouble.setdefault(key, Trouble())
            if (pause := trouble.until - time.monotonic()) > 0:
                await asyncio.sleep(min(pause, order.within))
            session = Session(key, await self._find(key.server), self._log(key.server), self._known(key.principal))
            try:
                await session.client()
            except LoginRequired:  # waiting does not help
                self._leave(session)
                raise
            except BaseException:
                trouble.failures += 1
                trouble.until = time.monotonic() + min(PAUSE * 2 ** (trouble.failures - 1), MAX_PAUSE)
                self._leave(session)
                raise
            self._trouble.pop(key, None)
            self._sessions[key] = session
            self._make_room()
            return session

    def _make_room(self) -> None:
        """Close what idles, and the longest unused beyond the most."""
        now = time.monotonic()
        idle = sorted((session.used, key) for key, session in self._sessions.items() if not session.busy)
        surplus = max(0, len(self._sessions) - MOST)
        for place, (used, key) in enumerate(idle):
            if place < surplus or now - used > IDLE or self._sessions[key].over:
                self._drop(key, self._sessions[key])

    async def keep_tidy(self) -> None:
        """Close idle sessions, again and again: a serving process runs this behind the requests."""
        while True:
            await asyncio.sleep(IDLE / 5)
            self._make_room()

    async def forget(self, server: str, principal: str = EVERYONE) -> None:
        """Open anew what is open with a server, for a principal or for everyone: its config, its entry or a credential changed. Calls that
        are under way end as they began."""
        for key in [key for key in self._opening if key.server == server and principal in (EVERYONE, key.principal)]:
            async with self._opening[key]:  # one that is being opened is opened with what holds no longer
                self._trouble.pop(key, None)
                if (session := self._sessions.pop(key, None)) is not None:
                    session.retire()
                    self._retired = {session, *(one for one in self._retired if not one.gone)}

    def _drop(self, key: Key, session: Session) -> None:
        if self._sessions.get(key) is session:
            del self._sessions[key]
        self._leave(session)

    def _leave(self, session: Session) -> None:
        task = asyncio.create_task(session.close())
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)

    async def close(self) -> None:
        """Leave everybody."""
        sessions = [*self._sessions.values(), *self._retired]
        self._sessions.clear()
        await asyncio.gather(*(session.close() for session in sessions), *self._leaving, return_exceptions=True)
