"""What does the conversation around a query say?

E07: a summary and a flat or nested context become one bounded text. What cannot be written as JSON is left out, never an error.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from repertory.text.flatten import flatten

LONGEST = 2_000  # characters: about the 512 tokens that an embedding model reads
DEEPEST = 32  # levels: deeper is a data structure, not a context
_WIDEST_INT = 1024  # bits: a longer number is data, and Python refuses to print a very long one

Context = Mapping[str, object] | Sequence[object] | str | None


def context_text(summary: str | None, context: Context) -> str:
    """The summary, then the context, cut between words where it is too long."""
    told = f"{summary or ''} {flatten(_serialisable(context, {}, DEEPEST))}"
    text = " ".join(told.encode("utf-8", "replace").decode().split())
    return text if len(text) <= LONGEST else text[: LONGEST + 1].rsplit(" ", 1)[0][:LONGEST]


def _serialisable(value: object, seen: dict[int, object], depth: int) -> object:
    """What JSON could hold of a value; None where that is nothing. A container counts once, which ends cycles."""
    if isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return value if value.bit_length() <= _WIDEST_INT else None
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if depth == 0 or id(value) in seen:
        return None
    if isinstance(value, Mapping):
        seen[id(value)] = value
        cleaned = ((key, _serialisable(inner, seen, depth - 1)) for key, inner in value.items() if isinstance(key, str))
        return {key: inner for key, inner in cleaned if inner is not None} or None
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        seen[id(value)] = value
        return [inner for item in value if (inner := _serialisable(item, seen, depth - 1)) is not None] or None
    return None
