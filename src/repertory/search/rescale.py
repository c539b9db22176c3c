"""What does a score look like from outside?

Always in [0, 1] and descending. Each strategy has its own way there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from repertory.model import Candidate

FLOOR = 0.2  # A09: below it a result says nothing


def rescale(candidates: Sequence[Candidate], how: str, limit: int) -> list[Candidate]:
    """The first of the ranking with scores to show; the whole of it sets the scale. Min-max drops what is under the floor."""
    scores = RESCALES[how]([candidate.score for candidate in candidates])[:limit]
    floor = FLOOR if how == "min_max" else 0.0
    return [replace(c, score=min(1.0, max(0.0, s))) for c, s in zip(candidates[:limit], scores, strict=True) if s >= floor]


def _min_max(scores: list[float]) -> list[float]:
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    return [1.0 if high <= low else (score - low) / (high - low) for score in scores]


def _by_best(scores: list[float]) -> list[float]:
    best = max(scores, default=0.0)
    return [score / best if best > 0 else 0.0 for score in scores]


RESCALES: Mapping[str, Callable[[list[float]], list[float]]] = {
    "min_max": _min_max,  # A09
    "by_best": _by_best,  # C02, C04
    "cosine": lambda scores: [(score + 1) / 2 for score in scores],  # C03
    "keep": lambda scores: scores,
}
