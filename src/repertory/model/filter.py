"""Who may find what?

`Filter` is the one description of what a request may see. It is applied inside every lane, before ranking (A07, A13, A18). A `Bucket` is
the handful of document attributes that it decides by; documents share few buckets, so an engine filters by a short list of bucket keys.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from repertory.model.entity import PUBLIC, Entity, Kind, Status

ADMIN = "admin"  # the scope that opens everything
OWNER, ANYONE = "owner", "anyone"  # names that nobody else can have: the audit log says them
_EMPTY = "%"  # a name of no letters: dropped, an entry that needs it would be open to all
_HELD = "-held"
PERSON = "user:"  # opens the group of one person: an entry is private with the audience ["user:alice"]
READ_ONLY, HARMLESS = "@read-only", "@non-destructive"  # tags that documents carry besides those of their authors: what a tool does


class Bucket(NamedTuple):
    """The attributes of a document that decide whether a request may see it."""

    kind: Kind
    status: Status
    enabled: bool
    audience: frozenset[str]
    scopes: frozenset[str] = frozenset()
    held: bool = False

    @classmethod
    def of(cls, entity: Entity) -> Bucket:
        """The bucket of an entity and all its documents."""
        return cls(entity.kind, entity.status, entity.enabled, entity.audience, entity.scopes, bool(entity.held))

    @property
    def key(self) -> str:
        """One string for the engines: `tool|active|on|public`, with a fifth part where scopes are needed. What separates is quoted.

        What is held back is `on-held` or `off-held`.
        """
        scopes = f"|{_listed(self.scopes)}" if self.scopes else ""
        return f"{self.kind}|{self.status}|{'on' if self.enabled else 'off'}{_HELD if self.held else ''}|{_listed(self.audience)}{scopes}"

    @classmethod
    def from_key(cls, key: str) -> Bucket:
        """The inverse of `key`."""
        return _bucket(key)


@lru_cache(maxsize=4096)  # a catalog has few
def _bucket(key: str) -> Bucket:
    kind, status, enabled, groups, *scopes = key.split("|")
    on = enabled.removesuffix(_HELD) == "on"
    return Bucket(Kind(kind), Status(status), on, _names(groups), _names(",".join(scopes)), enabled.endswith(_HELD))


def _listed(names: frozenset[str]) -> str:
    return ",".join(sorted(name.replace("%", "%25").replace("|", "%7C").replace(",", "%2C") or _EMPTY for name in names))


def _names(listed: str) -> frozenset[str]:
    quoted = (name for name in listed.split(",") if name)
    return frozenset("" if name == _EMPTY else name.replace("%2C", ",").replace("%7C", "|").replace("%25", "%") for name in quoted)


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks. `groups=None` is the owner of the catalog, who sees everything and may do everything."""

    name: str = OWNER
    groups: frozenset[str] | None = None
    scopes: frozenset[str] = frozenset()

    @property
    def is_owner(self) -> bool:
        """Whether this is who can read the catalog directory itself."""
        return self.groups is None

    @property
    def is_admin(self) -> bool:
        """Whether nothing is kept from this principal: it sees everything, and may do everything that the API offers."""
        return self.groups is None or ADMIN in self.scopes

    @classmethod
    def anyone(cls) -> Principal:
        """A caller that nobody vouches for."""
        return cls(ANYONE, frozenset({PUBLIC}))

    @classmethod
    def known(cls, name: str, groups: Iterable[str] = (), scopes: Iterable[str] = ()) -> Principal:
        """A caller whose name was proved. It is a group of its own, which nobody else can be put into."""
        others = {group for group in groups if not group.startswith(PERSON)}
        return cls(name, frozenset({*others, PUBLIC, PERSON + name}), frozenset(scopes))


@dataclass(frozen=True, slots=True)
class Filter:
    """What a request may see. `None` means: not restricted."""

    kinds: frozenset[Kind] | None = None
    statuses: frozenset[Status] = frozenset({Status.ACTIVE, Status.BETA})
    include_disabled: bool = False
    audience: frozenset[str] | None = None  # any group of these
    scopes: frozenset[str] | None = None  # no scope beyond these
    tags: frozenset[str] = frozenset()  # all of them must be there
    held: bool | None = False  # what is held back: nothing of it, nothing else (the review), or that as well (F06)

    def is_open_to(self, bucket: Bucket) -> bool:
        """Whether whoever asks may know of documents of this bucket at all (A18)."""
        return (self.audience is None or not self.audience.isdisjoint(bucket.audience)) and (
            self.scopes is None or bucket.scopes <= self.scopes
        )

    def admits(self, bucket: Bucket) -> bool:
        """Whether documents of this bucket may be seen; tags are left to the lane."""
        return (
            (self.kinds is None or bucket.kind in self.kinds)
            and (bucket.kind is Kind.VIRTUAL_SERVER or bucket.status in self.statuses)  # A13: these have no status
            and (bucket.enabled or self.include_disabled)
            and self.held in (None, bucket.held)
            and self.is_open_to(bucket)
        )
