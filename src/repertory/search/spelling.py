"""Which word did a typing error mean?

A query word that the catalog does not know, and that is no common English word either, is compared with the words that the catalog has; the
nearest takes its place, for the lexical lanes and for the embedder alike. What is written like a name or an identifier, and what is quoted,
is left as it is. Whoever asks is never led to a word of entries that they may not see: `Known` decides that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from repertory.embedders.dictionary import common_words
from repertory.indexes.base import BM25, Index, LaneQuery, Scope
from repertory.indexes.encode import bm25_probe
from repertory.indexes.features import dimension
from repertory.store import Store
from repertory.text.fold import fold
from repertory.text.tokens import PLAIN, STOPWORDS, is_plain, stem

LEAST = 5  # letters: shorter unknown words are abbreviations (gpus, expr, bool) as often as errors, and near to everything
SURE = 6  # letters: from here on a word has fewer neighbours by chance
LONG = 8  # letters: from here on a word bears two errors
ERRORS = 32  # corrected in one query: a page of noise must not take seconds
REMEMBERED = 2048  # words and their candidates: less than 2 MB
MOST = 5  # candidates: whoever sees less than the whole catalog may miss the first ones

Known = Callable[[Sequence[str]], Collection[str]]  # which of these words occur in what the caller may see

_QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^”]*”|«[^»]*»|(?<!\w)'[^']*'(?!\w)|(?<!\w)‘[^’]*’(?!\w)")
_RUN = re.compile(r"\S+")
_WORD = re.compile(r"^\W*([^\W\d_]+)(?:['’]s)?\W*$")  # a word and the punctuation around it; anything else is an identifier or a number
_END = re.compile(r"[.!?:]\W*$")  # of a sentence


class Spelling:
    """What a word may have meant, by the words of a catalog (how many documents have each) and a dictionary (the commonest first).

    The dictionary also offers its words where the catalog has none: the embedder understands more words than the catalog uses.
    """

    def __init__(self, words: Mapping[str, int], dictionary: Collection[str] = ()) -> None:
        small = (word for word in sorted(STOPWORDS) if len(word) >= PLAIN[0])  # first: nobody who writes "thier" asks for a tier
        frequent = sorted(words, key=lambda word: (-words[word], word))
        own = dict.fromkeys((*small, *frequent))
        self._own = len(own)
        self._choices = list(own | dict.fromkeys(filter(is_plain, dictionary)))
        self._common = STOPWORDS.union(dictionary)
        self._found: dict[str, list[str]] = {}

    def is_common(self, word: str) -> bool:
        """Whether everybody knows a word: then it is no typing error, and no secret either."""
        return word in self._common

    def candidates(self, word: str) -> list[str]:
        """The nearest words, the best first: by distance, then the catalog's before the dictionary's, then the more frequent.

        Two errors, or a word that only the dictionary has, are believed of a longer word behind the right first letter only: "untracked" is
        not "tracked", and "kilos" are not "kills". To look at every word takes longer than the rest of a search: they are remembered.
        """
        if word not in self._found:
            if len(self._found) >= REMEMBERED:
                self._found = {}
            self._found[word] = self._nearest(word)
        return self._found[word]

    def _nearest(self, word: str) -> list[str]:
        from rapidfuzz import process  # here, because a process that meets no unknown word should not wait for it
        from rapidfuzz.distance import OSA  # a swap of neighbours is one error

        most = 2 if len(word) >= LONG else 1
        found = process.extract(word, self._choices, scorer=OSA.distance, score_cutoff=most, limit=None)
        sure = len(word) >= SURE
        ordered = sorted(
            (int(distance), position)
            for choice, distance, position in found
            if (distance < 2 and position < self._own) or (sure and choice[0] == word[0])
        )
        return [self._choices[position] for _, position in ordered[:MOST]]

    def correct(self, word: str) -> str | None:
        """What a word that nobody knows most likely meant."""
        return next(iter(self.candidates(word)), None)


class Vocabulary:
    """The spelling of one catalog: read when a query first needs it, and again when the catalog has changed."""

    def __init__(self, store: Store, dictionary: Callable[[], Collection[str]] = common_words) -> None:
        self._store = store
        self._dictionary = dictionary
        self._loaded: tuple[int, Spelling] | None = None

    def at(self, revision: int) -> Spelling:
        """The spelling as of a revision."""
        loaded = self._loaded
        if loaded is None or loaded[0] != revision:
            loaded = self._loaded = revision, Spelling(self._store.words(), self._dictionary())
        return loaded[1]


def known_in(index: Index, scope: Scope, store: Store) -> Known:
    """What is known to whoever sees this scope. It should be all that they may see, of every kind: what a tool says is no typing error in a
    search for skills. The store counts the words of the whole catalog: one that more documents have than are hidden is in sight."""
    hidden = scope.documents - (0 if scope.tags else sum(scope.buckets.values()))

    def known(words: Sequence[str]) -> Collection[str]:
        dimensions = {word: dimension(stem(word)) for word in words}
        counts = store.frequencies(list(dimensions.values()))
        doubtful = [word for word in words if 0 < counts.get(dimensions[word], 0) <= hidden]
        found = index.search([LaneQuery(BM25, bm25_probe([word]), 1) for word in doubtful], scope) if doubtful else []
        seen = {word for word, hits in zip(doubtful, found, strict=True) if hits}
        return seen | {word for word in words if counts.get(dimensions[word], 0) > hidden}

    return known


def correct_query(text: str, known: Known, spelling: Callable[[], Spelling]) -> tuple[str, dict[str, str]]:
    """The query as it was meant, and which words were taken for which. The spelling is asked for only when a word is unknown.

    The corrected text is for every lane. Embedding the original beside it, the better cosine counting, was measured and is worse.
    """
    suspects = list(_suspects(text))
    asked = list(dict.fromkeys(word for _, _, word in suspects))
    seen = frozenset(known(asked)) if asked else frozenset()
    if all(word in seen for word in asked):
        return text, {}
    meant = _meant([word for word in asked if word not in seen], known, spelling())
    corrected = text
    for start, end, word in reversed(suspects):
        if word in meant:
            corrected = corrected[:start] + _like(text[start:end], meant[word]) + corrected[end:]
    return corrected, meant


def _meant(unknown: Sequence[str], known: Known, spelling: Spelling) -> dict[str, str]:
    # "backups" is as good a word as "backup", though the dictionary need not have both.
    wrong = [word for word in unknown if not spelling.is_common(word) and not spelling.is_common(stem(word))]
    candidates = {word: spelling.candidates(word) for word in wrong[:ERRORS]}
    asked = list(dict.fromkeys(choice for choices in candidates.values() for choice in choices if not spelling.is_common(choice)))
    seen = frozenset(known(asked)) if asked else frozenset()
    best = ((word, next((c for c in choices if c in seen or spelling.is_common(c)), None)) for word, choices in candidates.items())
    return {word: choice for word, choice in best if choice is not None}


def _suspects(text: str) -> Iterator[tuple[int, int, str]]:
    """The words that may hold a typing error, by the way they are written: where they are, and folded."""
    bare = _QUOTED.sub(lambda quoted: " " * len(quoted.group()), text)
    opens = True  # a capital says nothing at the beginning of a sentence
    for run in _RUN.finditer(bare):
        match = _WORD.match(run.group())
        if match and match[1][1:].islower() and (opens or match[1][0].islower()) and len(match[1]) >= LEAST and is_plain(fold(match[1])):
            yield run.start() + match.start(1), run.start() + match.end(1), fold(match[1])
        opens = bool(_END.search(run.group()))


def _like(written: str, word: str) -> str:
    return word.capitalize() if written[0].isupper() else word
