"""Which words does a text hold?

A01: words are split at everything that is not part of a word; identifiers (camelCase, snake_case, kebab-case, dotted.names) give their
parts and stay findable whole; scripts written without spaces give bigrams. `terms` stems them for BM25; the keyword lane takes them as they
are.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Container, Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

import Stemmer

from repertory.text.fold import fold

# Function words only. A domain word (dashboard, filter, user, page, list, get) is never here: it is what people search for.
STOPWORDS = frozenset(
    """
    a about above after again all also am an and any are as at be because been before being below between both but by can cannot cant
    could did didnt do does doesnt doing done dont down during each else etc few for from further had has have having he her here hers him
    his how i id if im in into is isnt it its itself ive just let like may me might more most must my myself no nor not of off on once only
    or other our ours out over own per please s same shall she should so some such t than that thats the their theirs them then there these
    they this those through to too under until up upon us very via was we were what whats when where which while who whom why will with
    within without wont would you your youre yours yourself
    """.split()
)

LONG = 64  # longer words are rarely seen twice
PLAIN = (4, 32)  # letters: in a shorter word one error leaves too little to tell it by, a longer one is no word
SHORT = 3  # A01: a shorter token counts only where it is a name
GRAM_LENGTH = 4  # characters: a gram of three is in twice as many documents, and ranks no better (docs/decisions/0011-grams.md)

# Vowel signs and points that Python's \w leaves out: accents, Hebrew, Arabic, and the Indic scripts.
_MARKS = r"\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0963\u0966-\u0dff"
# A word is letters, digits and marks, joined inside by _ . - or an apostrophe, with "++" or "#" at its end (C++, C#, Node.js, v1.2.3).
_WORD = re.compile(rf"[^\W_](?:[^\W_]|[{_MARKS}]|[_.\-'’]+(?=[^\W_]))*(?:\+\+|#(?!\w))?")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z0-9])(?=[A-Z][a-z])")
_JOINT = re.compile(r"[_.\-]+")
_SEPARATORS = re.compile(r"(?:[^\w+#]|_)+")
_LETTERS = re.compile(r"[^\W\d_]+")
_POSSESSIVE = re.compile(r"['’]s$", re.IGNORECASE)

# Written without spaces between words: bigrams find what a word list would miss.
_UNSPACED = re.compile(
    r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\U00020000-\U0003134f]+"
)

_STEMMERS = {  # by the first word of a letter's Unicode name
    "LATIN": "english",
    "CYRILLIC": "russian",
    "GREEK": "greek",
    "ARABIC": "arabic",
    "ARMENIAN": "armenian",
    "DEVANAGARI": "hindi",
    "TAMIL": "tamil",
}


class Token(NamedTuple):
    """A word of a text."""

    text: str
    form: str = "word"


WORD = "word"
NAME = "name"  # short, but written like a name: S3, AI, Go, C#
GRAM = "gram"  # two characters of a script without spaces
WHOLE = "whole"  # an identifier kept whole beside its parts


def written(text: str) -> list[str]:
    """The words of a text as they are written there, in order. Each of them, read alone, gives the tokens that it gives in the text."""
    found: list[str] = _WORD.findall(text)
    return found


def tokens(text: str) -> Iterator[Token]:
    """Every token of a text, in order: stopwords too, so that callers decide."""
    for match in _WORD.finditer(text):
        yield from split(match.group())


def _distinct(text: str) -> Iterator[Token]:
    """The tokens of each written word once, in no order: for callers that count none of them."""
    for word in set(_WORD.findall(text)):
        yield from split(word)


def split(word: str) -> tuple[Token, ...]:
    """The tokens of one written word."""
    return _remembered(word) if len(word) < LONG else _split(word)


def _split(word: str) -> tuple[Token, ...]:
    word = _POSSESSIVE.sub("", word).replace("'", "").replace("’", "")
    folded = fold(word)
    if _UNSPACED.search(folded):
        return tuple(_unspaced(folded))
    parts = [part for piece in _JOINT.split(word) for part in _CAMEL.split(piece) if part]
    if len(parts) < 2:
        return (_part(word), *_letters(folded))
    found = tuple(_part(part) for part in parts)
    joined = "".join(token.text for token in found)
    return (*found, *(Token(spelling, WHOLE) for spelling in dict.fromkeys((folded, joined))))  # node.js, nodejs


_remembered = lru_cache(maxsize=65536)(_split)


def _part(written: str) -> Token:
    text = fold(written)
    is_name = len(text) < SHORT and (not text.isalpha() or written != text)
    return Token(text, NAME if is_name else WORD)


def _letters(folded: str) -> tuple[Token, ...]:
    """ "utf8" is also "utf": the letters of a mixed word, where they are long enough to be a word."""
    if folded.isalpha():
        return ()
    return tuple(Token(letters) for letters in _LETTERS.findall(folded) if SHORT <= len(letters) < len(folded))


def _unspaced(folded: str) -> Iterator[Token]:
    at = 0
    for run in _UNSPACED.finditer(folded):
        if at < run.start():
            yield from split(folded[at : run.start()])
        at = run.end()
        characters = run.group()
        yield from (Token(characters[i : i + 2], GRAM) for i in range(max(1, len(characters) - 1)))
        if len(characters) > 2:
            yield Token(characters, WHOLE)
    if at < len(folded):
        yield from split(folded[at:])


def words(text: str, *, naming: bool = False) -> list[str]:
    """What a document is found by: no stopwords, short tokens only where they are names, as all are in a text that is a name itself."""
    return [token.text for token in telling(tokens(text), naming)]


def telling(found: Iterable[Token], naming: bool) -> list[Token]:
    """The tokens that a document is found by."""
    return [token for token in found if _tells(token, naming)]


def _tells(token: Token, naming: bool) -> bool:
    if token.form in (NAME, GRAM):
        return True
    return token.text not in STOPWORDS and (naming or len(token.text) >= SHORT)


def plain_words(text: str) -> set[str]:
    """The words of a text that can be misspelt: letters only, no short names, no bigrams, no identifiers kept whole."""
    return plain(_distinct(text))


def plain(found: Iterable[Token]) -> set[str]:
    """The plain words among tokens."""
    return {word for word, form in found if form == WORD and is_plain(word) and word.isalpha()}


def is_plain(word: str) -> bool:
    """Whether a word can be told by its spelling: not too short, not too long, not a stopword."""
    return PLAIN[0] <= len(word) <= PLAIN[1] and word not in STOPWORDS


def query_words(text: str, names: Container[str] = frozenset()) -> list[str]:
    """A01: what a query asks by, each once. A short token counts where the index knows it as a name."""
    return list(dict.fromkeys(token.text for token in tokens(text) if _asks(token, names)))


def _asks(token: Token, names: Container[str]) -> bool:
    if token.form == GRAM:
        return True
    if token.text in STOPWORDS:
        return token.form == NAME and token.text in names  # "IT" in capitals may be a department; "it" never is
    return len(token.text) >= SHORT or token.text in names


def short_names(text: str, *, naming: bool = False) -> set[str]:
    """The short tokens among the `words` of a text: what `query_words` must know of the index."""
    return short(telling(_distinct(text), naming))


def short(told: Iterable[Token]) -> set[str]:
    """The short ones among tokens that tell."""
    return {token.text for token in told if len(token.text) < SHORT and token.form != GRAM}


_thread = threading.local()


def stem(word: str) -> str:
    """The stem, by the script of the word. Bigrams, numbers and unknown scripts stay as they are."""
    return _stem(word) if len(word) > SHORT and word.isalpha() else word


@lru_cache(maxsize=131072)
def _stem(word: str) -> str:
    language = _STEMMERS.get(unicodedata.name(word[0], "").partition(" ")[0])
    if language is None:
        return word
    stemmers = _thread.__dict__.setdefault("stemmers", {})  # a Stemmer keeps state: one per thread
    if language not in stemmers:
        stemmers[language] = Stemmer.Stemmer(language, 0)
    return str(stemmers[language].stemWord(word))


def terms(text: str, *, naming: bool = False) -> list[str]:
    """`words`, stemmed: what BM25 counts."""
    return [stem(word) for word in words(text, naming=naming)]


def compact(text: str) -> str:
    """A name without case, accents and separators: "GitHub/create-issue" and "github createIssue" are one (C09)."""
    return _SEPARATORS.sub("", fold(text))


def spaced(name: str) -> str:
    """An identifier as words, case kept: "web_search_exa" reads "web search exa"."""
    return " ".join(part for word in name.split() for piece in _JOINT.split(word) for part in _CAMEL.split(piece) if part)


def grams(found: Iterable[str]) -> Iterator[str]:
    """The grams of words: characters in a row, edges marked. A typing error leaves some of them intact."""
    for word in found:
        marked = f" {word} "
        yield from [marked[i : i + GRAM_LENGTH] for i in range(max(1, len(marked) - GRAM_LENGTH + 1))]
