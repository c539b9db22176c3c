"""How is a live server reached?

A specification keeps the placeholders that its author wrote (`${VAR}`, `${VAR:-default}`, `${env:VAR}`); `resolve` fills them in from the
environment just before the server is contacted. What was filled in is never stored, logged or shown.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import httpx2

TIME_LIMIT = 30.0  # seconds for one server: `npx` may first fetch a package, and nobody should wait for more than that

_PLACEHOLDER = re.compile(r"\$\{([^{}]*)\}")
_VARIABLE = re.compile(r"(?:env:)?([A-Za-z_]\w*)(?::-(.*))?", re.DOTALL)
UNKNOWN = 401  # the HTTP status of a server that does not know who asks
_SECRET_LENGTH = 4  # shorter values ("1", "yes") are no secrets, and hiding them would hide half of every message


class Transport(StrEnum):
    """How messages travel."""

    STDIO = "stdio"
    HTTP = "http"
    SSE = "sse"


class Unresolved(Exception):
    """A placeholder that cannot be filled in."""


def origin(url: str) -> str:
    """Whom an address belongs to: without its path and its user, which may hold keys."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """One server. What may hold a secret is not in its `repr`."""

    name: str
    transport: Transport
    command: str = ""
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str | None = None
    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout: float = TIME_LIMIT

    @property
    def target(self) -> str:
        """What is contacted, for people: a command without its arguments or an origin without a path, as these may hold keys."""
        if self.transport is Transport.STDIO:
            return self.command
        return origin(self.url)


@dataclass(slots=True)
class Noticed:
    """What an identity's `auth` has come across."""

    tokens: set[str] = field(default_factory=set, repr=False)  # that the server was shown
    trouble: str = ""  # why the last one could not be renewed


@dataclass(frozen=True, slots=True)
class Identity:
    """What somebody is known by at a server, beyond what its config says for all."""

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    auth: httpx2.Auth | None = field(default=None, repr=False)
    noticed: Noticed = field(default_factory=Noticed)


Identify = Callable[[ServerSpec], Awaitable[Identity]]  # of the specification that is contacted


async def nobody(_: ServerSpec) -> Identity:
    """Known by what the config says."""
    return Identity()


class Resolved(NamedTuple):
    """A specification with its placeholders filled in, and the texts that must not be shown."""

    spec: ServerSpec
    secrets: frozenset[str]
    identity: Identity = Identity()

    def known_by(self, identity: Identity) -> Resolved:
        """The same for somebody: what is stored for them goes before what the config says, however either spells a header."""
        headers = overlaid(self.spec.headers, identity.headers)
        values = {part for value in identity.headers.values() for part in (value, value.rpartition(" ")[2]) if len(part) >= _SECRET_LENGTH}
        return Resolved(replace(self.spec, headers=headers), self.secrets | values, identity)

    def hide(self, text: str) -> str:
        """A text without secrets."""
        for secret in sorted(self.secrets | self.identity.noticed.tokens, key=len, reverse=True):
            text = text.replace(secret, "***")
        return text


def overlaid(headers: Mapping[str, str], more: Mapping[str, str]) -> dict[str, str]:
    """Headers, where `more` goes before: the same header may be spelled in large or small letters."""
    theirs = {name.lower() for name in more}
    return {**{name: value for name, value in headers.items() if name.lower() not in theirs}, **more}


def resolve(spec: ServerSpec, environment: Mapping[str, str]) -> Resolved:
    """Fill in every placeholder. Raises `Unresolved`, which names the variable and nothing else."""
    secrets: set[str] = {*spec.env.values(), *spec.headers.values()}

    def fill(match: re.Match[str]) -> str:
        variable = _VARIABLE.fullmatch(match[1])
        if variable is None:
            raise Unresolved(f"it has the placeholder ${{{match[1]}}}, which only the program it was written for can fill in")
        value = environment.get(variable[1])
        if not value and variable[2] is not None:
            value = variable[2]
        if value is None:
            raise Unresolved(f"it needs the environment variable {variable[1]}, which is not set")
        secrets.add(value)
        return value

    def filled(text: str) -> str:
        return _PLACEHOLDER.sub(fill, text)

    ready = replace(
        spec,
        command=filled(spec.command),
        args=tuple(map(filled, spec.args)),
        env=_each(spec.env, filled),
        cwd=filled(spec.cwd) if spec.cwd else None,
        url=filled(spec.url),
        headers=_each(spec.headers, filled),
    )
    secrets |= {*ready.env.values(), *ready.headers.values(), urlsplit(ready.url).query}
    return Resolved(ready, frozenset(secret for secret in secrets if len(secret) >= _SECRET_LENGTH))


def _each(texts: Mapping[str, str], change: Callable[[str], str]) -> dict[str, str]:
    return {name: change(text) for name, text in texts.items()}
