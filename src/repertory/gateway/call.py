"""How is a tool called?

Resolve the name, check who asks, check the arguments, hand them to the server that has the tool, and give back what it says, unchanged.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from repertory import access
from repertory.cache import TimedCache
from repertory.errors import SourceError, UpstreamError
from repertory.gateway import agents
from repertory.gateway.arguments import check
from repertory.gateway.credentials import Key, Vault
from repertory.gateway.history import History, Who
from repertory.gateway.identity import Identities
from repertory.gateway.resolve import resolve
from repertory.gateway.session import Order, Report
from repertory.gateway.upstreams import Upstreams
from repertory.ingest.live import spec_of
from repertory.model import Entity, Filter, Kind, Principal
from repertory.offload import offload
from repertory.sources.serverspec import ServerSpec
from repertory.store import Store
from repertory.telemetry import measured

_NOTHING: Mapping[str, Any] = MappingProxyType({})

MAX_TARGETS = 4096  # that are known by heart, until the catalog changes; few have more tools that are used
KNOWN_FOR = 3600.0  # seconds
MAX_LOG = 1_000_000  # bytes of what a server wrote to its stderr that are kept


class Target(NamedTuple):
    """What is called, and where."""

    entity: Entity
    server: str


class Gateway:
    """The way from a found tool to its server. `revision` says how far the catalog has come."""

    def __init__(
        self,
        store: Store,
        logs: Path,
        within: float,
        vault: Vault,
        identities: Identities,
        history: History,
        revision: Callable[[], int],
    ) -> None:
        self._store = store
        self._logs = logs
        self._within = within
        self._vault = vault
        self._identities = identities
        self._history = history
        self._revision = revision
        self._targets: TimedCache[tuple[int, str, Filter], Target] = TimedCache(size=MAX_TARGETS, ttl=KNOWN_FOR)
        self._noticed: tuple[int, ...] | None = None  # the state of the vault that sessions agree with
        self._noticing = asyncio.Lock()
        self.upstreams = Upstreams(self._spec, self._log, identities.of)

    async def call(
        self,
        reference: str,
        arguments: Mapping[str, Any],
        principal: Principal,
        report: Report | None = None,
        extra: Mapping[str, Any] = _NOTHING,
        session: str = "",
    ) -> dict[str, Any]:
        """Call a tool, and answer its result as the server gave it."""
        with measured("call") as labels, self._history.noting(Who(principal.name, session)) as noted:
            target = await self._target(reference, access.callable_by(principal))
            noted.tool = target.entity.id
            result = await self._call(target, arguments, principal, report, extra)
            noted.outcome = labels["outcome"] = "refused" if result.get("isError") else "ok"
            return result

    async def _call(
        self, target: Target, arguments: Mapping[str, Any], principal: Principal, report: Report | None, extra: Mapping[str, Any]
    ) -> dict[str, Any]:
        from mcp import MCPError

        entity, server = target
        await self._notice_logins()
        if entity.kind is Kind.A2A_AGENT:
            check(entity.path, agents.SCHEMA, arguments)
            headers = await self._identities.headers(entity.id, principal.name, agents.origins(entity))
            return await agents.send(entity, Order(entity.path, arguments, self._within, report, headers=headers))
        check(entity.path, entity.details.get("input_schema") or {}, arguments)
        try:
            return await self.upstreams.call(Key(server, principal.name), Order(entity.name, arguments, self._within, report, extra))
        except MCPError as error:
            told = (error.error.code, error.error.message, error.error.data)
            raise UpstreamError(f"{entity.path} answered with an error: {error.error.message}", told) from None

    async def _notice_logins(self) -> None:
        """Leave the sessions of who logged in or out, in whichever process; nobody passes before they are left."""
        state = self._vault.state()
        if state == self._noticed:
            return
        async with self._noticing:
            for changed in await offload(self._vault.changes):
                await self.upstreams.forget(*changed)
            self._noticed = state  # as it was before `changes` looked: what comes in between is noticed next time

    async def _target(self, reference: str, allowed: Filter) -> Target:
        """What a reference means to somebody who may call this."""
        key = self._revision(), reference, allowed
        return (await self._targets.get(key, lambda: offload(self._resolve, reference, allowed))).value

    def _resolve(self, reference: str, allowed: Filter) -> Target:
        entity = resolve(reference, lambda spelling: self._store.find(spelling, allowed))
        return Target(entity, self._store.owners([entity.id]).get(entity.id, ""))

    async def _spec(self, server: str) -> ServerSpec:
        return await offload(self._spec_now, server)

    def _spec_now(self, server: str) -> ServerSpec:
        source = next((source for source in self._store.sources() if source.name == server), None)
        if source is None or not source.live:
            raise UpstreamError(
                f"The tools of {server!r} were read from a file, which does not say how to reach their server. Add a config that does."
            )
        try:
            return spec_of(source)
        except SourceError as error:
            raise UpstreamError(f"The server {server!r} cannot be reached: {error}") from error

    def _log(self, server: str) -> Callable[[bytes], None]:
        """Where the stderr of a server is kept: a file of its own, begun anew when it grows too long."""
        self._logs.mkdir(parents=True, exist_ok=True)
        return partial(_append, self._logs / f"{''.join(c if c.isalnum() or c in '-_.' else '_' for c in server)}.log")

    async def close(self) -> None:
        """Leave every server."""
        await self.upstreams.close()
        await self._identities.close()


def _append(file: Path, piece: bytes) -> None:
    if file.exists() and file.stat().st_size + len(piece) > MAX_LOG:
        file.replace(file.with_suffix(".old.log"))
    with file.open("ab") as log:
        if not log.tell():
            log.write(f"# begun {time.strftime('%Y-%m-%d %H:%M:%S')}\n".encode())
        log.write(piece)
