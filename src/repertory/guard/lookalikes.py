"""Is a name spelled with letters that only look right?

A Cyrillic "а" in `reаd_file` makes another name that nobody can tell from the first. Words of one script are honest in any script; a word
that mixes Latin letters with their doubles from elsewhere is not.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from repertory.guard.texts import Text
from repertory.model import Finding, Level

# The doubles of Latin letters that are in use (Unicode TS 39, the single letters of Cyrillic, Greek and Armenian).
DOUBLES = str.maketrans(
    dict(
        zip(
            "асеоірхуѕјһԁѵԛԝвкмтнгпАВЕКМНОРСТХУІЅЈԚԜοαινκρτυχγηωΑΒΕΖΗΙΚΜΝΟΡΤΥΧոսցհօ",
            "aceoipxysjhdvqwbkmthrnABEKMHOPCTXYISJQWoaivkptuxynwABEZHIKMNOPTYXnugho",
            strict=True,
        )
    )
)
_DOUBLE = re.compile(f"[{''.join(map(chr, DOUBLES))}]")
_SEPARATORS = re.compile(r"[\W_]+")
_WORD = re.compile(r"[^\W\d_]+")


def check(text: Text) -> Iterator[Finding]:
    """Words that mix scripts to look like others."""
    if text.text.isascii() or _DOUBLE.search(text.text) is None:
        return
    for word in (found.group() for found in _WORD.finditer(text.text)):
        if not word.isascii() and _is_disguised(word):
            level = Level.BLOCK if text.is_name else Level.WARN
            yield Finding(level, "lookalike-letters", text.where, f"{word} ({', '.join(_foreign(word))})")
            return


def _is_disguised(word: str) -> bool:
    plain = word.translate(DOUBLES)
    return plain != word and plain.isascii() and any(letter.isascii() for letter in word)


def _foreign(word: str) -> list[str]:
    return sorted({unicodedata.name(letter, "?").lower() for letter in word if not letter.isascii()})[:3]


def plain(text: str) -> str:
    """The text with words in disguise spelled in Latin."""
    if text.isascii() or _DOUBLE.search(text) is None:
        return text
    return _WORD.sub(lambda found: found.group().translate(DOUBLES) if _is_disguised(found.group()) else found.group(), text)


def skeleton(name: str) -> str:
    """What a name looks like: two that share it cannot be told apart at a glance."""
    shown = name if name.isascii() else unicodedata.normalize("NFKC", name).translate(DOUBLES)
    return _SEPARATORS.sub("", shown.lower())
