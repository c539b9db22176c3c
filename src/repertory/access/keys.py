"""What is an API key?

`rep_<id>_<secret>`: the id names it in lists and logs, the secret proves it. The secret has 256 bits, so a plain hash of it cannot be
guessed back, and is all that is kept.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from repertory.errors import InvalidRequest
from repertory.model import Principal
from repertory.model.filter import ANYONE, OWNER, PERSON
from repertory.store import KeyRecord

PREFIX = "rep_"
MAX_NAME = 100  # characters: names are shown in lists
FOREVER = timedelta(days=36500)  # more than a century is a typing error

_SHAPE = re.compile(r"rep_([0-9a-f]{12})_([\w-]{43})", re.ASCII)
_LIFETIME = re.compile(r"(\d{1,6})([hdw])")
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


class NewKey(NamedTuple):
    """A key that was just made: the only moment at which it is whole."""

    record: KeyRecord
    token: str


def make(name: str, groups: Iterable[str], scopes: Iterable[str], expires: str | None, now: datetime) -> NewKey:
    """A new key for whoever this name stands for."""
    key_id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    record = KeyRecord(
        id=key_id,
        name=_name(name),
        hash=_hash(secret),
        groups=frozenset(map(_group, groups)),
        scopes=frozenset(map(_scope, scopes)),
        created=now.isoformat(timespec="seconds"),
        expires=(now + lifetime(expires)).isoformat(timespec="seconds") if expires else None,
    )
    return NewKey(record, f"{PREFIX}{key_id}_{secret}")


def lifetime(text: str) -> timedelta:
    """How long "12h", "90d" or "52w" is."""
    match = _LIFETIME.fullmatch(text.strip())
    span = int(match[1]) * _UNITS[match[2]] if match else timedelta()
    if not timedelta() < span <= FOREVER:
        raise InvalidRequest(f"{text!r} is no time to live. Write hours, days or weeks: 12h, 90d, 52w.")
    return span


def id_of(token: str) -> str | None:
    """Which key a credential says it is; None where it does not look like a key of ours."""
    match = _SHAPE.fullmatch(token)
    return match[1] if match else None


def proves(token: str, record: KeyRecord, now: datetime) -> bool:
    """Whether a credential is this key, and the key still counts."""
    match = _SHAPE.fullmatch(token)
    right = match is not None and secrets.compare_digest(_hash(match[2]), record.hash)
    alive = record.revoked is None and (record.expires is None or now < datetime.fromisoformat(record.expires))
    return right and alive


def principal_of(record: KeyRecord) -> Principal:
    """Who calls with this key."""
    return Principal.known(record.name, record.groups, record.scopes)


def now() -> datetime:
    """The time by which keys live."""
    return datetime.now(UTC)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _name(text: str) -> str:
    name = text.strip()
    if not name or len(name) > MAX_NAME or not name.isprintable() or name in (OWNER, ANYONE):
        raise InvalidRequest(
            f"{text!r} is no name for a key: 1 to {MAX_NAME} printable characters say whose it is, not {OWNER} or {ANYONE}."
        )
    return name


def _group(text: str) -> str:
    group = text.strip()
    if not group or group.startswith(PERSON):
        raise InvalidRequest(
            f"{text!r} is no group for a key. The group user:NAME belongs to whoever has that name, and is given to nobody."
        )
    return group


def _scope(text: str) -> str:
    if not text or text.split() != [text]:
        raise InvalidRequest(f"{text!r} is no scope: it is one word, such as calendar.read.")
    return text
