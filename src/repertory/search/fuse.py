"""How do several rankings become one?

Each function takes what the lanes found and answers, for every document, the evidence whose contributions add up to its score.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from repertory.indexes.base import BM25, KEYWORD, VECTOR
from repertory.indexes.encode import FULL_BOOST
from repertory.model import Evidence
from repertory.search.adapt import learned
from repertory.search.lanes import Found
from repertory.search.reading import Reading

RRF_K = 60  # Cormack et al. 2009; damps neighbouring ranks (A06)
LEGACY_BOOST = 0.1  # A06
SPECIFICITY = ((0.5, (0.3, 0.7)), (0.2, (0.5, 0.5)), (-1.0, (0.7, 0.3)))  # D02: above this share, (semantic, lexical)

Fused = dict[int, list[Evidence]]
Worth = Callable[[int | None, float], float]  # what a rank and a score in one lane contribute

# Two hundred for a search: past a named tuple's own constructor, which takes twice as long.
_evidence: Callable[[tuple[str, int | None, float, float]], Evidence] = partial(tuple.__new__, Evidence)


def fuse(found: Found) -> Fused:
    """The evidence of every candidate, by the plan's own way of joining."""
    return JOINS[found.plan.join](found)


def _rrf(found: Found) -> Fused:
    def worth(lane: str) -> Worth:
        weight = found.plan.weights[lane]
        return lambda rank, _: weight / (RRF_K + rank) if rank else 0.0

    return _collect(found, worth)


def _linear(found: Found) -> Fused:
    """D01."""
    return _weighted(found, found.plan.weights)


def _specific(found: Found) -> Fused:
    """D02: the more of a query is identifiers, the more its words count."""
    share = specificity(found.reading)
    semantic, lexical = next(weights for above, weights in SPECIFICITY if share > above)
    return _weighted(found, {lane: semantic if lane == VECTOR else lexical for lane in found.scores})


def _weighted(found: Found, weights: Mapping[str, float]) -> Fused:
    """On lane scores that were brought to [0, 1] over the candidates."""

    def worth(lane: str) -> Worth:
        weight, scaled = weights[lane], _unit(found.scores[lane])
        return lambda _, score: weight * scaled(score)

    return _collect(found, worth)


def specificity(reading: Reading) -> float:
    """D02: anchors by meaningful tokens."""
    return len(reading.anchors) / max(1, len(reading.query.words))


def _legacy(found: Found) -> Fused:
    """A06: clamp((cos + 1) / 2 + 0.1 * boost, 0, 1)."""
    fused = _collect(found, lambda lane: _moved if lane == VECTOR else _boosting)
    return {number: _clamped(evidence) for number, evidence in fused.items()}


def _clamped(evidence: list[Evidence]) -> list[Evidence]:
    """Together at most 1: the lane that passes it gives the rest back."""
    left, kept = 1.0, []
    for one in sorted(evidence, key=lambda one: one.lane != VECTOR):
        kept.append(one._replace(contribution=min(one.contribution, left)))
        left -= kept[-1].contribution
    return kept


def _adaptive(found: Found) -> Fused:
    """F02: lane scores as shares of the lane's best, weighed for this query."""
    weights = learned().weights(found.reading.known)
    if VECTOR not in found.scores:  # D05: the lexical lanes share its part
        weights = {lane: weight / (1 - weights[VECTOR]) for lane, weight in weights.items()}

    def worth(lane: str) -> Worth:
        weight, best = weights[lane], max(found.scores[lane].values(), default=0.0)
        return lambda _, score: weight * score / best if score > 0 else 0.0  # where a score is above 0, the best is

    return _collect(found, worth)


def _boost(found: Found) -> Fused:
    """A15: the share of the full boost. What only BM25 found (another form of the word) follows behind."""
    best = max(found.scores.get(BM25, {}).values(), default=0.0) or 1.0
    parts: dict[str, Worth] = {
        KEYWORD: lambda _, score: min(1.0, score / FULL_BOOST),
        BM25: lambda _, score: 1e-6 * score / best,
    }
    return _collect(found, parts.__getitem__)


def _single(found: Found) -> Fused:
    return _collect(found, lambda _lane: _as_it_is)


def _vector(found: Found) -> Fused:
    """E01: the order of the vector lane, whatever else was looked at."""
    return {
        number: evidence
        for number, evidence in _collect(found, lambda lane: _as_it_is if lane == VECTOR else _nothing).items()
        if any(one.lane == VECTOR for one in evidence)
    }


def _collect(found: Found, worth: Callable[[str], Worth]) -> Fused:
    """What each lane says of each document; `worth` says how much that contributes, lane by lane."""
    fused: Fused = {}
    hits = {ranking.lane: ranking.hits for ranking in found.rankings}
    for lane, scores in found.scores.items():
        ranks, contribution = {hit[0]: rank for rank, hit in enumerate(hits[lane], 1)}, worth(lane)
        for number, score in scores.items():
            rank = ranks.get(number)
            evidence = _evidence((lane, rank, score, contribution(rank, score)))
            if number in fused:
                fused[number].append(evidence)
            else:
                fused[number] = [evidence]
    return fused


def _moved(_: int | None, cosine: float) -> float:
    return (cosine + 1) / 2


def _boosting(_: int | None, score: float) -> float:
    return LEGACY_BOOST * score


def _as_it_is(_: int | None, score: float) -> float:
    return score


def _nothing(_rank: int | None, _score: float) -> float:
    return 0.0


def _unit(scores: Mapping[int, float]) -> Callable[[float], float]:
    low, high = min(scores.values(), default=0.0), max(scores.values(), default=0.0)
    if high <= low:
        return lambda _: 1.0
    return lambda score: (score - low) / (high - low)


JOINS: Mapping[str, Callable[[Found], Fused]] = {
    "rrf": _rrf,
    "linear": _linear,
    "specific": _specific,
    "legacy": _legacy,
    "adaptive": _adaptive,
    "boost": _boost,
    "single": _single,
    "vector": _vector,
}
