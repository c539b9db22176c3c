"""Which entries hold a text as it is written?

A12: lists are filtered without any index and without a model: the query is looked for in the letters of each entry, whatever their case.
"""

from __future__ import annotations

from collections.abc import Mapping

from repertory.model import Entity
from repertory.text.flatten import flatten

IN_NAME, IN_DESCRIPTION, IN_TAGS = 0.5, 0.3, 0.1
IN_METADATA = 0.1  # A12's own figure; all four together are 1


def score(entity: Entity, query: str) -> float:
    """How much of an entry holds the query: 0 where nothing does, 1 where every part does."""
    needle = query.strip().casefold()
    parts = (
        (IN_NAME, f"{entity.name}\n{entity.path}"),
        (IN_DESCRIPTION, f"{entity.description}\n{_offered(entity)}"),
        (IN_TAGS, "\n".join(entity.tags)),
        (IN_METADATA, flatten(entity.metadata)),
    )
    return round(sum(worth for worth, text in parts if needle in text.casefold()), 2)


def _offered(entity: Entity) -> str:
    """The names of a server's tools and an agent's skills: what it can do is part of what it is."""
    offers = (*entity.details.get("tools", ()), *entity.details.get("skills", ()))
    return "\n".join(str(offer.get("name", "")) for offer in offers if isinstance(offer, Mapping))
