"""What comes back?

From one lane: `Hit`s in a `Ranking`. From fusion: `Candidate`s, with the `Evidence` of each lane. To the caller: `Result`s in a
`SearchResponse`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from repertory.model.entity import Entity, Kind, Status


class Hit(NamedTuple):
    """One scored document of one lane. `number` is the document's number in the store."""

    number: int
    score: float


@dataclass(frozen=True, slots=True)
class Ranking:
    """What one lane found: unique hits, best first."""

    lane: str
    hits: tuple[Hit, ...]


class Evidence(NamedTuple):
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


class Boost(NamedTuple):
    """Why a document rose beyond what its lanes say, and by which factor (D04, B05)."""

    reason: str
    factor: float


class MatchingTool(NamedTuple):
    """A tool of a server that answers the query (A10)."""

    name: str
    description: str
    score: float


class LiftedTool(NamedTuple):
    """A tool that is shown because its server was found (A10)."""

    entity: Entity
    score: float

    def as_json(self) -> dict[str, Any]:
        """Plain JSON, the same on every surface."""
        entity = self.entity
        return {
            "id": entity.id,
            "name": entity.name,
            "server": entity.details.get("server", ""),
            "description": entity.description,
            "score": round(self.score, 4),
            "inputSchema": entity.details.get("input_schema"),
        }


class Suggestion(NamedTuple):
    """An entry that goes with the results, and why (E02)."""

    entity: Entity
    reason: str

    def as_json(self) -> dict[str, Any]:
        """Plain JSON, the same on every surface."""
        entity = self.entity
        return {
            "id": entity.id,
            "kind": entity.kind.value,
            "path": entity.path,
            "name": entity.name,
            "description": entity.description,
            "reason": self.reason,
        }


class Candidate(NamedTuple):
    """A document after fusion."""

    number: int
    document_id: str
    entity_id: str
    kind: Kind
    score: float
    evidence: tuple[Evidence, ...]
    boosts: tuple[Boost, ...] = ()
    confidence: float | None = None


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
    confidence: float | None  # how likely it is relevant, comparable between answers (F01); None where there is no vector to tell
    document_id: str  # the best document of the entity
    anchor: str  # where in the entity: a heading path
    excerpt: str
    evidence: tuple[Evidence, ...]
    boosts: tuple[Boost, ...] = ()
    matched: Mapping[str, tuple[str, ...]] | None = None  # the words of the query by field, where an explanation was asked for
    matching_tools: tuple[MatchingTool, ...] = ()
    stale: bool = False  # its source could not be read when it was last asked: it may have changed, or be gone

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
            "confidence": None if self.confidence is None else round(self.confidence, 4),
            "document_id": self.document_id,
            "anchor": self.anchor,
            "excerpt": self.excerpt,
        }
        if self.matching_tools:
            shown["matching_tools"] = [{**tool._asdict(), "score": round(tool.score, 4)} for tool in self.matching_tools]
        if self.entity.status is not Status.ACTIVE:
            shown["status"] = self.entity.status.value
        if not self.entity.enabled:
            shown["enabled"] = False
        if self.stale:
            shown["stale"] = True
        if explain:
            shown["evidence"] = [evidence.as_json() for evidence in self.evidence]
            shown["boosts"] = [boost._asdict() for boost in self.boosts]
            shown["matched"] = {field: list(words) for field, words in (self.matched or {}).items()}
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
    known: float | None = None  # how far the catalog knows the query's words, 0 to 1: what adaptive fusion goes by
    confidence: float | None = None  # how likely the catalog answers the query at all (F01)
    terms: int = 0  # how many different terms the query has
    idf: float = 0.0  # and how much they say together
    abstained: bool = False  # there were candidates, but none that seems to answer (F01)
    tools: tuple[LiftedTool, ...] = ()  # A10
    related: tuple[Suggestion, ...] = ()  # E02
    next_steps: tuple[Suggestion, ...] = ()
    anchors: tuple[str, ...] = ()  # the identifiers of the query (D03)
    corrected: Mapping[str, str] | None = None  # words taken for typing errors, and what was looked for instead
    concepts: tuple[str, ...] = ()  # that the vector lane looked for besides (B06)
    rewritten: str | None = None  # what the rewriter made of the query (E06)
    withheld: Mapping[str, int] | None = None  # documents that this request could not find, by reason: counts only (F03)
    cached: bool = False  # given before, and still true (E09)

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
            "confidence": None if self.confidence is None else round(self.confidence, 4),
            "abstained": self.abstained,
            "revision": self.revision,
            "took_ms": round(self.took_ms, 2),
            "diagnostics": [diagnostic.as_json() for diagnostic in self.diagnostics],
        }
        shown |= {
            name: value
            for name, value in (
                ("tools", [tool.as_json() for tool in self.tools]),
                ("related", [one.as_json() for one in self.related]),
                ("next_steps", [one.as_json() for one in self.next_steps]),
                ("corrected", dict(self.corrected or {})),
                ("rewritten", self.rewritten),
            )
            if value
        }
        if explain:
            shown["lanes"] = dict(self.lanes or {})
            shown["known"] = self.known
            shown["anchors"] = list(self.anchors)
            shown["concepts"] = list(self.concepts)
            shown["withheld"] = dict(self.withheld or {})
            shown["cached"] = self.cached
        return shown
