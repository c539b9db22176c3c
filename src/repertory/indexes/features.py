"""What does one written word bring to a document?

Every lane looks at words, and a catalog has far fewer different words than words: what each brings is worked out once, as the dimensions
that it fills, and remembered. A document is then the sum of its words (see `encode`).
"""

from __future__ import annotations

from array import array
from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

from repertory.text.tokens import LONG, grams, plain, short, split, stem, telling

PREFIX = 4  # letters: fewer are a word of their own ("Exa" is not in "Example")
LONGEST_PREFIX = 32  # nobody types more of a word, and a page of base64 must not become a million dimensions
REMEMBERED = 65_536  # words: some 60 MB when full, which takes a catalog of tens of thousands of tools
UINT32 = "I"  # arrays, because a tuple of integers takes ten times as much


class Features(NamedTuple):
    """Of one written word."""

    terms: array[int]  # its stems
    grams: array[int]  # its character trigrams
    prefixes: array[int]  # its words and their beginnings, each once
    short_names: tuple[str, ...]
    plain: tuple[str, ...]  # what can be misspelt


@lru_cache(maxsize=16384)  # trigrams come again and again
def dimension(token: str) -> int:
    """The dimension of a token: the same on every machine and in every release."""
    return crc32(token.encode())


def features(word: str, naming: bool) -> Features:
    """What a word brings, in a text that is a name itself or in any other."""
    return _remembered(word, naming) if len(word) < LONG else _features(word, naming)


def _features(word: str, naming: bool) -> Features:
    brought = split(word)
    told = telling(brought, naming)
    words = [token.text for token in told]
    return Features(
        terms=array(UINT32, [dimension(stem(one)) for one in words]),
        grams=array(UINT32, map(dimension, grams(words))),
        prefixes=array(UINT32, {dimension(prefix) for one in words for prefix in _prefixes(one)}),
        short_names=tuple(short(told)),
        plain=tuple(plain(brought)),
    )


_remembered = lru_cache(maxsize=REMEMBERED)(_features)


def _prefixes(word: str) -> set[str]:
    """The word and every beginning of it: a query token matches at a word boundary, never inside a word."""
    return {word, *(word[:end] for end in range(PREFIX, min(len(word), LONGEST_PREFIX)))}
