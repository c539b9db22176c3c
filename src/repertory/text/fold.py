"""How do two spellings become one?

Case, accents, width and compatibility forms fold away, so that "Café", "CAFE" and "ｃａｆé" are the same word.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

# A mark that makes another letter, not an accent: in these the bare letter is another word ("й" is not "и", "が" is not "か").
_KEPT_MARKS = frozenset("\u0306\u0308\u3099\u309a")
_KEPT_BASES = ("CYRILLIC", "HIRAGANA", "KATAKANA")


def fold(text: str) -> str:
    """Lower case, without accents and compatibility forms."""
    if text.isascii():
        return text.lower()
    return _fold_unicode(text)


@lru_cache(maxsize=4096)
def _fold_unicode(text: str) -> str:
    folded: list[str] = []
    for character in unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold()):
        if unicodedata.category(character) == "Mn" and not _keeps_mark(folded, character):
            continue
        folded.append(character)
    return unicodedata.normalize("NFC", "".join(folded))


def _keeps_mark(before: list[str], mark: str) -> bool:
    if not before:
        return False
    name = unicodedata.name(before[-1], "")
    if mark in _KEPT_MARKS:
        return name.startswith(_KEPT_BASES)
    return not name.startswith(("LATIN", "GREEK", "CYRILLIC"))  # vowel signs of Indic scripts are letters, not accents


def is_latin(text: str) -> bool:
    """Whether most letters of a text are Latin; a text without letters is."""
    if text.isascii():
        return True
    letters = [character for character in text if character.isalpha()]
    return 2 * sum("LATIN" in unicodedata.name(letter, "") for letter in letters) >= len(letters)
