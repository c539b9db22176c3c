"""Which concepts of the catalog are near to what a query says?

B06: the nearest words of the concept vocabulary go with the query into the vector lane, and into no other. The vocabulary is the store's,
its vectors are kept by `ingest/embed`; here they are compared, and added to the query's. Off by default: it was not seen to help
(docs/relevance.md). Embedding the query and its terms again, as one text, costs a second run of the model and did worse.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from repertory.embedders.base import Vector
from repertory.search.spelling import Known
from repertory.store import Store
from repertory.text.tokens import stem

COUNT = 3  # B06
FLOOR = 0.5  # B06, cosine
WEIGHT = 0.3  # of the mean of the terms' vectors beside the query's: more leads away from the query
SPARE = 4  # times COUNT: whoever sees less than the whole catalog may not know the nearest


def nearest(
    vector: Vector, words: Sequence[str], matrix: Vector, exclude: Iterable[str], count: int = COUNT, floor: float = FLOOR
) -> list[str]:
    """The words whose vectors (the rows of `matrix`) are nearest to a query's, the best first. A word that the query has, in whatever form,
    adds nothing, and neither does a second form of a word that is already added."""
    if not words:
        return []
    cosines = matrix @ vector
    taken = {stem(word) for word in exclude}
    found: list[str] = []
    for position in np.argsort(-cosines, kind="stable"):
        if len(found) == count or cosines[position] < floor:
            break
        word = words[position]
        if stem(word) not in taken:
            taken.add(stem(word))
            found.append(word)
    return found


class Concepts(NamedTuple):
    """The concept vocabulary at one revision: words, and their vectors as rows."""

    revision: int
    words: tuple[str, ...]
    matrix: Vector


class Expansion:
    """The concepts of one catalog under one model, read when they are first asked for, and again when the catalog has changed."""

    def __init__(self, store: Store, model: str) -> None:
        self._store = store
        self._model = model
        self._loaded: Concepts | None = None

    def expand(self, vector: Vector, query_words: Iterable[str], revision: int, known: Known = set) -> tuple[Vector, list[str]]:
        """The vector that the vector lane should look for, and the terms that were added to the query for it."""
        concepts = self._at(revision)
        near = nearest(vector, concepts.words, concepts.matrix, query_words, COUNT * SPARE)
        seen = known(near) if near else ()
        terms = [word for word in near if word in seen][:COUNT]
        if not terms:
            return vector, []
        added = concepts.matrix[[concepts.words.index(term) for term in terms]].mean(axis=0)
        moved = vector + WEIGHT * added
        return (moved / np.linalg.norm(moved)).astype(np.float32), terms

    def _at(self, revision: int) -> Concepts:
        loaded = self._loaded
        if loaded is None or loaded.revision != revision:
            vectors = {word: vector for word, vector in self._store.concepts(self._model).items() if vector is not None}
            loaded = self._loaded = Concepts(revision, tuple(vectors), np.array(list(vectors.values()), np.float32))
        return loaded
