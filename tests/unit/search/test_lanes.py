"""How often is the index asked for one search?"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.catalogs import tool

from repertory.app import Repertory
from repertory.indexes.base import LaneQuery, Scope
from repertory.indexes.edge import EdgeIndex
from repertory.model import Hit, SearchRequest


async def test_a_search_asks_for_the_best_and_then_once_for_what_is_missing(rep: Repertory, monkeypatch: pytest.MonkeyPatch) -> None:
    things = ("lamp", "letter", "parcel", "invoice")
    await rep.put("tools", [tool(f"box/{thing}_{n}", f"Number {n} sends a {thing}") for thing in things for n in range(20)])
    asked: list[list[bool]] = []
    search = EdgeIndex.search

    def watched(index: EdgeIndex, queries: Sequence[LaneQuery], scope: Scope) -> list[tuple[Hit, ...]]:
        asked.append([query.among is not None for query in queries])
        return search(index, queries, scope)

    await rep.search("warm up")  # which also asks how near talk about nothing comes to the catalog
    monkeypatch.setattr(EdgeIndex, "search", watched)
    await rep.search("how are letters sent")
    assert [any(among) for among in asked] == [False, False, True]  # the lanes of words, the vector's, what is missing
    asked.clear()
    await rep.search(SearchRequest("how are letters sent", limit=5))  # another answer, by a vector that is remembered
    assert [any(among) for among in asked] == [False, True]
