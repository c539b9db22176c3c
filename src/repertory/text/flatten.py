"""How does structured metadata become text?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def flatten(value: object) -> str:
    """A03: each key, then its scalar, list items or nested values, all the way down, as text."""
    found: list[str] = []
    pending: list[object] = [value]
    while pending:  # a stack, not recursion: metadata may be nested deeper than Python likes
        item = pending.pop()
        if isinstance(item, Mapping):
            for key, inner in reversed(list(item.items())):
                pending += [inner, str(key)]
        elif isinstance(item, Sequence) and not isinstance(item, str | bytes):
            pending += reversed(item)
        elif item is not None and str(item):
            found.append(str(item))
    return " ".join(found)
