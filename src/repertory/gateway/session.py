"""What is said in one session with one server?

It lives in a task of its own, from the first call until it is left, breaks or is retired. What its server says is passed on unchanged; only
what we were known by is not.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from repertory.errors import LoginRequired, RepertoryError, UpstreamError
from repertory.gateway.credentials import Key
from repertory.gateway.identity import login_command
from repertory.sources.serverspec import UNKNOWN, Identify, Resolved, ServerSpec, Unresolved, resolve

if TYPE_CHECKING:
    import anyio
    from mcp import Client, MCPError

CLOSE_TIME = 5.0  # seconds in which a server may end


class Report(Protocol):
    """How far a call has come."""

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None: ...


@dataclass(frozen=True, slots=True)
class Order:
    """What a server is asked to do."""

    tool: str
    arguments: Mapping[str, Any]
    within: float  # seconds
    report: Report | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)  # what else the caller's protocol brings along
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)  # the principal's own, for who has no session


class Session:
    """One session with one server, in a task of its own: the SDK wants to be left where it was entered."""

    def __init__(self, key: Key, spec: ServerSpec, log: Callable[[bytes], None], identify: Identify) -> None:
        self._key = key
        self._spec = spec
        self._identify = identify
        self._log = log
        self._stop = asyncio.Event()
        self._ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._wire: Any = None
        self._resolved: Resolved | None = None
        self.used = time.monotonic()
        self.busy = 0
        self._retired = False
        self._task = asyncio.create_task(self._live())

    @property
    def over(self) -> bool:
        """Whether there is nobody at the other end any more."""
        return self._task.done() or self._stop.is_set()

    @property
    def gone(self) -> bool:
        """Whether nothing of it is left."""
        return self._task.done()

    async def client(self) -> Client:
        """The SDK's client, once the server has answered. Raises `UpstreamError`."""
        try:
            return await asyncio.wait_for(asyncio.shield(self._ready), self._spec.timeout)
        except TimeoutError:
            self._stop.set()
            raise self.failure(f"it did not answer within {self._spec.timeout:g} s") from None

    async def call(self, order: Order) -> dict[str, Any]:
        """What the server answers, unchanged. Raises `MCPError` or `UpstreamError`."""
        import mcp_types as types
        from mcp import MCPError
        from mcp_types import HEADER_MISMATCH

        parameters = types.CallToolRequestParams(name=order.tool, arguments=dict(order.arguments), **order.extra)
        request = types.CallToolRequest(params=parameters)

        async def send(client: Client) -> dict[str, Any]:
            answer: Any = await client.session.send_request(request, _unchanged(), order.within, progress_callback=order.report)
            return dict(answer)

        self.busy += 1
        try:
            client = await self.client()
            try:
                return await send(client)
            except MCPError as error:
                if error.code != HEADER_MISMATCH:
                    raise
            await client.list_tools()  # the server wants arguments as headers, which only its listing tells
            return await send(client)
        finally:
            self.busy -= 1
            self.used = time.monotonic()
            if self._retired:
                self.retire()

    @property
    def refused(self) -> bool:
        """Whether the server does not know who asks."""
        return self._wire is not None and self._wire.refusal == UNKNOWN

    def failure(self, reason: str) -> UpstreamError:
        """Why it did not work, without secrets."""
        if self.refused and self._resolved and (trouble := self._resolved.identity.noticed.trouble):
            return UpstreamError(f"The server {self._spec.name!r} failed: the login there could not be renewed, {trouble}.")
        if self.refused:
            return LoginRequired(f"The server {self._spec.name!r} wants you to log in: run `{login_command(self._key)}`.")
        words = self._wire.last_words if self._wire is not None else ""
        told = f"The server {self._spec.name!r} failed: {reason}" + (f"; its last words: {words}" if words else "") + "."
        return UpstreamError(self._hide(told))

    def without_secrets(self, error: MCPError) -> MCPError:
        """What a server says, without what it was shown: a credential may be one that the caller does not have itself."""
        from mcp import MCPError

        said = error.error
        return MCPError(said.code, self._hide(said.message), json.loads(self._hide(json.dumps(said.data))))

    def _hide(self, text: str) -> str:
        return self._resolved.hide(text) if self._resolved else text

    @property
    def unheard(self) -> bool:
        """Whether the last request cannot have reached anybody, so that asking again does nothing twice."""
        return self._wire is not None and (self._wire.unreached or self._wire.refusal == 404)  # 404: the server forgot this session

    def retire(self) -> None:
        """Leave when the last call that is under way is done."""
        self._retired = True
        if not self.busy:
            self._stop.set()

    async def close(self) -> None:
        """Leave, and wait until a child is gone."""
        self._stop.set()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._task), CLOSE_TIME)
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _live(self) -> None:
        import anyio
        from mcp import Client

        from repertory.sources.mcp import reason_of
        from repertory.sources.transports import Wire

        try:
            self._resolved = resolve(self._spec, os.environ)
            self._resolved = self._resolved.known_by(await self._identify(self._resolved.spec))
            with Wire(self._resolved, stays=True, log=self._log) as self._wire:
                with anyio.CancelScope() as scope:
                    async with Client(self._wire.open(scope.cancel), cache=None) as client:
                        self._ready.set_result(client)
                        await _first(self._stop, self._wire.listing.ended)
                if self._wire.overflowed and not self._ready.done():
                    self._fail("it says more than is listened to")
        except Unresolved as error:
            self._fail(str(error))
        except RepertoryError as error:
            self._fail_with(error)
        except Exception as error:  # whatever a stranger's server makes the SDK raise concerns that server alone
            self._fail(reason_of(error, self._spec, self._wire.refusal if self._wire else None))
        finally:
            if not self._ready.done():
                self._fail("it went away")

    def _fail(self, reason: str) -> None:
        self._fail_with(self.failure(reason))

    def _fail_with(self, error: RepertoryError) -> None:
        if not self._ready.done():
            self._ready.set_exception(error)
            self._ready.exception()  # nobody may have asked


async def _first(*events: asyncio.Event | anyio.Event) -> None:
    waiting = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for one in waiting:
            one.cancel()


@cache
def _unchanged() -> Any:
    """What the SDK is to make of an answer: nothing."""
    from pydantic import TypeAdapter

    return TypeAdapter(dict[str, Any])
