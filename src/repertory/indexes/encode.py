"""How does a document become a point?

Sparse `bm25` folds field weights and length into the document's side of BM25, so that the engine's dot product with its own IDF is the
BM25 score (C02). Sparse `grams` is the same over four characters in a row: what a typing error leaves of a word still matches. Sparse
`keyword` makes rule A04 a plain dot product. Tokens become dimensions by a hash; two tokens in one dimension are possible and harmless.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, chain, pairwise
from operator import attrgetter

import numpy as np

from repertory.embedders.base import Vector
from repertory.indexes.base import Point, Sparse
from repertory.indexes.features import dimension
from repertory.indexes.read import Reading, Weights
from repertory.model import Document, Field
from repertory.text.tokens import LONG, compact, grams, stem

GRAMS_PER_TERM = 6  # on the mean, weighted: 4.6 to 8.1 over eleven public sets
K1 = 1.2  # C02
B = 0.75
FULL_BOOST = 13.5  # A15: every field of A04 and one tool
CONTEXT = 0.3  # E07: what a query is asked about counts less than what it asks


def pivot(mean_length: float) -> float:
    """The mean length, coarsely: steps of the square root of two. A catalog that grows by a document keeps its encoding."""
    return 2 ** (round(2 * math.log2(max(mean_length, 1.0))) / 2)


Row = tuple[int, Document, Reading, Vector | None]  # a document with its number, what was read in it, and its vector where it has one


def encode(rows: Sequence[Row], pivot: float) -> list[Point]:
    """Documents as points."""
    readings = [reading for _, _, reading, _ in rows]
    bm25 = _bm25([reading.terms for reading in readings], pivot)
    grams = _bm25([reading.grams for reading in readings], pivot * GRAMS_PER_TERM)
    keyword = (Sparse(reading.keyword.dimensions.tolist(), reading.keyword.values.tolist()) for reading in readings)
    return [
        Point(number, _key(document.bucket), tuple(sorted(set(document.tags))), exact_names(document.fields), terms, pieces, words, dense)
        for (number, document, _, dense), terms, pieces, words in zip(rows, bm25, grams, keyword, strict=True)
    ]


_key = lru_cache(maxsize=1024)(attrgetter("key"))  # a catalog has few buckets


def _bm25(several: Sequence[Weights], pivot: float) -> Iterator[Sparse]:
    """All documents in one go: for one alone, every step costs more than what it does."""
    sizes = [len(weights.values) for weights in several]
    values = np.concatenate([np.empty(0), *(weights.values for weights in several)])
    lengths = np.array([weights.values.sum() for weights in several])
    norms = np.repeat(K1 * (1 - B + B * lengths / pivot), sizes)
    scores = (values * (K1 + 1) / (values + norms)).tolist()
    bounds = pairwise(accumulate(sizes, initial=0))
    return (Sparse(weights.dimensions.tolist(), scores[start:end]) for weights, (start, end) in zip(several, bounds, strict=True))


def bm25_probe(query_words: Iterable[str], context: Iterable[str] = ()) -> Sparse:
    """A query as the bm25 lane takes it. Words of its context count less (E07)."""
    return _dimensioned((dimension(stem(word)) for word in query_words), (dimension(stem(word)) for word in context))


def grams_probe(query_words: Iterable[str], context: Iterable[str] = ()) -> Sparse:
    """A query as the grams lane takes it."""
    return _dimensioned(chain.from_iterable(map(_pieces, query_words)), chain.from_iterable(map(_pieces, context)))


def _pieces(word: str) -> tuple[int, ...]:
    """The dimensions of a word's grams."""
    return _remembered(word) if len(word) < LONG else _cut(word)


def _cut(word: str) -> tuple[int, ...]:
    return tuple(map(dimension, grams((word,))))


_remembered = lru_cache(maxsize=8192)(_cut)  # some 4 MB


def _dimensioned(own: Iterable[int], context: Iterable[int]) -> Sparse:
    weights = dict.fromkeys(context, CONTEXT) | dict.fromkeys(own, 1.0)
    indices = sorted(weights)
    return Sparse(indices, [weights[index] for index in indices])


def keyword_probe(query_words: Iterable[str], context: Iterable[str] = ()) -> Sparse:
    """A query as the keyword lane takes it: each token is worth its share (A04)."""
    weights = _weighted(query_words, context)
    total = sum(weights.values())
    return _sparse((token, weight / total) for token, weight in weights.items())


def _weighted(own: Iterable[str], context: Iterable[str]) -> dict[str, float]:
    return dict.fromkeys(context, CONTEXT) | dict.fromkeys(own, 1.0)


def exact_names(fields: Mapping[Field, str]) -> tuple[str, ...]:
    """The spellings of a document's own name: alone, with its path, as its title."""
    spellings = (compact(fields.get(field, "")) for field in (Field.NAME, Field.PATH, Field.TITLE))
    return tuple(dict.fromkeys(spelling for spelling in spellings if spelling))


def _sparse(values: Iterable[tuple[str, float]]) -> Sparse:
    by_dimension: dict[int, float] = {}
    for token, value in values:
        key = dimension(token)
        by_dimension[key] = max(value, by_dimension.get(key, 0.0))
    indices = sorted(by_dimension)
    return Sparse(indices, [by_dimension[index] for index in indices])
