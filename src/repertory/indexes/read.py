"""What do the words of a document come to?

Every word of a document is looked at once, for all lanes and statistics. Documents are read many at a time: what their words bring is laid
side by side and added up in one go, because adding feature by feature in Python takes longer than finding them.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from repertory.indexes.features import UINT32, Features, features
from repertory.model import Field
from repertory.text.tokens import written

Keys = NDArray[np.uint64]  # of features: the owner above, the dimension below

AT_ONCE = 1_000_000  # letters: some 60 MB while they are added up

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
TOOL_BOOST = 1.0  # A04: for each tool that matches


class Weights(NamedTuple):
    """How much each dimension weighs in a document, in rising order of dimensions."""

    dimensions: NDArray[np.uint32]
    values: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Reading:
    """What the words of a document come to: everything about it that needs its text."""

    terms: Weights  # an occurrence counts as much as its field weighs
    grams: Weights
    keyword: Weights
    short_names: frozenset[str]
    plain: frozenset[str]


def read(every: Iterable[Mapping[Field, str]]) -> Iterator[Reading]:
    """Read documents, given by their fields, in their order."""
    return chain.from_iterable(map(_read, _portions(every)))


def _portions(every: Iterable[Mapping[Field, str]]) -> Iterator[list[Mapping[Field, str]]]:
    portion: list[Mapping[Field, str]] = []
    letters = 0
    for fields in every:
        portion.append(fields)
        letters += sum(map(len, fields.values()))
        if letters > AT_ONCE:
            yield portion
            portion, letters = [], 0
    if portion:
        yield portion


class _Known(dict[str, Features]):
    """The features of the words that were met, in names or elsewhere: quicker asked than what is remembered for longer."""

    def __init__(self, *, naming: bool) -> None:
        self._naming = naming

    def __missing__(self, word: str) -> Features:
        self[word] = found = features(word, self._naming)
        return found


class _Pile:
    """What many words brought, packed, each with whose it is and what it counts."""

    def __init__(self) -> None:
        self._packed: list[bytes] = []
        self._owners: list[int] = []
        self._weights: list[float] = []

    def add(self, owner: int, packed: Sequence[bytes], weights: Iterable[float]) -> None:
        self._packed += packed
        self._owners += [owner] * len(packed)
        self._weights += weights

    def spread(self) -> tuple[Keys, NDArray[np.float64]]:
        """The key and the weight of every feature."""
        sizes = np.array(list(map(len, self._packed)), np.int64) // array(UINT32).itemsize
        keys = np.repeat(_above(self._owners), sizes) | np.frombuffer(b"".join(self._packed), UINT32)
        return keys, np.repeat(np.array(self._weights), sizes)


def _read(every: Sequence[Mapping[Field, str]]) -> Iterator[Reading]:
    known = (_Known(naming=False), _Known(naming=True))
    terms, grams, prefixes = _Pile(), _Pile(), _Pile()
    groups: list[tuple[int, float]] = []  # A04: prefixes of one group count once; whose it is, and what it counts
    short_names: list[frozenset[str]] = []
    plain: list[frozenset[str]] = []
    for owner, fields in enumerate(every):
        weighed: tuple[dict[str, float], dict[str, float]] = ({}, {})
        boosted: dict[float, list[bytes]] = {}
        for field, text in fields.items():
            naming, weight, boost = field in NAMING, BM25_WEIGHTS[field], KEYWORD_BOOSTS.get(field)
            words, of_field = written(text), weighed[naming]
            for word in words:
                of_field[word] = of_field.get(word, 0.0) + weight
            if boost is not None:
                boosted.setdefault(boost, []).extend([known[naming][word].prefixes for word in words])
        found = [known[naming][word] for naming in (False, True) for word in weighed[naming]]
        weights = [*weighed[False].values(), *weighed[True].values()]
        terms.add(owner, [one.terms for one in found], weights)
        grams.add(owner, [one.grams for one in found], weights)
        short_names.append(frozenset(chain.from_iterable([one.short_names for one in found])))
        plain.append(frozenset(chain.from_iterable([one.plain for one in found])))
        lines = ([known[False][word].prefixes for word in written(line)] for line in fields.get(Field.TOOLS, "").splitlines())
        for boost, packed in (*boosted.items(), *((TOOL_BOOST, line) for line in lines)):
            prefixes.add(len(groups), packed, [boost] * len(packed))
            groups.append((owner, boost))
    summed = (_by_owner(*terms.spread(), len(every)), _by_owner(*grams.spread(), len(every)), _keyword(prefixes, groups, len(every)))
    return map(Reading, *summed, short_names, plain)


def _keyword(prefixes: _Pile, groups: Sequence[tuple[int, float]], owners: int) -> Iterator[Weights]:
    keys = np.unique(prefixes.spread()[0])
    group = keys >> np.uint64(32)
    whose, boosts = _above([owner for owner, _ in groups]), np.array([boost for _, boost in groups])
    return _by_owner(whose[group] | keys & np.uint64(0xFFFFFFFF), boosts[group], owners)


def _above(owners: Sequence[int]) -> Keys:
    """Owners, where keys have them."""
    return np.array(owners, np.uint64) << np.uint64(32)


def _by_owner(keys: Keys, weights: NDArray[np.float64], owners: int) -> Iterator[Weights]:
    """The sum of the weights of every key, taken apart by owner."""
    order = np.argsort(keys)
    keys = keys[order]
    firsts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1]))[: len(keys)])
    keys, sums = keys[firsts], np.add.reduceat(weights[order], firsts)
    bounds = np.searchsorted(keys, _above(range(1, owners)))
    return map(Weights, np.split(keys.astype(np.uint32), bounds), np.split(sums, bounds))
