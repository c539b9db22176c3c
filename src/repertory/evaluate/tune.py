"""Which balance of lanes answers labelled sets best?

Every query is asked once, with the real pipeline, and its candidates kept with their scores in every lane. Then balances are tried on these
alone: the mean over the sets of nDCG@10 decides, so that a large set counts no more than a small one. Sets that are held are not learned
from, but none of them may be answered clearly better by a single lane (F02): learned freely, balances suit what the sets have most of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from repertory.app import open_with
from repertory.evaluate.measure import DEPTH, Progress
from repertory.evaluate.sets import LabelledQuery, LabelledSet
from repertory.indexes.base import BM25, GRAMS, VECTOR
from repertory.model import Fusion, SearchRequest, SearchResponse, Strategy
from repertory.model.request import MAX_LIMIT, MAX_QUERY_LENGTH
from repertory.search.adapt import Balance
from repertory.settings import Settings

LANES = (BM25, GRAMS, VECTOR)
QUERIES = 300  # of a set, evenly spread: more say little more
HASTY = 3  # every third query learned from has a typing error: labelled sets are too well spelt to tell what grams are worth
ROUNDS = 400
SLACK = 0.01  # nDCG@10 that a held set may be below its better lane: less than noise, as a sample is not quite the real thing
_DISCOUNT = 1 / np.log2(np.arange(DEPTH) + 2)

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Sample:
    """The candidates of a set's queries: lane scores as shares of the lane's best, grades, and what each query's ideal is worth."""

    set: str
    lanes: dict[str, Floats]  # queries x candidates
    grades: Floats
    known: Floats
    ideal: Floats

    def ndcg(self, balance: Balance) -> float:
        """What a balance reaches."""
        return self._ndcg([balance.weights(float(known)) for known in self.known])

    def alone(self) -> float:
        """What the better of BM25 and the vectors reaches by itself."""
        return max(self._ndcg([{**dict.fromkeys(LANES, 0.0), lane: 1.0}] * len(self.known)) for lane in (BM25, VECTOR))

    def _ndcg(self, weights: Sequence[Mapping[str, float]]) -> float:
        scores = sum((np.array([w[lane] for w in weights])[:, None] * self.lanes[lane] for lane in LANES), start=np.zeros_like(self.grades))
        order = np.argsort(-scores, axis=1, kind="stable")[:, :DEPTH]
        gained = (np.take_along_axis(self.grades, order, axis=1) * _DISCOUNT[: order.shape[1]]).sum(axis=1)
        return float((gained / self.ideal).mean())


async def sample(labelled: LabelledSet, cache: Path, settings: Settings, progress: Progress, hasty: int = 0) -> Sample:
    """Ask a set's queries and keep what the lanes said. Every `hasty`th query has a typing error, if any has."""
    answerable = [query for query in labelled.queries if query.grades]
    asked = answerable[:: max(1, len(answerable) // QUERIES)]
    async with open_with(settings.model_copy(update={"catalog": cache / labelled.name})) as rep:
        await rep.put(labelled.name, labelled.entities, progress)
        answers = []
        for done, query in enumerate(asked, 1):
            text = (misspelt(query.text) if hasty and done % hasty == 0 else query.text)[:MAX_QUERY_LENGTH]
            request = SearchRequest(text, strategy=Strategy.HYBRID, fusion=Fusion.ADAPTIVE, limit=MAX_LIMIT, min_confidence=0.0)
            answers.append(await rep.search(request))
            progress("Asking", done, len(asked))
    return _arrange(labelled.name, asked, answers)


def misspelt(text: str) -> str:
    """The text with two letters swapped inside its longest plain word: the same on every machine."""
    longest = max((word for word in text.split() if word.isalpha()), key=len, default="")
    middle = len(longest) // 2
    return (
        text.replace(longest, longest[: middle - 1] + longest[middle] + longest[middle - 1] + longest[middle + 1 :], 1)
        if middle > 1
        else text
    )


def _arrange(name: str, asked: Sequence[LabelledQuery], answers: Sequence[SearchResponse]) -> Sample:
    shape = (len(asked), MAX_LIMIT)
    lanes = {lane: np.zeros(shape) for lane in LANES}
    grades = np.zeros(shape)
    for row, (query, answer) in enumerate(zip(asked, answers, strict=True)):
        kept = [result for result in answer.results if result.entity.path not in query.exclude]
        for column, result in enumerate(kept):
            grades[row, column] = query.grades.get(result.entity.path, 0)
            for evidence in result.evidence:
                lanes[evidence.lane][row, column] = max(0.0, evidence.score)
    for scores in lanes.values():
        scores /= np.maximum(scores.max(axis=1, keepdims=True), 1e-9)
    ideal = np.array([_ideal(query) for query in asked])
    return Sample(name, lanes, grades, np.array([answer.known or 0.0 for answer in answers]), ideal)


def _ideal(query: LabelledQuery) -> float:
    best = sorted(query.grades.values(), reverse=True)[:DEPTH]
    return float(np.dot(best, _DISCOUNT[: len(best)]))


def mean_ndcg(samples: Sequence[Sample], balance: Balance) -> float:
    """Every set counts the same."""
    return sum(one.ndcg(balance) for one in samples) / len(samples)


def learn(samples: Sequence[Sample], start: Balance, held: Sequence[Sample] = (), seed: int = 0) -> Balance:
    """A walk uphill from a balance, in ever smaller random steps: three parameters need no more."""
    dice = np.random.default_rng(seed)
    floors = [(one, one.alone() - SLACK) for one in held]

    def worth(balance: Balance) -> float:
        return mean_ndcg(samples, balance) - sum(max(0.0, floor - one.ndcg(balance)) for one, floor in floors)

    best, reached, step = start, worth(start), 1.0
    for turn in range(ROUNDS):
        lean, slope, grams = dice.normal(size=3) * step
        tried = Balance(best.lean + lean, best.slope + slope, float(np.clip(best.grams + 0.3 * grams, 0.0, 0.9)))
        if (value := worth(tried)) > reached:
            best, reached = tried, value
        if turn % 80 == 79:
            step *= 0.6
    return best
