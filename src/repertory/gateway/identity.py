"""What is a principal known by at a server?

By what the config says for all, over that by what is stored for everyone, over that by what is stored for the principal; never by what it
showed us. A credential is sent only to the origin that it was stored for: a config that changes does not take it elsewhere.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from functools import partial

from repertory.errors import LoginRequired, RepertoryError
from repertory.gateway.credentials import EVERYONE, Credential, Key, Vault
from repertory.model import Principal
from repertory.offload import offload
from repertory.sources.serverspec import Identify, Identity, Noticed, ServerSpec, Transport, overlaid


class Identities:
    """Everybody's, kept valid while they are used."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._renewing: dict[Key, asyncio.Task[str]] = {}

    def of(self, principal: str) -> Identify:
        """What this principal is known by, server by server."""
        return partial(self._identify, principal)

    async def headers(self, server: str, principal: str, origins: Iterable[str]) -> dict[str, str]:
        """The headers alone, for who has no session."""
        headers: dict[str, str] = {}
        for key, credential in await self._stored(server, principal):
            for origin in origins:
                _check(key, credential, origin)
            headers = overlaid(headers, credential.headers)
        return headers

    async def _identify(self, principal: str, spec: ServerSpec) -> Identity:
        headers: dict[str, str] = {}
        login: Key | None = None
        if spec.transport is not Transport.STDIO:  # a child is told by its environment, which its config names
            for key, credential in await self._stored(spec.name, principal):
                _check(key, credential, spec.target)
                headers = overlaid(headers, credential.headers)
                if credential.oauth is not None:
                    headers = {name: value for name, value in headers.items() if name.lower() != "authorization"}
                    login = key
                elif "authorization" in map(str.lower, credential.headers):
                    login = None
        if login is None:
            return Identity(headers)
        from repertory.gateway.oauth import Shown

        noticed = Noticed()
        return Identity(headers, Shown(partial(self._token, login, spec.url, noticed), noticed.tokens), noticed)

    async def _stored(self, server: str, principal: str) -> list[tuple[Key, Credential]]:
        """The most general first."""
        held = await offload(self._vault.all)
        keys = (Key(server, EVERYONE), Key(server, principal))
        return [(key, held[key]) for key in dict.fromkeys(keys) if key in held]

    async def _token(self, key: Key, url: str, noticed: Noticed, refused: str | None) -> str | None:
        """A token that should be valid and was not refused; else the one there is. One renewal at a time, which no caller can break off."""
        credential = await offload(self._vault.get, key)
        if credential is None or credential.oauth is None or not _is_stale(credential, refused):
            return _token_of(credential)
        if key not in self._renewing:
            self._renewing[key] = asyncio.create_task(self._renew(key, url, refused))
            self._renewing[key].add_done_callback(lambda _: self._renewing.pop(key, None))
        noticed.trouble = await asyncio.shield(self._renewing[key])
        return _token_of(await offload(self._vault.get, key))

    async def _renew(self, key: Key, url: str, refused: str | None) -> str:
        """Answers what kept it from being renewed."""
        from repertory.gateway.oauth import renewed

        credential = await offload(self._vault.get, key)
        if credential is None or not _is_stale(credential, refused):
            return ""  # it was renewed while we came here; a second time would show a token that is no longer taken
        try:
            await offload(self._vault.renew, key, await renewed(credential, url))
        except (RepertoryError, OSError) as error:
            return str(error)
        return ""

    async def close(self) -> None:
        """Wait for what is under way: a token that was given and not kept is lost."""
        await asyncio.gather(*self._renewing.values(), return_exceptions=True)


def _is_stale(credential: Credential, refused: str | None) -> bool:
    expired = credential.expires is not None and credential.expires <= time.time()
    return credential.renewable and (expired or _token_of(credential) == refused)


def _token_of(credential: Credential | None) -> str | None:
    return str(credential.oauth["tokens"]["access_token"]) if credential and credential.oauth else None


def _check(key: Key, credential: Credential, origin: str) -> None:
    if credential.origin != origin:
        raise LoginRequired(
            f"The login at {key.server!r} was for {credential.origin}, but it is at {origin} now. "
            f"If that is right, run `{login_command(key)}`."
        )


def login_command(key: Key) -> str:
    """What to type to log in."""
    whose = {EVERYONE: " --everyone", Principal().name: ""}.get(key.principal, f" --as {key.principal}")
    return f"repertory login {key.server}{whose}"
