"""Where does a search look?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from repertory.indexes.base import Index, Scope
from repertory.search.expand import Expansion
from repertory.search.spelling import Spelling
from repertory.store import Store


@dataclass(frozen=True, slots=True)
class Place:
    """What a request may find, and what the catalog knows besides."""

    scope: Scope
    everything: Scope
    vectors: int  # documents that have one
    visible: Scope  # what the caller may see at all, of every kind and tag
    index: Index
    store: Store
    revision: int
    names: frozenset[str]  # the short names that the catalog knows (A01)
    spelling: Callable[[], Spelling]
    expansion: Expansion | None
    bare: bool  # there are documents, but none of them has a vector
