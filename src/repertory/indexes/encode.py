"""How does a document become a point?

Sparse `bm25` folds field weights and length into the document's side of BM25, so that the engine's dot product with its own IDF is the
BM25 score (C02). Sparse `grams` is the same over character trigrams: what a typing error leaves of a word still matches. Sparse `keyword`
makes rule A04 a plain dot product. Tokens become dimensions by a hash; two tokens in one dimension are possible and harmless.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from repertory.embedders.base import Vector
from repertory.indexes.base import Point, Sparse
from repertory.indexes.features import dimension, features
from repertory.model import Document, Field
from repertory.text.tokens import compact, grams, stem, written

GRAMS_PER_TERM = 7  # on the mean, weighted: 5.7 to 9.0 over eleven public sets
K1 = 1.2  # C02
B = 0.75

BM25_WEIGHTS: Mapping[Field, float] = {  # B03: what names a thing says more than what describes it
    Field.NAME: 3.0,
    Field.TITLE: 2.0,
    Field.HEADINGS: 2.0,
    Field.TAGS: 1.0,
    Field.DESCRIPTION: 1.0,
    Field.BODY: 1.0,
    Field.PARAMETERS: 0.5,
    Field.TOOLS: 0.5,
    Field.METADATA: 0.5,
    Field.PATH: 0.5,
}

NAMING = frozenset({Field.PATH, Field.NAME, Field.TITLE})  # in these a short word is a name: "ls", "go"

KEYWORD_BOOSTS: Mapping[Field, float] = {  # A04: fields of one boost count once
    Field.PATH: 5.0,
    Field.NAME: 3.0,
    Field.TITLE: 3.0,
    Field.DESCRIPTION: 2.0,
    Field.HEADINGS: 2.0,
    Field.BODY: 2.0,
    Field.TAGS: 1.5,
    Field.METADATA: 1.0,
}
CONTEXT = 0.3  # E07: what a query is asked about counts less than what it asks
TOOL_BOOST = 1.0  # A04: for each tool that matches
FULL_BOOST = 13.5  # A15: every field and one tool


@dataclass(frozen=True, slots=True)
class Reading:
    """What the words of a document come to: everything about it that needs its text."""

    terms: Mapping[int, float]  # by dimension, an occurrence counting as much as its field weighs
    grams: Mapping[int, float]
    keyword: Sparse
    short_names: frozenset[str]
    plain: frozenset[str]


def read(fields: Mapping[Field, str]) -> Reading:
    """Look at every word of a document once, for all lanes and statistics."""
    terms: dict[int, float] = {}
    grams: dict[int, float] = {}
    boosted: dict[float, set[int]] = {}  # by boost, because several fields share one (A04)
    short_names: set[str] = set()
    plain: set[str] = set()
    for field, text in fields.items():
        naming, weight, prefixes = field in NAMING, BM25_WEIGHTS[field], boosted.setdefault(KEYWORD_BOOSTS.get(field, 0.0), set())
        for word, times in Counter(written(text)).items():
            of_terms, of_grams, of_prefixes, of_short, of_plain = features(word, naming)
            by = weight * times
            for term in of_terms:
                terms[term] = terms.get(term, 0.0) + by
            for gram in of_grams:
                grams[gram] = grams.get(gram, 0.0) + by
            prefixes.update(of_prefixes)
            plain.update(of_plain)
            if of_short:
                short_names.update(of_short)
    return Reading(terms, grams, _keyword(boosted, fields.get(Field.TOOLS, "")), frozenset(short_names), frozenset(plain))


def _keyword(boosted: Mapping[float, Iterable[int]], tools: str) -> Sparse:
    values: dict[int, float] = {}
    lines = (set().union(*(features(word, naming=False).prefixes for word in written(line))) for line in tools.splitlines())
    for boost, prefixes in (*boosted.items(), *((TOOL_BOOST, line) for line in lines)):
        for prefix in prefixes if boost else ():
            values[prefix] = values.get(prefix, 0.0) + boost
    indices = sorted(values)
    return Sparse(indices, list(map(values.__getitem__, indices)))


def pivot(mean_length: float) -> float:
    """The mean length, coarsely: steps of the square root of two. A catalog that grows by a document keeps its encoding."""
    return 2 ** (round(2 * math.log2(max(mean_length, 1.0))) / 2)


def encode(number: int, document: Document, reading: Reading, dense: Vector | None, pivot: float) -> Point:
    """A document as a point."""
    return Point(
        number=number,
        bucket=document.bucket.key,
        tags=tuple(sorted(set(document.tags))),
        names=exact_names(document.fields),
        bm25=_bm25(reading.terms, pivot),
        grams=_bm25(reading.grams, pivot * GRAMS_PER_TERM),
        keyword=reading.keyword,
        dense=dense,
    )


def _bm25(weights: Mapping[int, float], pivot: float) -> Sparse:
    norm = K1 * (1 - B + B * sum(weights.values()) / pivot)
    indices = sorted(weights)
    return Sparse(indices, [weight * (K1 + 1) / (weight + norm) for weight in map(weights.__getitem__, indices)])


def bm25_probe(query_words: Iterable[str], context: Iterable[str] = ()) -> Sparse:
    """A query as the bm25 lane takes it. Words of its context count less (E07)."""
    return _sparse(_weighted((stem(word) for word in query_words), (stem(word) for word in context)).items())


def grams_probe(query_words: Iterable[str], context: Iterable[str] = ()) -> Sparse:
    """A query as the grams lane takes it."""
    return _sparse(_weighted(grams(query_words), grams(context)).items())


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
