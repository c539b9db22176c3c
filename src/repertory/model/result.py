"""What comes back?

From one lane: `Hit`s in a `Ranking`. From fusion: `Candidate`s, with the `Evidence` of each lane. To the caller: `Result`s in a
`SearchResponse`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from repertory.model.entity import Entity, Kind


class Hit(NamedTuple):
    """One scored document of one lane. `number` is the document's number in the store."""

    number: int
    score: float


@dataclass(frozen=True, slots=True)
class Ranking:
    """What one lane found: unique hits, best first."""

    lane: str
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why one lane speaks for a document. `rank` is None where the lane only scored what another lane had found."""

    lane: str
    rank: int | None
    score: float
    contribution: float

    def as_json(self) -> dict[str, Any]:
        """Plain JSON, the same on every surface."""
        return {
            "lane": self.lane,
            "rank": self.rank,
            "score": round(self.score, 6),
            "contribution": round(self.contribution, 6),
        }


@dataclass(frozen=True, slots=True)
class Candidate:
    """A document after fusion."""

    number: int
    document_id: str
    entity_id: str
    kind: Kind
    score: float
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """Something the caller should know about an answer that was given all the same."""

    code: str
    message: str

    def as_json(self) -> dict[str, Any]:
        """Plain JSON, the same on every surface."""
        return {"code": self.code, "message": self.message}


@dataclass(frozen=True, slots=True)
class Result:
    """One entity that answers the request."""

    entity: Entity
    score: float  # relative to the best of this answer (A09)
    document_id: str  # the best document of the entity
    anchor: str  # where in the entity: a heading path
    excerpt: str
    evidence: tuple[Evidence, ...]

    def as_json(self, *, explain: bool = False) -> dict[str, Any]:
        """Plain JSON, the same on every surface."""
        shown: dict[str, Any] = {
            "id": self.entity.id,
            "kind": self.entity.kind.value,
            "path": self.entity.path,
            "name": self.entity.name,
            "description": self.entity.description,
            "tags": list(self.entity.tags),
            "score": round(self.score, 4),
            "document_id": self.document_id,
            "anchor": self.anchor,
            "excerpt": self.excerpt,
        }
        if explain:
            shown["evidence"] = [evidence.as_json() for evidence in self.evidence]
        return shown


@dataclass(frozen=True, slots=True)
class SearchResponse:
    """The whole answer."""

    results: tuple[Result, ...]
    strategy: str
    mode: str  # the strategy that really answered, e.g. "lexical-only" when hybrid had no query vector (A15)
    revision: int
    took_ms: float
    diagnostics: tuple[Diagnostic, ...] = ()
    lanes: Mapping[str, int] | None = None  # how many hits each lane brought
    known: float | None = None  # the share of the query's words that the catalog knows: what adaptive fusion goes by

    @property
    def groups(self) -> dict[Kind, tuple[Result, ...]]:
        """The same results by kind, each in rank order."""
        kinds = dict.fromkeys(result.entity.kind for result in self.results)
        return {kind: tuple(result for result in self.results if result.entity.kind is kind) for kind in kinds}

    def as_json(self, *, explain: bool = False) -> dict[str, Any]:
        """Plain JSON, the same on every surface."""
        shown: dict[str, Any] = {
            "results": [result.as_json(explain=explain) for result in self.results],
            "totals": {kind.value: len(results) for kind, results in self.groups.items()},
            "strategy": self.strategy,
            "search_mode": self.mode,
            "revision": self.revision,
            "took_ms": round(self.took_ms, 2),
            "diagnostics": [diagnostic.as_json() for diagnostic in self.diagnostics],
        }
        if explain:
            shown["lanes"] = dict(self.lanes or {})
            shown["known"] = self.known
        return shown
