"""How does a document become a point?

Sparse `bm25` folds field weights and length into the document's side of BM25, so that the engine's dot product with its own IDF is the
BM25 score (C02). Sparse `grams` is the same over character trigrams: what a typing error leaves of a word still matches. Sparse `keyword`
makes rule A04 a plain dot product. Tokens become dimensions by a hash; two tokens in one dimension are possible and harmless.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from zlib import crc32

from repertory.embedders.base import Vector
from repertory.indexes.base import Point, Sparse
from repertory.model import Bucket, Field
from repertory.text.tokens import compact, grams, stem, terms, words

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

KEYWORD_BOOSTS: tuple[tuple[float, tuple[Field, ...]], ...] = (  # A04
    (5.0, (Field.PATH,)),
    (3.0, (Field.NAME, Field.TITLE)),
    (2.0, (Field.DESCRIPTION, Field.HEADINGS, Field.BODY)),
    (1.5, (Field.TAGS,)),
    (1.0, (Field.METADATA,)),
)
PREFIX = 4  # letters: fewer are a word of their own ("Exa" is not in "Example")
LONGEST_PREFIX = 32  # nobody types more of a word, and a page of base64 must not become a million dimensions
CONTEXT = 0.3  # E07: what a query is asked about counts less than what it asks
TOOL_BOOST = 1.0  # A04: for each tool that matches
FULL_BOOST = 13.5  # A15: every field and one tool


def dimension(token: str) -> int:
    """The dimension of a token: the same on every machine and in every release."""
    return crc32(token.encode())


def weigh(fields: Mapping[Field, str]) -> Counter[str]:
    """How often each term occurs, an occurrence counting as much as its field weighs."""
    weights: Counter[str] = Counter()
    for field, text in fields.items():
        weight = BM25_WEIGHTS[field]
        for term in terms(text, naming=field in NAMING):
            weights[term] += weight  # type: ignore[assignment]
    return weights


def _weigh_grams(fields: Mapping[Field, str]) -> Counter[str]:
    weights: Counter[str] = Counter()
    for field, text in fields.items():
        weight = BM25_WEIGHTS[field]
        for gram in grams(words(text, naming=field in NAMING)):
            weights[gram] += weight  # type: ignore[assignment]
    return weights


def pivot(mean_length: float) -> float:
    """The mean length, coarsely: steps of the square root of two. A catalog that grows by a document keeps its encoding."""
    return 2 ** (round(2 * math.log2(max(mean_length, 1.0))) / 2)


def encode(
    number: int,
    bucket: Bucket,
    tags: Iterable[str],
    fields: Mapping[Field, str],
    dense: Vector | None,
    pivot: float,
) -> Point:
    """A document as a point."""
    return Point(
        number=number,
        bucket=bucket.key,
        tags=tuple(sorted(set(tags))),
        names=exact_names(fields),
        bm25=_bm25(weigh(fields), pivot),
        grams=_bm25(_weigh_grams(fields), pivot * GRAMS_PER_TERM),
        keyword=_keyword(fields),
        dense=dense,
    )


def _bm25(weights: Mapping[str, float], pivot: float) -> Sparse:
    norm = K1 * (1 - B + B * sum(weights.values()) / pivot)
    return _sparse((term, weight * (K1 + 1) / (weight + norm)) for term, weight in weights.items())


def _keyword(fields: Mapping[Field, str]) -> Sparse:
    values: Counter[str] = Counter()
    for boost, names in KEYWORD_BOOSTS:
        for prefix in set().union(*(_prefixes(fields.get(name, ""), name in NAMING) for name in names)):
            values[prefix] += boost  # type: ignore[assignment]
    for line in fields.get(Field.TOOLS, "").splitlines():
        for prefix in _prefixes(line, naming=False):
            values[prefix] += TOOL_BOOST  # type: ignore[assignment]
    return _sparse(values.items())


def _prefixes(text: str, naming: bool) -> set[str]:
    """Every word and every beginning of it: a query token matches at a word boundary, never inside a word."""
    found: set[str] = set()
    for word in words(text, naming=naming):
        found.update(word[:end] for end in range(PREFIX, min(len(word), LONGEST_PREFIX)))
        found.add(word)
    return found


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
