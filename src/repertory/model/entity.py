"""What is one entry of the catalog?

An `Entity` is anything an agent may find: a server, one of its tools, an agent, a skill, a Markdown file. It says what the entry is; how
it is cut into searchable documents is `ingest/project`'s business.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple

from repertory.model.finding import Finding

PUBLIC = "public"  # the audience everybody belongs to


class Kind(StrEnum):
    """What an entity is. The value is the word used on the wire."""

    MCP_SERVER = "mcp_server"
    TOOL = "tool"
    A2A_AGENT = "a2a_agent"
    SKILL = "skill"
    VIRTUAL_SERVER = "virtual_server"
    DOCUMENT = "document"

    @property
    def prefix(self) -> str:
        """The short word that opens an entity's id: two kinds may share a path, never an id."""
        return _PREFIXES[self]


_PREFIXES = {
    Kind.MCP_SERVER: "server",
    Kind.TOOL: "tool",
    Kind.A2A_AGENT: "agent",
    Kind.SKILL: "skill",
    Kind.VIRTUAL_SERVER: "virtual",
    Kind.DOCUMENT: "doc",
}


class Status(StrEnum):
    """Where an entity is in its life (A13)."""

    ACTIVE = "active"
    BETA = "beta"
    DEPRECATED = "deprecated"
    DRAFT = "draft"


class Link(NamedTuple):
    """An edge that an entity declares: to whom, and what it means."""

    target: str  # an entity id
    relation: str


class Edge(NamedTuple):
    """How two things are related: entities by their ids, or an entity and a node that several share (see `graph/derive`)."""

    origin: str
    relation: str
    target: str


def _no_mapping() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Entity:
    """One entry. `details` holds what only its kind has (a tool's schemas, a server's tool names, a file's sections)."""

    kind: Kind
    path: str
    name: str
    description: str = ""
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=_no_mapping)
    details: Mapping[str, Any] = field(default_factory=_no_mapping)
    status: Status = Status.ACTIVE
    enabled: bool = True
    audience: frozenset[str] = frozenset({PUBLIC})  # any of these groups suffices
    scopes: frozenset[str] = frozenset()  # all of them are needed besides
    links: tuple[Link, ...] = ()
    modified: datetime | None = None
    provenance: str = ""  # the file or address it was read from
    held: str = ""  # why nobody finds, sees or calls it until it is approved (F06)
    findings: tuple[Finding, ...] = ()  # what the guard saw, the worst first

    @property
    def id(self) -> str:
        """Unique in a catalog: the kind's short word and the path."""
        return f"{self.kind.prefix}:{self.path}"

    @property
    def etag(self) -> str:
        """Identifies this state of the entity: whoever changes it can say which state it means to change."""
        return content_digest(self.as_json())

    def as_json(self) -> dict[str, Any]:
        """Plain JSON, the same on every surface."""
        return {
            "id": self.id,
            "kind": self.kind.value,
            "path": self.path,
            "name": self.name,
            "description": self.description,
            "tags": list(self.tags),
            "metadata": dict(self.metadata),
            "details": dict(self.details),
            "status": self.status.value,
            "enabled": self.enabled,
            "audience": sorted(self.audience),
            "scopes": sorted(self.scopes),
            "links": [list(link) for link in self.links],
            "modified": self.modified.isoformat() if self.modified else None,
            "provenance": self.provenance,
            **({"held": self.held} if self.held else {}),
            **({"findings": [finding.as_json() for finding in self.findings]} if self.findings else {}),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Entity:
        """The inverse of `as_json`."""
        values = {key: value for key, value in data.items() if key in _NAMES}
        values["kind"] = Kind(values["kind"])
        values["tags"] = tuple(values.get("tags", ()))
        values["status"] = Status(values.get("status", Status.ACTIVE))
        values["audience"] = frozenset(values.get("audience", (PUBLIC,)))
        values["scopes"] = frozenset(values.get("scopes", ()))
        values["links"] = tuple(Link(*link) for link in values.get("links", ()))
        modified = values.get("modified")
        values["modified"] = datetime.fromisoformat(modified) if modified else None
        values["findings"] = tuple(map(Finding.from_json, values.get("findings", ())))
        return cls(**values)


_NAMES = frozenset(one.name for one in fields(Entity))  # once: ten entities are read for every search


def content_digest(value: object) -> str:
    """A short, stable digest of any JSON value or text: equal content, equal digest, on every machine."""
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
