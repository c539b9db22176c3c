"""What does the graph find by itself?

E04: match the words of a query with nodes, expand one hop from the entities that lead to them, rank by how rare the nodes are. Nothing is
embedded. A word that no visible entity leads to is taken for a typing error of one that is near in spelling.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence

from rapidfuzz import process
from rapidfuzz.distance import OSA

from repertory.graph.derive import ABOUT, CATEGORY, IN_CATEGORY, MENTIONS, NAME, NAMED, OFFERS, ON_SERVER, TAGGED, WORD
from repertory.model import Edge, Filter
from repertory.store import Store
from repertory.text.tokens import compact, stem

GUESSED = 4  # letters: shorter words are near to everything
LONG = 6  # letters from which on two errors are allowed; in five, two errors leave nothing to recognise
GUESSES = 16  # the nearest spellings that are looked up: some may be of entities that the caller does not see
ERROR = 0.7  # what each error leaves of a match
HOP = 0.5  # what an edge leaves of a match
# How an entity leads to a node says how much it is about it: a server that merely offers a tool is not the tool.
WEIGHTS = {NAMED: 1.0, ABOUT: 1.0, IN_CATEGORY: 0.5, ON_SERVER: 0.25, TAGGED: 0.5, OFFERS: 0.5, MENTIONS: 0.5}


def walk(words: Sequence[str], store: Store, filter: Filter, depth: int) -> list[tuple[str, float]]:
    """At most `depth` entities that the filter admits, each with a score, the best first; equal scores by id."""
    scores: dict[str, float] = defaultdict(float)
    total = store.count_entities(filter)
    for found in _matches(words, store, filter):
        for entity_id, score in _scored(found, total).items():
            scores[entity_id] += score
    matched = _ranked(scores, depth)
    if filter.tags:
        return matched  # an edge may lead to what does not have them
    best = dict(matched)
    for edge in store.neighbours([entity_id for entity_id, _ in matched], filter):
        for near, far in ((edge.origin, edge.target), (edge.target, edge.origin)):
            best[far] = max(best.get(far, 0.0), HOP * scores.get(near, 0.0))
    return _ranked(best, depth)


def _matches(words: Sequence[str], store: Store, filter: Filter) -> Iterator[list[tuple[Edge, int]]]:
    """For each word that says something here: the edges to its nodes, each with the number of errors that were forgiven."""
    exact = {word: _nodes(word) for word in dict.fromkeys(words)}
    owners = _by_node(store.owners_of(list(dict.fromkeys(node for nodes in exact.values() for node in nodes)), filter))
    guesses: dict[str, list[tuple[str, int]]] = {}
    for word, nodes in exact.items():
        found = [(edge, 0) for node in nodes for edge in owners.get(node, ())]
        if found:
            yield found
        elif near := _near(word, store):
            guesses[word] = near
    owners = _by_node(store.owners_of(list(dict.fromkeys(node for near in guesses.values() for node, _ in near)), filter))
    for near in guesses.values():
        seen = [(edge, errors) for node, errors in near for edge in owners.get(node, ())]
        fewest = min((errors for _, errors in seen), default=0)
        yield [(edge, errors) for edge, errors in seen if errors == fewest]


def _nodes(word: str) -> tuple[str, ...]:
    return (WORD + stem(word), CATEGORY + word, NAME + compact(word))


def _by_node(edges: Sequence[Edge]) -> dict[str, list[Edge]]:
    found: dict[str, list[Edge]] = defaultdict(list)
    for edge in edges:
        found[edge.target].append(edge)
    return found


def _near(word: str, store: Store) -> list[tuple[str, int]]:
    """The word nodes that are spelled nearly so, each with its edit distance. What has digits is an identifier: never guessed at."""
    written = stem(word)
    if len(written) < GUESSED or not written.isalpha():
        return []
    errors = 1 if len(written) < LONG else 2
    known = [one for one in store.node_words() if len(one) >= GUESSED and abs(len(one) - len(written)) <= errors]
    near = process.extract(written, known, scorer=OSA.distance, score_cutoff=errors, limit=GUESSES)
    return [(WORD + one, int(distance)) for one, distance, _ in near]


def _scored(found: Sequence[tuple[Edge, int]], total: int) -> dict[str, float]:
    """What one word of the query says of each entity: its best edge, weighed by how few entities share the node."""
    degrees: dict[str, set[str]] = defaultdict(set)
    for edge, _ in found:
        degrees[edge.target].add(edge.origin)
    scores: dict[str, float] = {}
    for edge, errors in found:
        idf = math.log(1 + total / len(degrees[edge.target]))
        score = WEIGHTS.get(edge.relation, 0.0) * idf * ERROR**errors
        scores[edge.origin] = max(score, scores.get(edge.origin, 0.0))
    return scores


def _ranked(scores: dict[str, float], depth: int) -> list[tuple[str, float]]:
    return sorted(((one, score) for one, score in scores.items() if score > 0), key=lambda item: (-item[1], item[0]))[:depth]
