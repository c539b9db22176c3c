"""What does ingest expect of a source?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from repertory.model import Entity


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that could not be read. The rest of the source still goes in."""

    file: str
    message: str
    line: int | None = None

    @property
    def where(self) -> str:
        """The file, with its line where that is known."""
        return self.file if self.line is None else f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Gone:
    """An entity that its source has withdrawn. Only a source that tells what changed needs to say so."""

    id: str


class Reader(Protocol):
    """Reads one format.

    `namespace` opens the path of entries that have no name of their own in the catalog (files, loose tools).
    """

    def recognises(self, file: Path) -> bool:
        """Whether this file is of the format: by its name first, by a look inside only where the name does not tell."""
        ...

    def read(self, file: Path, root: Path, namespace: str) -> Iterator[Entity | Problem]:
        """The entities of one file; what cannot be read comes as a `Problem`, never as an exception."""
        ...
