"""What does search expect of an index?

Lanes are named queries over one kind of vector. Every index speaks in document numbers; names and texts stay in the store.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from repertory.embedders.base import Vector
from repertory.model import Bucket, Hit

FORMAT = 5  # raise it when points are encoded differently: an index of another format is rebuilt

BM25 = "bm25"
GRAMS = "grams"
KEYWORD = "keyword"
VECTOR = "vector"
EXACT = "exact"


class Sparse(NamedTuple):
    """A sparse vector: dimensions in rising order, and their values."""

    indices: list[int]
    values: list[float]


@dataclass(frozen=True, slots=True)
class Point:
    """A document as an engine holds it."""

    number: int
    bucket: str
    tags: tuple[str, ...]
    names: tuple[str, ...]  # compact spellings under which it is found exactly (C09)
    bm25: Sparse
    grams: Sparse
    keyword: Sparse
    dense: Vector | None  # None until the document is embedded (A16)


@dataclass(frozen=True, slots=True)
class LaneQuery:
    """One question to one lane. `among` asks only for the scores of these documents."""

    lane: str
    probe: Sparse | Vector | str
    depth: int
    among: frozenset[int] | None = None


@dataclass(frozen=True, slots=True)
class Scope:
    """A filter as an engine applies it: bucket by kind, each with the number of its documents, and tags that must all be there.

    `everything` says that no bucket of the catalog is left out, so an engine need not look at buckets at all.
    """

    buckets: Mapping[Bucket, int]
    tags: frozenset[str]
    everything: bool
    documents: int  # of the whole catalog, as the engine's IDF counts them


@dataclass(frozen=True, slots=True)
class Standing:
    """What an index reflects: everything up to this place in the outbox, in this format, with these vectors."""

    format: int
    position: int
    model: str
    dimensions: int
    pivot: float  # the document length against which BM25 calls a document long


class Index(Protocol):
    """Holds points and ranks them. One that is elsewhere raises `IndexUnavailable` where it cannot be reached."""

    @property
    def alone(self) -> bool:
        """Whether no Python runs while it searches: then several searches at once take longer than one after another."""
        ...

    def create(self, dimensions: int) -> None:
        """Start empty, whatever was there. An engine that can goes on answering from what was there until the next checkpoint."""
        ...

    def standing(self) -> Standing | None:
        """What the index reflected at its last checkpoint; None when it is missing, corrupt or unreadable."""
        ...

    def checkpoint(self, standing: Standing) -> None:
        """Make everything durable, then say so."""
        ...

    def put(self, points: Sequence[Point]) -> None:
        """Add or replace points; visible at once."""
        ...

    def put_vectors(self, vectors: Mapping[int, Vector]) -> None:
        """Give points that are there their dense vectors, by number; visible at once."""
        ...

    def remove(self, numbers: Sequence[int]) -> None:
        """Forget points; unknown numbers are no error."""
        ...

    def search(self, queries: Sequence[LaneQuery], scope: Scope) -> list[tuple[Hit, ...]]:
        """The hits of each query, best first, ties by number."""
        ...

    def points(self) -> Iterator[Point]:
        """Every point, in rising order: for verification."""
        ...

    def count(self, *, with_vector: bool = False) -> int:
        """How many points there are, or how many that have a dense vector."""
        ...

    def optimize(self) -> None:
        """Build what makes large collections quick, and let removed points go."""
        ...

    def copy(self, directory: Path) -> None:
        """Copy what the last checkpoint made durable, as an embedded index (D08). Searches may go on; nobody may write meanwhile."""
        ...

    def discard(self) -> None:
        """Remove it for good, with whatever a process that was killed has left of it."""
        ...

    def close(self) -> None:
        """Let go of files and connections."""
        ...
