"""Who may find what?

`Filter` is the one description of what a request may see. It is applied inside every lane, before ranking (A07, A13, A18). A `Bucket` is
the handful of document attributes that it decides by; documents share few buckets, so an engine filters by a short list of bucket keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from repertory.model.entity import PUBLIC, Entity, Kind, Status

READ_ONLY, HARMLESS = "@read-only", "@non-destructive"  # tags that documents carry besides those of their authors: what a tool does


class Bucket(NamedTuple):
    """The attributes of a document that decide whether a request may see it."""

    kind: Kind
    status: Status
    enabled: bool
    audience: frozenset[str]

    @classmethod
    def of(cls, entity: Entity) -> Bucket:
        """The bucket of an entity and all its documents."""
        return cls(entity.kind, entity.status, entity.enabled, entity.audience)

    @property
    def key(self) -> str:
        """One string for the engines: `tool|active|on|public`. What separates is quoted in groups."""
        groups = ",".join(sorted(_encode(group) for group in self.audience))
        return f"{self.kind}|{self.status}|{'on' if self.enabled else 'off'}|{groups}"

    @classmethod
    def from_key(cls, key: str) -> Bucket:
        """The inverse of `key`."""
        return _bucket(key)


@lru_cache(maxsize=4096)  # a catalog has few
def _bucket(key: str) -> Bucket:
    kind, status, enabled, groups = key.split("|")
    return Bucket(Kind(kind), Status(status), enabled == "on", frozenset(_decode(group) for group in groups.split(",") if group))


def _encode(group: str) -> str:
    return group.replace("%", "%25").replace("|", "%7C").replace(",", "%2C")


def _decode(group: str) -> str:
    return group.replace("%2C", ",").replace("%7C", "|").replace("%25", "%")


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks. `groups=None` is the owner of the catalog, who sees everything and may do everything."""

    name: str = "owner"
    groups: frozenset[str] | None = None

    @property
    def is_owner(self) -> bool:
        """Whether nothing is kept from this principal."""
        return self.groups is None

    @classmethod
    def anyone(cls) -> Principal:
        """A caller that nobody vouches for."""
        return cls("anyone", frozenset({PUBLIC}))


@dataclass(frozen=True, slots=True)
class Filter:
    """What a request may see. `None` means: not restricted."""

    kinds: frozenset[Kind] | None = None
    statuses: frozenset[Status] = frozenset({Status.ACTIVE, Status.BETA})
    include_disabled: bool = False
    audience: frozenset[str] | None = None
    tags: frozenset[str] = frozenset()  # all of them must be there

    def admits(self, bucket: Bucket) -> bool:
        """Whether documents of this bucket may be seen; tags are left to the lane."""
        return (
            (self.kinds is None or bucket.kind in self.kinds)
            and (bucket.kind is Kind.VIRTUAL_SERVER or bucket.status in self.statuses)  # A13: these have no status
            and (bucket.enabled or self.include_disabled)
            and (self.audience is None or not self.audience.isdisjoint(bucket.audience))
        )
