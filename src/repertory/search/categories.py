"""Which categories does an answer lie in?

E11: a host that cannot show every tool shows the best categories, each with its best tools.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from repertory.graph.derive import CATEGORY
from repertory.model import Edge, Kind

COUNTED = 3  # the best tools whose scores make a category's: more would let the largest category win every time

_TOOL = f"{Kind.TOOL.prefix}:"


@dataclass(frozen=True, slots=True)
class Category:
    """A category with its best tools, the best first."""

    name: str
    score: float
    tools: tuple[str, ...]  # entity ids


def categories(ranked: Sequence[tuple[str, float]], edges: Iterable[Edge], *, limit: int = 5, tools: int = 3) -> list[Category]:
    """The best categories of ranked entities. Edges are those of the ranked (`Store.edges_of`); what is no tool is not counted."""
    scores = {entity_id: (score, -place) for place, (entity_id, score) in enumerate(ranked) if entity_id.startswith(_TOOL)}
    members: dict[str, set[str]] = defaultdict(set)
    for edge in edges:
        if edge.origin in scores and edge.target.startswith(CATEGORY):
            members[edge.target.removeprefix(CATEGORY)].add(edge.origin)
    found = []
    for name, held in members.items():
        best = heapq.nlargest(max(tools, COUNTED), held, key=lambda one: scores[one])
        found.append(Category(name, sum(scores[one][0] for one in best[:COUNTED]), tuple(best[:tools])))
    return sorted(found, key=lambda category: (-category.score, category.name))[:limit]
