"""Which documents match a regular expression?

C01: over raw name, title, description and searchable text, in a stable order, every match scoring 1.0. RE2 takes time linear in the text
for any pattern; its memory and the whole scan are limited besides.
"""

from __future__ import annotations

import time

import re2

from repertory.errors import InvalidPattern
from repertory.model import Filter, Hit
from repertory.model.request import MAX_PATTERN_LENGTH
from repertory.store import Store

SECONDS = 2.0  # for a whole scan
_MEMORY = 8 << 20  # bytes that one pattern may compile to


def scan(store: Store, pattern: str, filter: Filter, depth: int) -> tuple[tuple[Hit, ...], frozenset[int]]:
    """The documents that match, and which of them do so by their name."""
    search = _compile(pattern)
    until = time.monotonic() + SECONDS
    by_name: list[Hit] = []
    by_text: list[Hit] = []
    for position, (number, name, text) in enumerate(store.haystacks(filter)):
        if search(name):
            by_name.append(Hit(number, 1.0))
        elif len(by_text) < depth and search(text):
            by_text.append(Hit(number, 1.0))
        if len(by_name) >= depth:
            break
        if position % 256 == 0 and time.monotonic() > until:
            raise InvalidPattern(f"The pattern took longer than {SECONDS:g} s on this catalog. Narrow it, or search fewer kinds.")
    return tuple((by_name + by_text)[:depth]), frozenset(hit.number for hit in by_name)


def _compile(pattern: str):  # type: ignore[no-untyped-def] # re2 has no types
    if len(pattern) > MAX_PATTERN_LENGTH:
        raise InvalidPattern(f"The pattern has {len(pattern)} characters; at most {MAX_PATTERN_LENGTH} are allowed.")
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    try:
        return re2.compile(pattern, options=options).search
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else error.args[0]
        raise InvalidPattern(f"{pattern!r} is no regular expression: {reason}. (RE2 syntax: no lookaround, no backreferences.)") from None
