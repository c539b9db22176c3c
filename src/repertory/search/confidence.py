"""How sure can we be that a result is relevant?

F01. A score says which result is better than which; confidence says whether any of them is good, and means the same for every query and
catalog. It is the product of two chances, each a logistic function learned by `repertory calibrate` and kept in `confidence.toml`:

- that the catalog answers the query at all: the best cosine, how far it stands above the catalog's *noise floor* (the best cosine that
  talk about nothing finds there), and how much of the query's rare words the best document has. Long queries are covered less, so the
  number of terms counts in favour;
- that this candidate is an answer: its share of the weight of the first ten.

The answer abstains where the first chance is below the threshold. Cosines are needed: words alone do not tell (docs/confidence.md).
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from repertory.indexes.encode import K1

FIRST = 10  # candidates that share the weight of an answer, however many are shown
SHARPNESS = 4  # scores differ by a few per cent between a right and a wrong result; their fourth powers differ visibly
LEAST_SHARE = 1e-4  # keeps the logarithm finite


@dataclass(frozen=True, slots=True)
class Signs:
    """What speaks for one candidate. All but `share` are the same for every candidate of an answer."""

    cosine: float  # the best of all candidates
    coverage: float  # the best of all candidates: BM25 as a part of what a document full of the query's terms would get
    terms: int  # of the query
    floor: float  # of the catalog: see `floor`
    named: bool  # the query is the name of the first result (C09): that is an answer
    share: float  # of the weight of the first ten


@dataclass(frozen=True, slots=True)
class Answered:
    """That anything here answers: the log-odds are a weighted sum."""

    bias: float
    cosine: float
    floor: float
    coverage: float
    terms: float  # of ln(1 + terms)


@dataclass(frozen=True, slots=True)
class Chosen:
    """That this is an answer where something is: the log-odds go with the logarithm of the share."""

    bias: float
    share: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """The seven learned numbers, the threshold that was chosen, and the embedding model for whose cosines they hold."""

    answered: Answered
    chosen: Chosen
    threshold: float
    model: str

    def chance(self, signs: Signs) -> float:
        """That the catalog answers the query at all."""
        if signs.named:
            return 1.0
        by = self.answered
        return _sigmoid(
            by.bias + by.cosine * signs.cosine + by.floor * signs.floor + by.coverage * signs.coverage + by.terms * math.log1p(signs.terms)
        )

    def confidence(self, signs: Signs) -> float:
        """That this candidate is relevant."""
        return self.chance(signs) * self.chosen_by(signs.share)

    def chosen_by(self, share: float) -> float:
        """That a candidate with this share of the weight is an answer where something is."""
        return _sigmoid(self.chosen.bias + self.chosen.share * math.log(max(share, LEAST_SHARE)))

    def abstains(self, signs: Signs) -> bool:
        """Whether an answer with these signs should rather be none."""
        return self.chance(signs) < self.threshold


def read(
    scores: Sequence[float], *, cosine: float, bm25: float, idf_total: float, terms: int, floor: float, named: bool = False
) -> list[Signs]:
    """The signs of every candidate of an answer.

    `scores` are the fused scores, best first; `cosine` and `bm25` the best of any candidate; `idf_total` the IDF of the query's `terms`
    different terms together.
    """
    coverage = max(0.0, bm25) / ((K1 + 1) * idf_total) if idf_total else 0.0
    weights = [max(0.0, score) ** SHARPNESS for score in scores]
    total = sum(weights[:FIRST])
    return [Signs(cosine, coverage, terms, floor, named, weight / total if total else 0.0) for weight in weights]


def floor(cosines: Sequence[float]) -> float:
    """The noise floor of a catalog, from the best cosine that it has for each of the `probes`."""
    return fmean(cosines) if cosines else 0.0


@lru_cache(maxsize=1)
def learned() -> Calibration:
    """The calibration that ships with the package."""
    content = _content()
    return Calibration(Answered(**content["answered"]), Chosen(**content["chosen"]), content["threshold"], content["model"])


@lru_cache(maxsize=1)
def probes() -> tuple[str, ...]:
    """Talk about nothing that a catalog serves: what is asked to find the noise floor."""
    return tuple(_content()["probes"])


@lru_cache(maxsize=1)
def probe_vectors() -> NDArray[np.float32]:
    """The vectors of the `probes` under the calibration's model: one row each, so that no embedder is asked."""
    with files("repertory.search").joinpath("probes.npy").open("rb") as file:
        return np.asarray(np.load(file, allow_pickle=False), dtype=np.float32)


def _content() -> dict[str, Any]:
    return tomllib.loads(files("repertory.search").joinpath("confidence.toml").read_text("utf-8"))


def _sigmoid(odds: float) -> float:
    return 1 / (1 + math.exp(-min(max(odds, -50.0), 50.0)))
