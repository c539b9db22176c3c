"""What does a score look like from outside?

Always in [0, 1] and descending. Each strategy has its own way there; the whole ranking sets the scale, not just the chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from repertory.model import Candidate


def rescale(whole: Sequence[Candidate], chosen: Sequence[Candidate], how: str, floor: float) -> list[Candidate]:
    """The chosen of a ranking with scores to show; those under the floor are left out."""
    scale = RESCALES[how]([candidate.score for candidate in whole])
    shown = (candidate._replace(score=min(1.0, max(0.0, scale(candidate.score)))) for candidate in chosen)
    return [candidate for candidate in shown if candidate.score >= floor]


def _by_best(scores: list[float]) -> Callable[[float], float]:
    best = max(scores, default=0.0)
    return lambda score: score / best if best > 0 else 0.0


def _spread(scores: list[float]) -> Callable[[float], float]:
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    return lambda score: (score - low) / (high - low) if high > low else 1.0


RESCALES: Mapping[str, Callable[[list[float]], Callable[[float], float]]] = {
    "by_best": _by_best,  # C02, C04
    "spread": _spread,  # A09
    "cosine": lambda _: lambda score: (score + 1) / 2,  # C03
    "keep": lambda _: lambda score: score,
}
