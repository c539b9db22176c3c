"""Which tools have proved themselves for such a query (F07)?

A successful call after a search is evidence for that pairing of query and tool. It counts for the same query and for queries that share
most of its terms, less with every day, and never for more than a nudge: it decides between near ties, and brings nothing in that was not
found. All pairings are bounded, so they are held in memory; a search asks no database for them. Calls block.
"""

from __future__ import annotations

import heapq
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping

from repertory.indexes.features import dimension
from repertory.model import Boost
from repertory.search.boost import Boosts
from repertory.store import Pairing, Reference, Store
from repertory.text.tokens import stem

CAP = 1.15  # what usage can make of a score at most: less than a lane of its own, more than noise
HALFWAY = 3.0  # calls, all of them fresh, that reach half of the cap: one call is an accident, ten are a habit
ALIKE = 0.5  # share of all terms that two queries must have in common: one word of three says nothing ("delete file", "read file")
MAX_TERMS = 32  # of a query; longer ones are texts, which nobody asks twice
MOST = 20_000  # pairings: some 10 MB
SPARE = 1_000  # that are let go at once when there are more, the weakest first

DAY = 86_400.0

Terms = frozenset[int]


def terms_of(words: Iterable[str]) -> Terms:
    """What is remembered of a query: dimensions, from which no text can be read."""
    return frozenset(dimension(stem(word)) for word in words)


class Usage:
    """What calls have taught a catalog."""

    def __init__(self, store: Store, half_life: float, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._half_life = half_life * DAY
        self._clock = clock
        self._turn = threading.Lock()
        self._known: dict[tuple[Terms, str], Pairing] = {}
        self._has_read = False  # that happens when it is first needed
        self._by_term: defaultdict[int, set[tuple[Terms, str]]] = defaultdict(set)

    def learn(self, pairs: Iterable[tuple[Terms, str]]) -> None:
        """Tools were called after searches with these terms."""
        with self._turn:
            known, now = self._read(), self._clock()
            changed: dict[tuple[Terms, str], Pairing] = {}
            for terms, entity_id in pairs:
                if not 0 < len(terms) <= MAX_TERMS:
                    continue
                before = known.get((terms, entity_id))
                self._put(Pairing(terms, entity_id, 1.0 + (self._worth(before, now) if before else 0.0), now))
                changed[terms, entity_id] = known[terms, entity_id]
            gone = self._let_go(now)
            self._store.put_pairings([one for one in changed.values() if one not in gone], gone)

    def boosts(self, words: Iterable[str], references: Mapping[int, Reference]) -> Boosts:
        """A factor for every document of a tool that was used after such searches."""
        terms = terms_of(words)
        with self._turn:
            known, now = self._read(), self._clock()
            shared = Counter(key for term in terms for key in self._by_term.get(term, ()))
            evidence: dict[str, float] = defaultdict(float)
            for key, both in shared.items():
                alike = both / (len(terms) + len(key[0]) - both)
                if alike >= ALIKE:
                    evidence[key[1]] += alike * alike * self._worth(known[key], now)
        factors = {entity_id: 1 + (CAP - 1) * worth / (worth + HALFWAY) for entity_id, worth in evidence.items()}
        return {
            number: (Boost("used after such a search", factors[about.entity_id]),)
            for number, about in references.items()
            if about.entity_id in factors
        }

    def _read(self) -> dict[tuple[Terms, str], Pairing]:
        if not self._has_read:
            self._has_read = True
            for pairing in self._store.pairings():
                self._put(pairing)
        return self._known

    def _put(self, pairing: Pairing) -> None:
        key = pairing.terms, pairing.entity_id
        self._known[key] = pairing
        for term in pairing.terms:
            self._by_term[term].add(key)

    def _let_go(self, now: float) -> set[Pairing]:
        """The weakest, where there are too many."""
        known = self._read()
        if len(known) <= MOST:
            return set()
        weakest = heapq.nsmallest(len(known) - MOST + SPARE, known.values(), key=lambda pairing: self._worth(pairing, now))
        for pairing in weakest:
            key = pairing.terms, pairing.entity_id
            del known[key]
            for term in pairing.terms:
                self._by_term[term].discard(key)
                if not self._by_term[term]:
                    del self._by_term[term]
        return set(weakest)

    def _worth(self, pairing: Pairing, now: float) -> float:
        """The calls of a pairing, each half after a half-life."""
        return float(pairing.weight * 0.5 ** (max(0.0, now - pairing.at) / self._half_life))
