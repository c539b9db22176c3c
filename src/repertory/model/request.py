"""What can be asked?"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

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
    HYBRID = "hybrid"


class Fusion(StrEnum):
    """How `hybrid` joins its lanes."""

    RRF = "rrf"
    LINEAR = "linear"
    ADAPTIVE = "adaptive"


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One question to the catalog. What is None is decided by the settings."""

    query: str
    strategy: Strategy | None = None
    fusion: Fusion | None = None
    kinds: frozenset[Kind] | None = None
    tags: frozenset[str] = frozenset()
    limit: int = DEFAULT_LIMIT
    include_deprecated: bool = False
    include_draft: bool = False
    include_disabled: bool = False
