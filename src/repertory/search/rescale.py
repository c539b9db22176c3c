"""What does a score look like from outside?

Always in [0, 1] and descending. Each strategy has its own way there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from repertory.model import Candidate


def rescale(candidates: Sequence[Candidate], how: str, limit: int) -> list[Candidate]:
    """The first of the ranking with scores to show; the whole of it sets the scale."""
    scores = RESCALES[how]([candidate.score for candidate in candidates])[:limit]
    return [replace(candidate, score=min(1.0, max(0.0, score))) for candidate, score in zip(candidates[:limit], scores, strict=True)]


def _by_best(scores: list[float]) -> list[float]:
    best = max(scores, default=0.0)
    return [score / best if best > 0 else 0.0 for score in scores]


RESCALES: Mapping[str, Callable[[list[float]], list[float]]] = {
    "by_best": _by_best,  # C02, C04
    "cosine": lambda scores: [(score + 1) / 2 for score in scores],  # C03
    "keep": lambda scores: scores,
}
