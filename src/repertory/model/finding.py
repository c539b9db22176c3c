"""What may be wrong with an entry, and how bad is it?

Findings are made by `guard/` when an entry comes in, and stay with it: whoever looks after the catalog sees them.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple


class Level(StrEnum):
    """How bad a finding is. Only what no honest author writes is worth `block`."""

    NOTE = "note"
    WARN = "warn"
    BLOCK = "block"

    @property
    def severity(self) -> int:
        """The order of the levels."""
        return list(Level).index(self)


class Finding(NamedTuple):
    """One thing that a check saw."""

    level: Level
    code: str  # stable, for machines: "hidden-text", "override"
    where: str  # "description", "input_schema.properties.path.description"
    excerpt: str  # what was seen, with what is invisible made visible

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Finding:
        """The inverse of `as_json`."""
        return cls(Level(data["level"]), data["code"], data["where"], data["excerpt"])

    def as_json(self) -> dict[str, str]:
        """Plain JSON, the same on every surface."""
        return {"level": self.level.value, "code": self.code, "where": self.where, "excerpt": self.excerpt}
