"""Which documents rise beyond what their lanes say?

D04: those that hold an identifier of the query. B05: those of files that changed lately. A boost is a factor on the fused score.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from repertory.model import Boost
from repertory.store import Reference, Store
from repertory.text.anchors import BOOST, MOST, contains
from repertory.text.fold import fold

RECENT = ((7, 1.2), (30, 1.1))  # B05: at most so many days old, times so much

Boosts = dict[int, tuple[Boost, ...]]


def anchored(numbers: Iterable[int], anchors: tuple[str, ...], store: Store) -> Boosts:
    """D04: once per anchor that a document contains as a whole token, capped."""
    if not anchors:
        return {}
    found: Boosts = {}
    for number, fields in store.fields(list(numbers)).items():
        folded = " ".join(fold(" ".join(fields.values())).split())
        held = [anchor for anchor in anchors if contains(folded, anchor)][:MOST]
        if held:
            found[number] = tuple(Boost(f"contains {anchor}", BOOST) for anchor in held)
    return found


def recent(references: Mapping[int, Reference], store: Store, now: datetime) -> Boosts:
    """B05: by the age of the file; what has no date is not new."""
    modified = store.modified(list({about.entity_id for about in references.values()}))
    factors = {entity: factor for entity, at in modified.items() if (factor := _freshness(at, now)) != 1.0}
    return {number: (Boost("recent", factors[about.entity_id]),) for number, about in references.items() if about.entity_id in factors}


def _freshness(at: datetime, now: datetime) -> float:
    known = at if at.tzinfo else at.replace(tzinfo=UTC)
    days = max(0.0, (now - known).total_seconds() / 86400)  # a date in the future is today
    return next((factor for limit, factor in RECENT if days <= limit), 1.0)


def merge(*every: Boosts) -> Boosts:
    """All the boosts of each document."""
    merged: Boosts = {}
    for boosts in every:
        for number, some in boosts.items():
            merged[number] = merged.get(number, ()) + some
    return merged
