"""Does a text ask for something, or does it speak of it?

Rules are made of classes of words (who is told, what to do, with what, to whom), not of phrases: a rule is a sequence of classes with at
most a few words between them, inside one sentence. A sentence that speaks of an attack (a scanner that detects it, a quotation, a label of
sample data) is a *mention*: it is told, one level lower, because an attacker can write one too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import re2

from repertory.guard.hidden import visible, without_hidden
from repertory.guard.lookalikes import plain
from repertory.guard.texts import Text
from repertory.model import Finding, Level

SHOWN = 160  # characters of an excerpt
MAX_SENTENCE = 1_000  # characters; longer is cut where it is

_SENTENCE = re.compile(r"[.!?;][\"')\]]*\s|\n\s*\n|\n\s*[-*]\s")
_INSPECTS = (
    r"detect\w*|analy[sz]\w*|scan(?:s|ning|ner)?|check(?:s|ing|er)?|flag(?:s|ging)?|prevent\w*|block(?:s|ing)?|filter(?:s|ing)?|"
    r"classif\w*|identif\w*|"
    r"explain\w*|test(?:s|ing)?|defen\w*|protect\w*|monitor\w*|audit\w*|guard\w*|sanitiz\w*|research\w*|find(?:s|ing)?|recogni[sz]\w*|"
    r"warns?|tell(?:s)? whether|"
    r"report(?:s|ing)|look(?:s|ing)? for|search(?:es)? for|evaluat\w*|redact\w*|mask(?:s|ing)?|such as|e\.g\.|attempts? to|tr(?:y|"
    r"ies) to|injection|vulnerabilit\w*|attackers? (?:can|may|could|to)|phishing"
)
_SPEAKS_OF = re2.compile(rf"(?i)\b(?:{_INSPECTS})\b")
_SAMPLE = re2.compile(
    r"(?i)\b(?:sample|expected|mock(?:ed)?|example|training|test|canned|dummy|fake|illustrative|returned|default|fixture)\s+"
    r"(?:output|response|reply|text|string|result|answer|data|content|phrase|input)s?\s*:"
)
_QUOTES = {"'": "'", '"': '"', "`": "`", "“": "”", "‘": "’", "«": "»"}


@dataclass(frozen=True, slots=True)
class Rule:
    """A sequence of classes of words inside one sentence."""

    code: str
    level: Level
    pattern: Any
    mentioned: Level = Level.WARN  # what it is worth in a sentence that only speaks of it


def rule(code: str, level: Level, *classes: str, gap: int = 4, mentioned: Level = Level.WARN) -> Rule:
    """A rule out of classes of words, with at most `gap` words between two of them."""
    between = rf"(?:[^\w.!?]+[\w'’.~/@-]+){{0,{gap}}}?[^\w.!?]+"
    joined = between.join(f"(?:{words})" for words in classes)
    return Rule(code, level, re2.compile(rf"(?i)(?:^|[^\w]){joined}"), mentioned)


def readable(text: Text) -> str:
    """A text as a model understands it, whatever it is written with."""
    return plain(without_hidden(text.text))


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text."""
    start = 0
    for end in _SENTENCE.finditer(text):
        yield from _pieces(text[start : end.end()])
        start = end.end()
    yield from _pieces(text[start:])


def _pieces(sentence: str) -> Iterator[str]:
    for start in range(0, len(sentence), MAX_SENTENCE):
        yield sentence[start : start + MAX_SENTENCE]


def apply(rules: tuple[Rule, ...], sentence: str, where: str) -> Iterator[Finding]:
    """What these rules see in a sentence."""
    for one in rules:
        if found := one.pattern.search(sentence):
            level = one.mentioned if is_mention(sentence, found.start(), found.end()) else one.level
            yield Finding(level, one.code, where, excerpt(sentence))


def is_mention(sentence: str, start: int, end: int) -> bool:
    """Whether what stands between start and end is spoken of, not asked for."""
    before = sentence[:start]
    return _is_quoted(sentence, start, end) or _SPEAKS_OF.search(before) is not None or _SAMPLE.search(before) is not None


def _is_quoted(sentence: str, start: int, end: int) -> bool:
    for opening, closing in _QUOTES.items():
        at = sentence.rfind(opening, 0, start + 1)
        if at < 0 or (at and sentence[at - 1].isalnum()):  # an apostrophe
            continue
        if opening == closing and sentence[:at].count(opening) % 2:
            continue
        if sentence.find(closing, max(end - 1, at + 1)) >= 0 and closing not in sentence[at + 1 : start]:
            return True
    return False


def excerpt(text: str) -> str:
    """The beginning of a text on one line, nothing hidden."""
    flat = " ".join(visible(text).split())
    return flat if len(flat) <= SHOWN else f"{flat[:SHOWN]}…"
