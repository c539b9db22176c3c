"""Typing errors, always the same ones."""

from __future__ import annotations

import random
import re
import string

MISSPELT = 5  # letters: from here on every word gets an error
_LETTERS = re.compile(r"[^\W\d_]+")


def misspell(text: str, seed: int = 1) -> str:
    """One letter inserted, left out, replaced or swapped with the next, in every word of five letters or more; any letter may be hit."""
    dice = random.Random(f"{seed} {text}")
    return _LETTERS.sub(lambda word: _edit(word.group(), dice) if len(word.group()) >= MISSPELT else word.group(), text)


def _edit(word: str, dice: random.Random) -> str:
    edited = word
    while edited == word:
        at, letter = dice.randrange(len(word)), dice.choice(string.ascii_lowercase)
        edited = dice.choice(
            (
                word[:at] + letter + word[at:],
                word[:at] + word[at + 1 :],
                word[:at] + letter + word[at + 1 :],
                word[:at] + word[at + 1 : at + 2] + word[at] + word[at + 2 :],
            )
        )
    return edited
