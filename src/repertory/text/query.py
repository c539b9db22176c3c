"""What does a query say?"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from repertory.text.tokens import compact, query_words


@dataclass(frozen=True, slots=True)
class Query:
    """A query, understood."""

    text: str
    words: tuple[str, ...]  # what the lexical lanes look for
    name: str  # compact, to be compared with the names of entries (C09)


def understand(text: str, names: Container[str]) -> Query:
    """Take a query apart. `names` are the short names that the catalog knows (A01)."""
    return Query(text.strip(), tuple(query_words(text, names)), compact(text))
