"""How much does each lane count for this query?

F02. Words can be trusted as far as the catalog knows the words of the query: all of a long query known says most, one known word among
many that are not says little. A query that is known leans on the lexical lanes, a paraphrase in other words on the vector lane. Grams
take a part of the lexical weight. Three parameters, learned by `repertory tune` and kept in `adaptive.toml`.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from repertory.indexes.base import BM25, GRAMS, VECTOR


@dataclass(frozen=True, slots=True)
class Balance:
    """The vector lane weighs sigmoid(lean + slope * known); grams take `grams` of what is left.

    Where no word is known, all are misspelt or foreign: grams alone can tell which, and take `grams` of the whole.
    """

    lean: float
    slope: float
    grams: float

    def weights(self, known: float) -> dict[str, float]:
        """The weight of each lane, together 1."""
        if not known:
            return {BM25: 0.0, GRAMS: self.grams, VECTOR: 1 - self.grams}
        vector = 1 / (1 + math.exp(-(self.lean + self.slope * known)))
        lexical = 1 - vector
        return {BM25: lexical * (1 - self.grams), GRAMS: lexical * self.grams, VECTOR: vector}


@lru_cache(maxsize=1)
def learned() -> Balance:
    """The balance that ships with the package."""
    content = tomllib.loads(files("repertory.search").joinpath("adaptive.toml").read_text("utf-8"))
    return Balance(**content["balance"])


def known_share(frequencies: Iterable[int], documents: int) -> float:
    """From the document frequency of each query term: how far the catalog knows the query, from 0 (no term) towards 1.

    The evidence e is the share of the terms' IDF that falls on known ones, squared, times the number of terms; the answer is e / (1 + e).
    Squared: beside many unknown words a known one is mostly there by accident. Times the number: few words, even all known, prove little.
    """
    idf = [(df, inverse_frequency(df, documents)) for df in frequencies]
    total = sum(weight for _, weight in idf)
    share = sum(weight for df, weight in idf if df) / total if total else 0.0
    evidence = len(idf) * share**2
    return evidence / (1 + evidence)


def inverse_frequency(frequency: int, documents: int) -> float:
    """C02: how much a term says that so many of the documents have."""
    return math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5))
