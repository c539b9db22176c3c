"""What did an indexing run do?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from repertory.model import Entity, Level
from repertory.sources.base import Problem

Progress = Callable[[str, int, int], None]  # what is being done, how much of it, out of how many


@dataclass(slots=True)
class IngestReport:
    """What an indexing run did."""

    source: str
    added: int = 0
    changed: int = 0
    removed: int = 0
    moved: int = 0  # the same texts under another path; neither added nor removed
    unchanged: int = 0
    documents: int = 0  # written anew
    embedded: int = 0
    waiting: int = 0  # texts still without a vector
    excuse: str = ""  # why they wait
    behind: str = ""  # why the index has not heard of it yet
    revision: int = 0
    dry_run: bool = False  # nothing was written
    broken: bool = False  # the source did not answer; what it had brought stays
    held: int = 0  # of what came: held back until somebody reviews it (F06)
    flagged: int = 0  # of what came: with a finding worth a warning or more
    worst: str = ""  # the worst finding, in one line
    problems: list[Problem] = field(default_factory=list)
    parts: list[IngestReport] = field(default_factory=list)  # where there were several sources

    def tell(self, screened: Iterable[Entity]) -> None:
        """Count what the guard marked."""
        severity = Level(self.worst.partition(" ")[0]).severity if self.worst else -1
        for entity in screened:
            self.held += bool(entity.held)
            first = entity.findings[0] if entity.findings else None
            if first is not None and first.level is not Level.NOTE:
                self.flagged += 1
                if first.level.severity > severity:
                    self.worst, severity = f"{first.level} {first.code} in {entity.id}: {first.excerpt}", first.level.severity
