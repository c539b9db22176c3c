"""Which whole behaviours have a name?

Each preset is the rules of one letter: what it searches with and which stages it runs. A request may still name its own strategy or fusion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from repertory.indexes.base import BM25, KEYWORD
from repertory.model import Fusion, Preset, Strategy


@dataclass(frozen=True, slots=True)
class Choices:
    """What a preset chooses. The stages are those of `SearchPlan`."""

    strategy: Strategy
    fusion: Fusion
    depth: Callable[[int], int]  # candidates per lane, by limit
    lexical: str = BM25  # the lane beside the vector
    rescale: str = "by_best"
    floor: float = 0.0
    specific: bool = False  # D02: weights by how many identifiers the query has
    identify: bool = False
    anchored: bool = False
    neighbours: float = 0.0
    recent: bool = False
    expand: bool = False
    distribute: bool = False
    lift: bool = False
    correct: bool = False

    def stages(self) -> dict[str, Any]:
        """The part that a plan takes over as it is."""
        return {
            name: getattr(self, name)
            for name in ("identify", "anchored", "neighbours", "recent", "expand", "distribute", "lift", "correct")
        }


def _deep(limit: int) -> int:
    return max(3 * limit, 30)


PRESETS: Mapping[Preset, Choices] = {
    Preset.REGISTRY: Choices(
        Strategy.HYBRID,
        Fusion.RRF,
        lambda limit: max(2 * limit, 30),  # A05
        lexical=KEYWORD,  # A04
        rescale="spread",  # A09
        floor=0.2,
        distribute=True,
        lift=True,
    ),
    Preset.NOTES: Choices(
        Strategy.HYBRID,
        Fusion.RRF,
        lambda limit: max(10, 2 * limit),  # B08
        neighbours=0.5,
        recent=True,
        expand=True,
    ),
    Preset.TOOLS: Choices(Strategy.HYBRID, Fusion.RRF, lambda limit: 3 * limit),  # C04
    Preset.ANCHORED: Choices(Strategy.HYBRID, Fusion.LINEAR, _deep, specific=True, identify=True, anchored=True),
    Preset.AUTO: Choices(Strategy.AUTO, Fusion.ADAPTIVE, _deep, correct=True),
    Preset.DEFAULT: Choices(Strategy.HYBRID, Fusion.ADAPTIVE, _deep, identify=True, correct=True),
}
