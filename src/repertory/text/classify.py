"""What kind of query is this, and how would one search for it?

D09. A few rules, first match wins, each with the sentence that is shown as its reason. A suggestion: nothing is searched here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import re2

from repertory.model import Strategy
from repertory.model.request import MAX_PATTERN_LENGTH
from repertory.text.fold import fold
from repertory.text.tokens import GRAM, STOPWORDS, WHOLE, tokens


class Type(StrEnum):
    """What a query is."""

    CHAT = "chat"
    PATTERN = "pattern"
    IDENTIFIER = "identifier"
    COMPARISON = "comparison"
    QUESTION = "question"
    TASK = "task"
    KEYWORDS = "keywords"


class Complexity(StrEnum):
    """How much a query asks for."""

    SIMPLE = "simple"
    MODERATE = "moderate"
    COMPLEX = "complex"


@dataclass(frozen=True, slots=True)
class Classification:
    """What a query is, how it would best be searched for, and why."""

    needs_retrieval: bool
    type: Type
    complexity: Complexity
    strategy: Strategy
    limit: int
    reasons: tuple[str, ...]  # plain sentences


@dataclass(frozen=True, slots=True)
class _Reading:
    text: str
    folded: str  # see `_plain`
    meaningful: int  # words that are not stopwords
    clauses: int
    anchors: tuple[str, ...]  # folded


_WORD = re.compile(r"\w+")


def _plain(text: str) -> str:
    """The words of a text alone, folded, one space between them."""
    return " ".join(_WORD.findall(fold(text)))


_PHRASES = """
    hi hello hey hi_there hello_there hey_there howdy greetings good_morning good_afternoon good_evening good_night bye goodbye
    see_you welcome how_are_you whats_up what_s_up nice_to_meet_you thanks thank_you thanks_a_lot many_thanks thank_you_very_much
    thank_you_so_much thx cheers ok okay yes no sure great cool nice perfect sorry please lol hallo guten_morgen guten_tag guten_abend
    danke vielen_dank tschüss bonjour bonsoir salut merci merci_beaucoup au_revoir hola buenos_dias buenas_tardes gracias
    muchas_gracias adios ola obrigado obrigada ciao buongiorno grazie привет здравствуйте спасибо пока 你好 您好 谢谢 再见
    こんにちは ありがとう ありがとうございます 안녕 안녕하세요 감사합니다 مرحبا شكرا नमस्ते धन्यवाद
"""
_CHAT = re.compile(rf"(?:(?:{'|'.join(_plain(phrase.replace('_', ' ')) for phrase in _PHRASES.split())})(?: |$))+")
_REGEX = re.compile(r"^\^|[a-z_)\]*+]\$$|\.[*+]|\\[bdsw.]|\[[^\]]*\w-\w[^\]]*\]|\[\^|\(\?|\w\|\w")
_PATTERN_WORDS = 3  # more words than this are a sentence that mentions a pattern
_SHAPE = re.compile(r"(?=\S*(?:[\d_]|[^\W\d_]\.[^\W\d_]|[a-z][A-Z]|\w[/:]{1,2}\w))\w[\w.\-/:]*\w")
_COMPARING = re.compile(
    r"\b(?:compar(?:e|es|ed|ing|ison)|versus|vs|differences?|differs?|better than|pros and cons|trade ?offs?|which \w+ (?:better|best))\b"
)
_ASKING = re.compile(
    r"(?:what|whats|how|why|when|where|which|who|whose|can|could|does|do|did|is|are|was|should|would|will"
    r"|wie|was|wo|warum|wann|welche\w*|comment|pourquoi|quels?|quelles?|ou|como|que|cual|donde|cuando|как|что|где|почему|какой)\b"
)
_JOINT = re.compile(r"[;\n]|[.!?]\s|\b(?:and|then|after|before|und|dann|et|puis|y|luego|и|затем)\b|然后|并且", re.IGNORECASE)
_LONG = 6  # words: nobody strings so many keywords together
_FEW, _MANY = 4, 12  # meaningful words of a simple, and of a complex query
_CLAUSES = 3  # so many things are asked for in a complex query


def _is_chat(query: _Reading) -> bool:
    return not query.anchors and (not query.folded or _CHAT.fullmatch(query.folded) is not None)


def _is_pattern(query: _Reading) -> bool:
    if not _REGEX.search(query.text) or len(query.text) > MAX_PATTERN_LENGTH or len(query.text.split()) > _PATTERN_WORDS:
        return False
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(query.text, options=options)  # as the regex strategy will
    except (re2.error, UnicodeError):
        return False
    return True


def _is_identifier(query: _Reading) -> bool:
    bare = query.text.strip(" \t\n.,;:!?()[]{}<>'\"`")
    return _SHAPE.fullmatch(bare) is not None or fold(bare) in query.anchors


# The order matters: the first that holds.
RULES: tuple[tuple[Type, Callable[[_Reading], bool], str], ...] = (
    (Type.PATTERN, _is_pattern, "It is written like a regular expression."),
    (Type.CHAT, _is_chat, "It says nothing that could be looked for: a greeting, thanks, small talk, or no words at all."),
    (Type.IDENTIFIER, _is_identifier, "It is a single identifier."),
    (Type.COMPARISON, lambda query: _COMPARING.search(query.folded) is not None, "It compares things, so it needs all of them."),
    (Type.QUESTION, lambda query: fold(query.text)[-1:] == "?" or _ASKING.match(query.folded) is not None, "It is a question."),
    (
        Type.TASK,
        lambda query: len(query.folded.split()) >= _LONG or any(word in STOPWORDS for word in query.folded.split()),
        "It describes something to be done, in a sentence.",
    ),
    (Type.KEYWORDS, lambda query: True, "It is a few keywords."),
)

SUGGESTIONS: Mapping[Type, tuple[Strategy, int, str]] = {
    Type.CHAT: (Strategy.BM25, 3, "Searched all the same, words are the cheapest way."),
    Type.PATTERN: (Strategy.REGEX, 10, "A pattern is matched, not ranked."),
    Type.IDENTIFIER: (Strategy.BM25, 3, "An identifier is found by its letters, and few entries have it."),
    Type.COMPARISON: (Strategy.HYBRID, 15, "Every side of a comparison needs room."),
    Type.QUESTION: (Strategy.HYBRID, 5, "A question has few good answers, which may use other words."),
    Type.TASK: (Strategy.HYBRID, 10, "A task may be described in other words than what solves it."),
    Type.KEYWORDS: (Strategy.HYBRID, 10, "Keywords may be the catalog's own or not."),
}
COMPLEX_LIMIT = 15  # several things asked for at once want several answers


def classify(text: str, anchors: Sequence[str] = ()) -> Classification:
    """What a query is. `anchors` are the parts of it that name one thing exactly (D03)."""
    query = _read(text, anchors)
    what, because = next((what, because) for what, holds, because in RULES if holds(query))
    complexity, counted = _complexity(query, what)
    strategy, limit, advice = SUGGESTIONS[what]
    if complexity is Complexity.COMPLEX and limit < COMPLEX_LIMIT:
        limit, advice = COMPLEX_LIMIT, f"{advice} It asks for several things, so more results are worth their room."
    return Classification(what is not Type.CHAT, what, complexity, strategy, limit, (because, counted, advice))


def _read(text: str, anchors: Sequence[str]) -> _Reading:
    grams = [token.form == GRAM for token in tokens(text) if token.form != WHOLE and token.text not in STOPWORDS]
    meaningful = grams.count(False) + (grams.count(True) + 1) // 2  # two characters of an unspaced script are about a word
    clauses = sum(1 for clause in _JOINT.split(text) if _WORD.search(clause))
    return _Reading(text.strip(), _plain(text), meaningful, clauses, tuple(fold(anchor) for anchor in anchors))


def _complexity(query: _Reading, what: Type) -> tuple[Complexity, str]:
    if what in (Type.CHAT, Type.PATTERN, Type.IDENTIFIER):
        return Complexity.SIMPLE, "It asks for one thing."
    counted = f"It has {_count(query.meaningful, 'meaningful word')} in {_count(query.clauses, 'clause')}."
    if query.meaningful >= _MANY or query.clauses >= _CLAUSES:
        return Complexity.COMPLEX, counted
    simple = query.meaningful <= _FEW and query.clauses < 2 and what is not Type.COMPARISON
    return Complexity.SIMPLE if simple else Complexity.MODERATE, counted


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
