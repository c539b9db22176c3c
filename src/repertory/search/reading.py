"""What does the catalog make of the words of a query?

Which of them are typing errors, how much of the rest it knows, and which are anchors because they are rare.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from repertory.indexes.features import dimension
from repertory.search.adapt import inverse_frequency, known_share
from repertory.search.place import Place
from repertory.search.spelling import correct_query, known_in
from repertory.text.anchors import is_rare
from repertory.text.query import Query, understand
from repertory.text.tokens import stem


@dataclass(frozen=True, slots=True)
class Reading:
    """A query as this catalog reads it."""

    query: Query
    known: float = 0.0  # how far the catalog knows it, 0 to 1 (F02)
    idf: float = 0.0  # of all its terms together
    terms: int = 0  # how many they are
    anchors: tuple[str, ...] = ()  # D03, rare nouns included
    corrected: Mapping[str, str] = field(default_factory=dict)  # typing errors, and what was meant


def read(query: Query, place: Place, *, correct: bool) -> Reading:
    """Look the query's words up."""
    frequency = _frequencies(query, place)
    corrected: Mapping[str, str] = {}
    if correct and not all(frequency.values()):
        text, corrected = correct_query(query.text, known_in(place.index, place.visible, place.store), place.spelling)
        if corrected:
            meant = understand(text, place.names, query.context, query.original)
            query = replace(meant, nouns=query.nouns, hypothesis=query.hypothesis)
            frequency = _frequencies(query, place)
    documents = place.scope.documents
    return Reading(
        query=query,
        known=known_share(frequency.values(), documents),
        idf=sum(inverse_frequency(count, documents) for count in frequency.values()),
        terms=len(frequency),
        anchors=tuple(dict.fromkeys((*query.anchors, *(n for n in query.nouns if is_rare(frequency.get(stem(n), 0), documents))))),
        corrected=corrected,
    )


def _frequencies(query: Query, place: Place) -> dict[str, int]:
    """How many documents have each term of the query."""
    dimensions = {term: dimension(term) for term in map(stem, query.words)}
    counts = place.store.frequencies(list(dimensions.values()))
    return {term: counts.get(number, 0) for term, number in dimensions.items()}
