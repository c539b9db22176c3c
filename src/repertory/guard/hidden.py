"""What is in a text that nobody sees?

Characters without a shape carry instructions past the person who reads a description to the model that reads its code points. Some of
them have honest work: joiners inside Persian, Indic scripts and emoji, direction marks in right-to-left text, variation selectors after a
symbol. There they are silent; anywhere else they are told.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

import re2

from repertory.guard.texts import Text
from repertory.model import Finding, Level

CARRIES = 6  # characters without a shape that can hold a word; fewer come from copying out of a web page
BLANKS = 40  # line breaks, or four times as many spaces, that push what follows out of sight

_SUSPECT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)
_BLANKS = re2.compile(rf"(?:[ \t\r]*\n){{{BLANKS}}}|[ \t]{{{4 * BLANKS}}}")
_RTL = ("R", "AL")
_UNSPACED = ("THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN", "CJK", "HIRAGANA", "KATAKANA")  # U+200B marks words in these


def is_possible(text: str) -> bool:
    """Whether anything can be hidden in it: nothing in plain ASCII, nearly always."""
    return not text.isascii() or _SUSPECT.search(text) is not None or _BLANKS.search(text) is not None


def check(text: Text) -> Iterator[Finding]:
    """What is hidden in one text."""
    if text.text.isascii() and text.text.isprintable():
        return
    yield from _characters(text)
    if _BLANKS.search(text.text) is not None:
        yield Finding(Level.WARN, "hidden-below-blanks", text.where, "a long run of blanks before more text")


def _characters(text: Text) -> Iterator[Finding]:
    if _SUSPECT.search(text.text) is None:
        return
    directed = any(unicodedata.bidirectional(character) in _RTL for character in text.text)
    seen: dict[str, list[int]] = {}
    for position, character in enumerate(text.text):
        reason = _reason(character)
        if reason and not _has_work(text.text, position, reason, directed=directed):
            seen.setdefault(reason, []).append(position)
    carried = sum(map(len, seen.values())) >= CARRIES or text.is_name
    for reason, positions in seen.items():
        level = Level.BLOCK if reason in _NEVER_HONEST or carried else Level.WARN
        yield Finding(level, f"hidden-{reason}", text.where, _shown(text.text, positions))


_NEVER_HONEST = frozenset({"tags", "override", "escape", "selectors"})


@lru_cache(maxsize=4096)
def _reason(character: str) -> str:
    """Why a character is suspect; empty where it is not."""
    code = ord(character)
    if code in (0x202D, 0x202E):
        return "override"
    if 0x202A <= code <= 0x202C or 0x2066 <= code <= 0x2069 or code in (0x200E, 0x200F, 0x061C):
        return "direction"
    if 0xE0000 <= code <= 0xE007F:
        return "tags"
    if 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF or 0x180B <= code <= 0x180D or code == 0x180F:
        return "selectors"
    if 0xE000 <= code <= 0xF8FF or code >= 0xF0000:
        return "private"
    if code == 0x1B or code == 0x9B:
        return "escape"
    if unicodedata.category(character) == "Cc":
        return "" if character in "\t\n\r" else "control"
    if code in (0x200C, 0x200D):
        return "joiner"
    return "invisible" if _SUSPECT.search(character) else ""


def _has_work(text: str, position: int, reason: str, *, directed: bool) -> bool:
    """Whether a character does here what it is there for."""
    before = text[position - 1] if position else ""
    after = text[position + 1] if position + 1 < len(text) else ""
    if reason == "joiner":
        return (_joins(before) and (_joins(after) or not after.strip())) or (_is_symbol(before) and _is_symbol(after))
    if reason == "direction":
        return directed
    if reason == "selectors":
        return bool(before) and not before.isspace() and _reason(before) != "selectors" and (_is_symbol(before) or not before.isascii())
    if reason == "tags":  # the flags of England, Scotland, Wales
        return text.rfind("\U0001f3f4", max(0, position - 7), position) >= 0
    if reason == "invisible":
        return (ord(text[position]) == 0x200B and _script(before).startswith(_UNSPACED)) or (
            ord(text[position]) == 0xFEFF and position == 0
        )
    return False


def _joins(character: str) -> bool:
    """Whether a character belongs to a script in which joiners are spelling."""
    return (
        bool(character)
        and not character.isascii()
        and unicodedata.category(character)[0] in "LM"
        and not _script(character).startswith("LATIN")
    )


def _is_symbol(character: str) -> bool:
    return bool(character) and (
        (unicodedata.category(character) in ("So", "Sm", "Sk", "Po", "Mn", "Me", "Lm", "Ll") and not character.isascii())
        or character in "#*0123456789"
    )


@lru_cache(maxsize=4096)
def _script(character: str) -> str:
    return unicodedata.name(character, "") if character else ""


def _shown(text: str, positions: list[int]) -> str:
    """The place of the first, and what the tag block or the rest spells."""
    spelled = "".join(chr(ord(text[at]) - 0xE0000) for at in positions if 0xE0020 <= ord(text[at]) <= 0xE007E)
    around = visible(text[max(0, positions[0] - 30) : positions[0] + 30])
    return f"{around} (spells {spelled[:80]!r})" if spelled else f"{around} ({len(positions)} in all)"


def visible(text: str) -> str:
    """The text with every suspect character written as its code point."""
    return "".join(f"<U+{ord(character):04X}>" if _reason(character) else character for character in text)


def without_hidden(text: str) -> str:
    """What a model may read out of it: hidden characters gone, the tag block spelled out, look-alike forms plain."""
    if text.isascii():
        return text
    if _SUSPECT.search(text) is None:
        return unicodedata.normalize("NFKC", text)
    spelled = (chr(ord(one) - 0xE0000) if 0xE0020 <= ord(one) <= 0xE007E else "" if _reason(one) else one for one in text)
    return unicodedata.normalize("NFKC", "".join(spelled))
