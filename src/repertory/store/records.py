"""What goes into the store and comes out of it?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from repertory.embedders.base import Vector
from repertory.model import Bucket, Document, Entity


@dataclass(frozen=True, slots=True)
class NewDocument:
    """A document to be written, with what the store keeps for statistics."""

    document: Document
    signature: str
    length: float
    short_names: frozenset[str]
    terms: NDArray[np.uint32]  # the dimensions of its terms, each once, in rising order
    words: frozenset[str]  # its plain words (see `text/tokens`)


@dataclass(slots=True)
class Changes:
    """One atomic write. Entities that are put replace the ones with their id, edges included; documents likewise."""

    note: str
    source: str
    put_entities: list[tuple[Entity, str]] = field(default_factory=list)  # with their digests
    remove_entities: list[str] = field(default_factory=list)  # with all their documents
    put_documents: list[NewDocument] = field(default_factory=list)
    remove_documents: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.put_entities or self.remove_entities or self.put_documents or self.remove_documents)


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
