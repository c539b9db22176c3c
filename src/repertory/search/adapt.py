"""How much does each lane count for this query?

F02. Words can be trusted as far as the catalog knows the words of the query: the *known share* is the part of the query's IDF that falls
on terms which some document has. A query that is all known leans on the lexical lanes, a paraphrase in other words on the vector lane.
Trigrams take a part of the lexical weight. Three parameters, learned by `repertory tune` and kept in `adaptive.toml`.
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
    """The vector lane weighs sigmoid(lean + slope * known); trigrams take `grams` of what is left."""

    lean: float
    slope: float
    grams: float

    def weights(self, known: float) -> dict[str, float]:
        """The weight of each lane, together 1."""
        vector = 1 / (1 + math.exp(-(self.lean + self.slope * known)))
        lexical = 1 - vector
        return {BM25: lexical * (1 - self.grams), GRAMS: lexical * self.grams, VECTOR: vector}


@lru_cache(maxsize=1)
def learned() -> Balance:
    """The balance that ships with the package."""
    content = tomllib.loads(files("repertory.search").joinpath("adaptive.toml").read_text("utf-8"))
    return Balance(**content["balance"])


def known_share(frequencies: Iterable[int], documents: int) -> float:
    """From the document frequency of each query term: which part of their IDF the catalog knows. No terms: nothing is known."""
    idf = [(df, math.log(1 + (documents - df + 0.5) / (df + 0.5))) for df in frequencies]
    total = sum(weight for _, weight in idf)
    return sum(weight for df, weight in idf if df) / total if total else 0.0
