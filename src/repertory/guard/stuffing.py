"""Does a text repeat itself to be found?

BM25 stops counting a word after a few times, so repeating buys little; but nobody repeats honestly, and a reader should know.
"""

from __future__ import annotations

from collections import Counter

from repertory.guard.texts import Text
from repertory.model import Finding, Level

LONG = 60  # words; below that, honest texts repeat as well
SHARE = 0.25  # of all words that one may be; "the" has 0.07 of English
ROW = 5  # the same word in a row, or so few different words


def check(text: Text) -> Finding | None:
    """A text that says the same again and again."""
    if len(text.text) < LONG * 4:
        return None
    words = [word for word in text.text.lower().split() if len(word) > 2]
    if len(words) < LONG:
        return None
    word, count = Counter(words).most_common(1)[0]
    if count >= SHARE * len(words) or len(set(words)) < len(words) / ROW / 2:
        return Finding(Level.WARN, "stuffing", text.where, f"{word!r} {count} times in {len(words)} words")
    return None
