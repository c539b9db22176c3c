"""What goes into the store and comes out of it?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from repertory.embedders.base import Vector
from repertory.guard.company import Look
from repertory.model import Bucket, Document, Entity, Link


@dataclass(frozen=True, slots=True)
class NewDocument:
    """A document to be written, with what the store keeps for statistics."""

    document: Document
    signature: str
    length: float
    short_names: frozenset[str]
    terms: NDArray[np.uint32]  # the dimensions of its terms, each once, in rising order
    grams: NDArray[np.uint32]  # those of its grams, likewise
    words: frozenset[str]  # its plain words (see `text/tokens`)


@dataclass(frozen=True, slots=True)
class Event:
    """What somebody did, for the audit log: no secret, no text of a query."""

    who: str
    action: str  # "key.create", "entry.update": a noun and a verb
    target: str
    detail: Mapping[str, Any] = field(default_factory=dict)
    id: int = 0  # given by the store, like the time
    at: str = ""

    def as_json(self) -> dict[str, Any]:
        """Plain JSON, the same on every surface."""
        return {
            "id": self.id,
            "at": self.at,
            "who": self.who,
            "action": self.action,
            "target": self.target,
            "detail": dict(self.detail),
        }


@dataclass(frozen=True, slots=True)
class Call:
    """That somebody used something: never with which arguments, nor what came of it."""

    who: str
    tool: str  # an id, "search" for a search of an agent, "" where there was none of that name
    at: str
    ms: float
    outcome: str  # "ok", "refused" when the tool says so itself, else the code of an error
    exposed: int | None = None  # of a search: results that were shown
    withheld: int | None = None  # and documents that whoever asked could not find
    id: int = 0  # given by the store

    def as_json(self) -> dict[str, Any]:
        """Plain JSON, the same on every surface."""
        shown = {"id": self.id, "at": self.at, "who": self.who, "tool": self.tool, "ms": round(self.ms, 1), "outcome": self.outcome}
        return shown if self.exposed is None else {**shown, "exposed": self.exposed, "withheld": self.withheld}


class Pairing(NamedTuple):
    """That calls of a tool followed searches with these terms."""

    terms: frozenset[int]  # dimensions
    entity_id: str
    weight: float  # how many, each worth less with time,
    at: float  # as of then: seconds since 1970


class Override(NamedTuple):
    """What is decided about an entry, and the entry as its source brought it where that is something else."""

    entity_id: str
    changes: Mapping[str, Any]
    original: Entity | None


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """An API key as it is kept: the hash of its secret, and what it opens."""

    id: str
    name: str  # whoever uses it
    hash: str = field(repr=False)
    groups: frozenset[str]
    scopes: frozenset[str]
    created: str  # ISO 8601, like the others
    expires: str | None = None
    last_used: str | None = None  # to the hour
    revoked: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain JSON, the same on every surface; the hash is nobody's business."""
        return {
            "id": self.id,
            "name": self.name,
            "groups": sorted(self.groups),
            "scopes": sorted(self.scopes),
            "created": self.created,
            "expires": self.expires,
            "last_used": self.last_used,
            "revoked": self.revoked,
        }


@dataclass(frozen=True, slots=True)
class Pin:
    """What was accepted of an entry, by whom, and what was not (F06)."""

    entity_id: str
    source: str
    digest: str = ""
    body: str = ""
    content: Mapping[str, Any] = field(default_factory=dict)
    approved_by: str = ""  # empty: by first use
    rejected: str = ""  # a digest


@dataclass(slots=True)
class Changes:
    """One atomic write. Entities that are put replace the ones with their id, edges included; documents likewise."""

    note: str
    source: str
    put_entities: list[tuple[Entity, str]] = field(default_factory=list)  # with their digests
    remove_entities: list[str] = field(default_factory=list)  # with all their documents
    put_documents: list[NewDocument] = field(default_factory=list)
    remove_documents: list[str] = field(default_factory=list)
    put_overrides: list[Override] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)  # what the audit log says of it
    pins: list[Pin] = field(default_factory=list)  # what is accepted with it
    looks: dict[str, Look] = field(default_factory=dict)  # how tools that are put look to others, where somebody has worked it out
    links: dict[str, tuple[Link, ...]] = field(default_factory=dict)  # the edges that they own, likewise

    def __bool__(self) -> bool:
        return bool(self.put_entities or self.remove_entities or self.put_documents or self.remove_documents or self.put_overrides)


class Reference(NamedTuple):
    """What search needs to know of a document before it shows it."""

    document_id: str
    entity_id: str
    bucket: Bucket


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """A document as it is stored."""

    number: int
    document: Document
    vector: Vector | None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What the whole catalog looked like at one revision."""

    revision: int
    position: int  # the last entry of the outbox
    counts: Mapping[Bucket, int]
    mean_length: float
    short_names: frozenset[str]
    broken: frozenset[str]  # the sources that could not be read when they were last asked


class SourceState(StrEnum):
    """How it went when a source was last read."""

    NEW = "new"
    OK = "ok"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """A place that entries come from."""

    name: str
    location: str
    live: bool
    state: SourceState
    error: str
    attempted: str | None
    succeeded: str | None
    problems: int
    entries: int
