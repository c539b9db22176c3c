"""Which entries come up because of what they are linked with?

B04: one hop out and in from every candidate. A neighbour joins with half the weight of a lane, the neighbours of the best seed first, with
one of its documents, and never above the seed that brought it.
"""

from __future__ import annotations

from collections.abc import Sequence

from repertory.indexes.base import BM25, VECTOR
from repertory.model import Candidate, Evidence
from repertory.search.fuse import RRF_K
from repertory.search.lanes import Found
from repertory.search.rank import candidate, order
from repertory.store import Store

LANE = "neighbours"
BELOW = 1 - 1e-6  # of the seed's score: just under it


def join(ranked: Sequence[Candidate], found: Found, store: Store) -> list[Candidate]:
    """The ranking with the neighbours of its entities in it."""
    if not found.plan.neighbours or not ranked:
        return list(ranked)
    best: dict[str, Candidate] = {}
    for one in ranked:
        best.setdefault(one.entity_id, one)
    seeds = _seeds(list(best), store, found)
    brought = store.first_documents([entity for entity in seeds if entity not in best], found.plan.filter)
    unit = found.plan.neighbours * _lane_worth(ranked, found)
    joined: list[Candidate] = []
    for position, (entity, seed) in enumerate(seeds.items(), 1):
        evidence = Evidence(LANE, position, 0.0, unit * (RRF_K + 1) / (RRF_K + position))
        ceiling = best[seed].score * BELOW
        if entity in best:
            known = best[entity]
            if known.score < ceiling:
                lifted = min(ceiling, known.score + evidence.contribution)
                joined.append(_raised(known, evidence, lifted))
        elif entity in brought:
            number, about = brought[entity]
            joined.append(_raised(candidate(number, about, ()), evidence, min(ceiling, evidence.contribution)))
    replaced = {one.number for one in joined}
    return order([*(one for one in ranked if one.number not in replaced), *joined], found.exact)


def _seeds(entities: Sequence[str], store: Store, found: Found) -> dict[str, str]:
    """Each neighbour with the best entity that brings it, in the order of those."""
    edges = store.neighbours(entities, found.plan.filter)
    linked: dict[str, list[str]] = {entity: [] for entity in entities}
    for edge in edges:
        if edge.origin in linked:
            linked[edge.origin].append(edge.target)
        if edge.target in linked:
            linked[edge.target].append(edge.origin)
    seeds: dict[str, str] = {}
    for entity in entities:
        for neighbour in sorted(set(linked[entity])):
            if neighbour != entity:
                seeds.setdefault(neighbour, entity)
    return seeds


def _lane_worth(ranked: Sequence[Candidate], found: Found) -> float:
    """What the first place of one lane is worth in this fusion: by ranks, or as a share of the best score."""
    if found.plan.join == "rrf":
        return 1 / (RRF_K + 1)
    return ranked[0].score / max(1, len({BM25, VECTOR} & set(found.plan.lanes)))


def _raised(known: Candidate, evidence: Evidence, score: float) -> Candidate:
    added = evidence._replace(contribution=score - known.score)
    return known._replace(score=score, evidence=(*known.evidence, added))
