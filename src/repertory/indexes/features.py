"""What does one written word bring to a document?

Every lane looks at words, and a catalog has far fewer different words than words: what each brings is worked out once, as the dimensions
that it fills, and remembered. A document is then the sum of its words (see `encode`).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

from repertory.text.tokens import GRAM_LENGTH, LONG, grams, plain, short, split, stem, telling

PREFIX = 4  # letters: fewer are a word of their own ("Exa" is not in "Example")
LONGEST_PREFIX = 32  # nobody types more of a word, and a page of base64 must not become a million dimensions
REMEMBERED = 65_536  # words: some 60 MB when full, which takes a catalog of tens of thousands of tools
UINT32 = "I"  # packed, because a tuple of integers takes ten times as much and bytes are joined at once


class Features(NamedTuple):
    """Of one written word; dimensions are packed."""

    terms: bytes  # its stems
    grams: bytes  # characters in a row
    prefixes: bytes  # its words and their beginnings
    short_names: tuple[str, ...]
    plain: tuple[str, ...]  # what can be misspelt


def dimension(token: str) -> int:
    """The dimension of a token: the same on every machine and in every release."""
    return crc32(token.encode())


def features(word: str, naming: bool) -> Features:
    """What a word brings, in a text that is a name itself or in any other."""
    return _remembered(word, naming) if len(word) < LONG else _features(word, naming)


def _features(word: str, naming: bool) -> Features:
    brought = split(word)
    told = telling(brought, naming)
    packed = [_of_token(token.text) if len(token.text) < LONG else _pack(token.text) for token in told]
    terms, grams, prefixes = map(b"".join, zip(*packed, strict=True)) if packed else (b"", b"", b"")
    return Features(terms, grams, prefixes, tuple(short(told)), tuple(plain(brought)))


_remembered = lru_cache(maxsize=REMEMBERED)(_features)


def _pack(token: str) -> tuple[bytes, bytes, bytes]:
    """The term, the grams and the prefixes of one token."""
    term = array(UINT32, [dimension(stem(token))]).tobytes()
    if not token.isascii():
        return term, _packed(grams((token,))), _packed(_prefixes(token))
    letters, marked = token.encode(), f" {token} ".encode()  # as bytes they are cut without being encoded piece by piece
    pieces = [crc32(marked[start : start + GRAM_LENGTH]) for start in range(max(1, len(marked) - GRAM_LENGTH + 1))]
    beginnings = [crc32(letters), *[crc32(letters[:end]) for end in range(PREFIX, min(len(letters), LONGEST_PREFIX))]]
    return term, array(UINT32, pieces).tobytes(), array(UINT32, beginnings).tobytes()


_of_token = lru_cache(maxsize=16384)(_pack)  # identifiers share their parts


def _packed(tokens: Iterable[str]) -> bytes:
    return array(UINT32, map(dimension, tokens)).tobytes()


def _prefixes(word: str) -> list[str]:
    """The word and every beginning of it: a query token matches at a word boundary, never inside a word."""
    return [word, *[word[:end] for end in range(PREFIX, min(len(word), LONGEST_PREFIX))]]
