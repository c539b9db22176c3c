"""What can be asked?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from repertory.model.entity import Kind

MAX_LIMIT = 50  # A08
DEFAULT_LIMIT = 10
MAX_QUERY_LENGTH = 4096  # characters; a task description pasted whole still fits
MAX_PATTERN_LENGTH = 256  # C01


class Strategy(StrEnum):
    """How a request wants to be answered."""

    REGEX = "regex"
    KEYWORD = "keyword"
    BM25 = "bm25"
    EMBEDDING = "embedding"
    GRAPH = "graph"
    HYBRID = "hybrid"
    AUTO = "auto"


class Fusion(StrEnum):
    """How `hybrid` joins its lanes."""

    RRF = "rrf"
    LINEAR = "linear"
    LEGACY = "legacy"
    ADAPTIVE = "adaptive"


class Preset(StrEnum):
    """A whole behaviour by one word: the rules of one letter."""

    REGISTRY = "registry"  # A: every kind gets its share of the answer
    NOTES = "notes"  # B: linked and recent files come up
    TOOLS = "tools"  # C: rank fusion at catalog scale
    ANCHORED = "anchored"  # D: identifiers decide
    AUTO = "auto"  # E: vectors first, the graph adds what goes with it
    DEFAULT = "default"  # F


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One question to the catalog. What is None is decided by the settings."""

    query: str = ""  # nothing, and no context either: browse (E08)
    preset: Preset | None = None
    strategy: Strategy | None = None
    fusion: Fusion | None = None
    kinds: frozenset[Kind] | None = None
    tags: frozenset[str] = frozenset()
    limit: int = DEFAULT_LIMIT
    summary: str = ""  # what the conversation is about; joins the query at lower weight (E07)
    context: Mapping[str, Any] | Sequence[Any] | str | None = None  # likewise, flat or nested
    hypothesis: str = ""  # an imagined answer: embedded instead of the query, while words are looked for as asked (HyDE)
    min_score: float = 0.0  # results that would be shown with less are left out (C03)
    min_confidence: float | None = None  # a less likely answer abstains (F01)
    explain: bool = False  # look up which words matched in which fields (F03)
    include_deprecated: bool = False
    include_draft: bool = False
    include_disabled: bool = False

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SearchRequest:
        """A request from plain values, as they come over a wire; what is None is left to the settings."""
        values = {name: value for name, value in data.items() if value is not None}
        for name, make in _MAKERS.items():
            if name in values:
                values[name] = make(values[name])
        return cls(**values)


_MAKERS: Mapping[str, Callable[[Any], Any]] = {
    "preset": Preset,
    "strategy": Strategy,
    "fusion": Fusion,
    "kinds": lambda kinds: frozenset(map(Kind, kinds)) or None,
    "tags": frozenset,
}
