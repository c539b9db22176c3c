"""How does a search go on after its first page?

A cursor says where the page before ended, for one request at one revision. The pages of a request are its own answer first, then what the
largest answer (A08) has besides, so the first page is the same with and without paging. Where the catalog has changed in between, the page
comes from the catalog of now, and a diagnostic says that it may repeat or miss something.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import NamedTuple

from repertory.errors import InvalidRequest
from repertory.model import Diagnostic, SearchRequest, SearchResponse, content_digest
from repertory.model.request import MAX_LIMIT

CHANGED = Diagnostic("revision_changed", "The catalog has changed since the page before: this page may repeat or miss something.")

Search = Callable[[SearchRequest], Awaitable[SearchResponse]]


class Cursor(NamedTuple):
    """Where a page begins."""

    request: str  # its digest
    revision: int
    shown: int  # results on the pages before

    def encode(self) -> str:
        """One word for the wire."""
        return base64.urlsafe_b64encode(json.dumps(self).encode()).decode().rstrip("=")

    @classmethod
    def decode(cls, text: str) -> Cursor:
        """The inverse of `encode`. Raises `InvalidRequest` for anything else."""
        try:
            request, revision, shown = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        except (binascii.Error, ValueError, TypeError):  # UnicodeDecodeError is a ValueError
            request = revision = shown = None
        if not (isinstance(request, str) and type(revision) is int and type(shown) is int and 0 < shown <= MAX_LIMIT):
            raise InvalidRequest("The cursor is none that was given out here. Ask without it.")
        return cls(request, revision, shown)


async def page(request: SearchRequest, cursor: str | None, search: Search) -> tuple[SearchResponse, str | None]:
    """The page of a request at a cursor, and the cursor of the next one where there may be one."""
    key = content_digest(repr(replace(request, kinds=None, tags=frozenset())) + repr((sorted(request.kinds or ()), sorted(request.tags))))
    first = await search(request)
    if cursor is None:
        return first, _next(key, first.revision, len(first.results)) if len(first.results) == request.limit else None
    place = Cursor.decode(cursor)
    if place.request != key:
        raise InvalidRequest("The cursor belongs to another request. Send the same request as for the page before.")
    whole = await search(replace(request, limit=MAX_LIMIT))
    before = {result.entity.id for result in first.results}
    rest = [result for result in whole.results if result.entity.id not in before]
    begin = max(0, place.shown - len(first.results))
    results = tuple(rest[begin : begin + request.limit])
    notes = (CHANGED, *whole.diagnostics) if place.revision != whole.revision else whole.diagnostics
    more = begin + len(results) < len(rest)
    following = _next(key, whole.revision, place.shown + len(results)) if more else None
    return replace(whole, results=results, diagnostics=notes, tools=(), related=(), next_steps=()), following


def _next(request: str, revision: int, shown: int) -> str | None:
    return Cursor(request, revision, shown).encode() if 0 < shown < MAX_LIMIT else None
