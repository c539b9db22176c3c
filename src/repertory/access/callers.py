"""Who is calling?

A credential is the token that the owner of the catalog directory can read, an API key, or a token of the identity provider. One that does
not count (any more) is refused, never taken for none. Whoever shows none is anyone, where the service is open.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Literal

from repertory.access import keys
from repertory.access.keys import NewKey
from repertory.access.tokens import Issuer
from repertory.errors import NotFound, Unauthorized
from repertory.model import Principal
from repertory.offload import offload
from repertory.store import KeyRecord, Store

Policy = Literal["open", "required"]

SCHEME = "bearer"


class Callers:
    """Recognises whoever calls. Keys are remembered here; where processes share a catalog, each hears of it when others change them."""

    def __init__(
        self,
        store: Store,
        issuer: Issuer | None = None,
        policy: Policy | None = None,
        *,
        now: Callable[[], datetime] = keys.now,
    ) -> None:
        self._store = store
        self._issuer = issuer
        self._policy = policy
        self._now = now
        self._owner: bytes | None = None
        self._keys: dict[str, KeyRecord] = {record.id: record for record in store.api_keys()}
        self._used: dict[str, str] = {}  # keys whose last use is not written yet

    def accept_owner(self, token: str) -> None:
        """From here on, this token is the owner's."""
        self._owner = token.encode()

    @property
    def policy(self) -> Policy:
        """Whether a credential is required. A key that was revoked still says that not everybody was meant."""
        return self._policy or ("required" if self._issuer or self._keys else "open")

    @property
    def can_recognise(self) -> bool:
        """Whether anybody but the owner could prove who they are: until then only this machine may be served."""
        alive = (record for record in self._keys.values() if record.revoked is None)
        return self._issuer is not None or any(alive)

    async def recognise(self, authorization: str | None) -> Principal:
        """The principal behind an Authorization header."""
        if authorization is None:
            if self.policy == "required":
                raise Unauthorized("This needs a credential: send the header Authorization: Bearer, with an API key or a token.")
            return Principal.anyone()
        scheme, _, token = authorization.strip().partition(" ")
        token = token.strip()
        if scheme.lower() != SCHEME or not token:
            raise Unauthorized("The Authorization header must be: Bearer, a space, and an API key or a token.")
        if self._owner is not None and secrets.compare_digest(token.encode("utf-8", "surrogateescape"), self._owner):
            return Principal()
        if token.startswith(keys.PREFIX):
            return self._by_key(token)
        if self._issuer is None:
            raise Unauthorized("The credential is not known here.")
        return await self._issuer.recognise(token)

    def _by_key(self, token: str) -> Principal:
        now = self._now()
        record = self._keys.get(keys.id_of(token) or "")
        if record is None or not keys.proves(token, record, now):
            raise Unauthorized("The API key is not known, was revoked, or has expired.")
        hour = now.replace(minute=0, second=0, microsecond=0).isoformat(timespec="seconds")
        if record.last_used != hour:
            self._used[record.id] = hour
        return keys.principal_of(record)

    async def create_key(self, name: str, groups: Iterable[str], scopes: Iterable[str], expires: str | None, by: Principal) -> NewKey:
        """A new key. Its token is in this answer, and nowhere else."""
        new = keys.make(name, groups, scopes, expires, self._now())
        await offload(self._store.put_key, new.record, by.name)
        self._keys[new.record.id] = new.record
        return new

    async def revoke_key(self, key_id: str, by: Principal) -> None:
        """End a key at once."""
        at = self._now().isoformat(timespec="seconds")
        if not await offload(self._store.revoke_key, key_id, at, by.name):
            raise NotFound(f"There is no key {key_id!r} to revoke. `repertory keys list` shows what there is.")
        await self._look()

    async def list_keys(self) -> list[KeyRecord]:
        """Every key, the oldest first."""
        await self.note_use()
        await self._look()
        return list(self._keys.values())

    async def note_use(self) -> None:
        """Write down when keys were last used: now and then, because a request should not wait for it."""
        used, self._used = self._used, {}
        if used:
            await offload(self._store.mark_keys, used)
            await self._look()

    async def close(self) -> None:
        """Let go of connections."""
        if self._issuer is not None:
            await self._issuer.close()

    def refresh(self) -> None:
        """Read the keys again."""
        self._keys = {record.id: record for record in self._store.api_keys()}

    async def _look(self) -> None:
        await offload(self.refresh)
