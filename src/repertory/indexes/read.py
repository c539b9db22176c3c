"""What do the words of a document come to?

Every word of a document is looked at once, for all lanes and statistics. Documents are read many at a time: what their words bring is laid
side by side and added up in one go, because adding feature by feature in Python takes longer than finding them.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from repertory.indexes.features import UINT32, Features, features
from repertory.model import Field
from repertory.text.tokens import written

Keys = NDArray[np.uint64]  # the owner above; below the number of a word, or the dimension of a feature
BITS, BELOW = np.uint64(32), np.uint64(0xFFFFFFFF)

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


Packed = tuple[list[tuple[NDArray[Any], NDArray[Any], list[int]]], list[list[frozenset[str]]]]


def pack(readings: Sequence[Reading]) -> Packed:
    """Readings in a few large pieces: arrays of one document each take longer to send than to work out."""
    lanes = ([one.terms for one in readings], [one.grams for one in readings], [one.keyword for one in readings])
    return [_laid_out(several) for several in lanes], [[one.short_names for one in readings], [one.plain for one in readings]]


def _laid_out(several: Sequence[Weights]) -> tuple[NDArray[Any], NDArray[Any], list[int]]:
    dimensions = np.concatenate([np.empty(0, np.uint32), *(one.dimensions for one in several)])
    return dimensions, np.concatenate([np.empty(0), *(one.values for one in several)]), [len(one.dimensions) for one in several]


def unpack(packed: Packed) -> Iterator[Reading]:
    """The inverse of `pack`."""
    lanes, sets = packed
    return map(Reading, *(_taken_apart(*lane) for lane in lanes), *sets)


def _taken_apart(dimensions: NDArray[Any], values: NDArray[Any], sizes: Sequence[int]) -> Iterator[Weights]:
    return (Weights(dimensions[start:end], values[start:end]) for start, end in pairwise(accumulate(sizes, initial=0)))


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


class _Numbers(dict[str, int]):
    """The numbers of the words that were met, in names or elsewhere: what a word brings is at its number."""

    def __init__(self, met: list[Features], *, naming: bool) -> None:
        self._met = met
        self._naming = naming

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self._met)
        self._met.append(features(word, self._naming))
        return number


class _Said:
    """Words by their numbers, side by side, each with whose it is."""

    def __init__(self) -> None:
        self._numbers: list[int] = []
        self._sizes: list[int] = []
        self._owners: list[int] = []

    def add(self, owner: int, numbers: Sequence[int]) -> None:
        self._numbers += numbers
        self._sizes.append(len(numbers))
        self._owners.append(owner)

    def keys(self) -> Keys:
        """The owner of each word above its number."""
        return np.repeat(_above(self._owners), self._sizes) | np.array(self._numbers, np.uint64)

    def each(self, values: Sequence[float]) -> NDArray[np.float64]:
        """What was said of each addition, for each word of it."""
        return np.repeat(np.array(values, np.float64), self._sizes)


def _read(every: Sequence[Mapping[Field, str]]) -> Iterator[Reading]:
    met: list[Features] = []
    numbers = (_Numbers(met, naming=False), _Numbers(met, naming=True))
    words, weights = _Said(), list[float]()
    grouped, groups = _Said(), list[tuple[int, float]]()  # A04: words of one group count once; whose it is, and what it counts
    for owner, fields in enumerate(every):
        boosted: dict[float, list[int]] = {}
        for field, text in fields.items():
            found = list(map(numbers[field in NAMING].__getitem__, written(text)))
            words.add(owner, found)
            weights.append(BM25_WEIGHTS[field])
            if field in KEYWORD_BOOSTS:
                boosted.setdefault(KEYWORD_BOOSTS[field], []).extend(found)
        lines = (list(map(numbers[False].__getitem__, written(line))) for line in fields.get(Field.TOOLS, "").splitlines())
        for boost, found in (*boosted.items(), *((TOOL_BOOST, line) for line in lines)):
            grouped.add(len(groups), found)
            groups.append((owner, boost))
    keys, sums = _summed(words.keys(), words.each(weights))
    keyword = _keyword(_once(grouped.keys()), [one.prefixes for one in met], groups)
    return map(
        Reading,
        _by_owner(*_summed(*_spread(keys, sums, [one.terms for one in met])), len(every)),
        _by_owner(*_summed(*_spread(keys, sums, [one.grams for one in met])), len(every)),
        _by_owner(*keyword, len(every)),
        _together(keys, [one.short_names for one in met], len(every)),
        _together(keys, [one.plain for one in met], len(every)),
    )


def _keyword(keys: Keys, prefixes: Sequence[bytes], groups: Sequence[tuple[int, float]]) -> tuple[Keys, NDArray[np.float64]]:
    keys = _once(_spread(keys, np.empty(len(keys)), prefixes)[0])
    group = keys >> BITS
    whose, boosts = _above([owner for owner, _ in groups]), np.array([boost for _, boost in groups])
    return _summed(whose[group] | keys & BELOW, boosts[group])


def _above(owners: Sequence[int]) -> Keys:
    """Owners, where keys have them."""
    return np.array(owners, np.uint64) << BITS


def _spread(keys: Keys, weights: NDArray[np.float64], packed: Sequence[bytes]) -> tuple[Keys, NDArray[np.float64]]:
    """The key and the weight of every feature, given those of the words."""
    sizes = np.array(list(map(len, packed)), np.int64) // array(UINT32).itemsize
    starts = np.cumsum(sizes) - sizes
    number = (keys & BELOW).astype(np.int64)
    taken = sizes[number]
    shift = starts[number] - (np.cumsum(taken) - taken)  # from where a feature lies among all that are taken to where its word has it
    every = np.frombuffer(b"".join(packed), UINT32)
    return np.repeat(keys & ~BELOW, taken) | every[np.arange(taken.sum()) + np.repeat(shift, taken)], np.repeat(weights, taken)


def _once(keys: Keys) -> Keys:
    """Every key once, in rising order: `np.unique` takes ten times as long."""
    keys = np.sort(keys)
    return keys[_firsts(keys)]


def _summed(keys: Keys, weights: NDArray[np.float64]) -> tuple[Keys, NDArray[np.float64]]:
    """Every key once, in rising order, with the sum of its weights."""
    order = np.argsort(keys)
    keys = keys[order]
    firsts = _firsts(keys)
    return keys[firsts], np.add.reduceat(weights[order], firsts) if len(firsts) else weights


def _firsts(keys: Keys) -> NDArray[np.int64]:
    return np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1]))[: len(keys)])


def _by_owner(keys: Keys, sums: NDArray[np.float64], owners: int) -> Iterator[Weights]:
    """Keys and their sums, taken apart by owner."""
    dimensions = keys.astype(np.uint32)
    return (Weights(dimensions[start:end], sums[start:end]) for start, end in _bounds(keys, owners))


def _together(keys: Keys, brought: Sequence[tuple[str, ...]], owners: int) -> Iterator[frozenset[str]]:
    """What the words of each owner bring."""
    numbers = (keys & BELOW).tolist()
    each = ([brought[number] for number in numbers[start:end]] for start, end in _bounds(keys, owners))
    return (frozenset(chain.from_iterable(several)) for several in each)


def _bounds(keys: Keys, owners: int) -> Iterator[tuple[int, int]]:
    """Where the keys of each owner begin and end."""
    return pairwise([0, *np.searchsorted(keys, _above(range(1, owners))).tolist(), len(keys)])
