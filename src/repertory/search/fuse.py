"""How do several rankings become one?

Each function takes what the lanes found and answers, for every document, the evidence whose contributions add up to its score.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from repertory.indexes.base import BM25, KEYWORD
from repertory.indexes.encode import FULL_BOOST
from repertory.model import Evidence
from repertory.search.adapt import learned
from repertory.search.lanes import Found

RRF_K = 60  # Cormack et al. 2009; damps neighbouring ranks (A06)

Fused = dict[int, list[Evidence]]


def fuse(found: Found) -> Fused:
    """The evidence of every candidate, by the plan's own way of joining."""
    return JOINS[found.plan.join](found)


def _rrf(found: Found) -> Fused:
    return _collect(found, lambda lane, rank, _: found.plan.weights[lane] / (RRF_K + rank) if rank else 0.0)


def _linear(found: Found) -> Fused:
    """D01, on lane scores that were brought to [0, 1] over the candidates."""
    scaled = {lane: _unit(scores) for lane, scores in found.scores.items()}
    return _collect(found, lambda lane, _, score: found.plan.weights[lane] * scaled[lane](score))


def _adaptive(found: Found) -> Fused:
    """F02: lane scores as shares of the lane's best, weighed for this query."""
    weights = learned().weights(found.known)
    best = {lane: max(scores.values(), default=0.0) for lane, scores in found.scores.items()}
    return _collect(found, lambda lane, _, score: weights[lane] * max(0.0, score) / best[lane] if best[lane] > 0 else 0.0)


def _boost(found: Found) -> Fused:
    """A15: the share of the full boost. What only BM25 found (another form of the word) follows behind."""
    best = max(found.scores.get(BM25, {}).values(), default=0.0) or 1.0
    parts: dict[str, Callable[[float], float]] = {
        KEYWORD: lambda score: min(1.0, score / FULL_BOOST),
        BM25: lambda score: 1e-6 * score / best,
    }
    return _collect(found, lambda lane, _, score: parts[lane](score))


def _single(found: Found) -> Fused:
    return _collect(found, lambda _lane, _rank, score: score)


def _collect(found: Found, contribution: Callable[[str, int | None, float], float]) -> Fused:
    fused: Fused = {}
    ranks = {ranking.lane: {hit.number: rank for rank, hit in enumerate(ranking.hits, 1)} for ranking in found.rankings}
    for lane, scores in found.scores.items():
        for number, score in scores.items():
            rank = ranks[lane].get(number)
            fused.setdefault(number, []).append(Evidence(lane, rank, score, contribution(lane, rank, score)))
    return fused


def _unit(scores: Mapping[int, float]) -> Callable[[float], float]:
    low, high = min(scores.values(), default=0.0), max(scores.values(), default=0.0)
    if high <= low:
        return lambda _: 1.0
    return lambda score: (score - low) / (high - low)


JOINS: Mapping[str, Callable[[Found], Fused]] = {"rrf": _rrf, "linear": _linear, "adaptive": _adaptive, "boost": _boost, "single": _single}
