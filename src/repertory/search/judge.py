"""Is there an answer at all?

F01: `confidence` says what the signs mean, here they are gathered. It holds for one embedding model; with another, or without a vector,
nothing is judged and every answer stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from repertory.indexes.base import BM25, VECTOR, Index, LaneQuery, Scope
from repertory.indexes.encode import bm25_probe
from repertory.model import Candidate
from repertory.search import confidence
from repertory.search.lanes import Found
from repertory.search.place import Place
from repertory.text.fold import is_latin

MOVED = 0.25  # a catalog that grew or shrank by so much has another noise floor


@dataclass(frozen=True, slots=True)
class Verdict:
    """How likely the catalog answers the query, how likely each candidate is an answer, and why there is none."""

    chance: float | None = None
    confidences: tuple[float, ...] = ()
    abstains: bool = False
    reason: str = ""


@dataclass(slots=True)
class Judge:
    """Judges the answers of one catalog."""

    index: Index
    model: str | None  # whose vectors the catalog has
    calibration: confidence.Calibration = field(default_factory=confidence.learned)
    _floor: tuple[int, float] | None = None  # of so many vectors

    def judge(self, found: Found, ranked: Sequence[Candidate], place: Place) -> Verdict:
        """What to think of a ranking."""
        if found.plan.abstain is None or self.model != self.calibration.model or VECTOR not in found.scores or not ranked:
            return Verdict()
        if not is_latin(found.reading.query.text):  # the model does not read it, so a low cosine says nothing
            return Verdict()
        signs = confidence.read(
            [candidate.score for candidate in ranked[: max(confidence.FIRST, found.plan.limit)]],
            cosine=max(found.scores[VECTOR].values(), default=0.0),
            bm25=self._best_by_words(found, place),
            idf_total=found.reading.idf,
            terms=found.reading.terms,
            floor=self._noise(place.everything, place.vectors),
            # A single word that some document has is looked up, not asked about: that document is an answer ("Go", A01).
            named=ranked[0].number in found.exact or (found.reading.terms == 1 and found.reading.known > 0),
        )
        chance = self.calibration.chance(signs[0])
        least = found.plan.abstain
        # Learned from adaptive fusion's scores.
        told = tuple(chance * self.calibration.chosen_by(one.share) for one in signs) if found.plan.adapt else ()
        return Verdict(chance, told, chance < least, _reason(ranked[0], chance, least) if chance < least else "")

    def _best_by_words(self, found: Found, place: Place) -> float:
        if BM25 in found.scores:
            return max(found.scores[BM25].values(), default=0.0)
        (hits,) = self.index.search([LaneQuery(BM25, bm25_probe(found.reading.query.words), 1)], place.scope)
        return hits[0].score if hits else 0.0

    def _noise(self, everything: Scope, vectors: int) -> float:
        """How near talk about nothing comes to this catalog."""
        if self._floor is None or abs(vectors - self._floor[0]) > MOVED * self._floor[0]:
            answers = self.index.search([LaneQuery(VECTOR, probe, 1) for probe in confidence.probe_vectors()], everything)
            self._floor = vectors, confidence.floor([hits[0].score for hits in answers if hits])
        return self._floor[1]


def _reason(best: Candidate, chance: float, least: float) -> str:
    odds = f"{chance:.2f}, below {least:.2f}"
    return f"Nothing in the catalog seems to answer this: with {best.entity_id} as the best match, the chance of an answer is {odds}."
