"""D. Query-adaptive scoring."""

from __future__ import annotations

import pytest
from tests.catalogs import ask, tool

from repertory.app import Repertory
from repertory.indexes.base import BM25, VECTOR
from repertory.model import Filter, Fusion, Hit, Ranking, SearchRequest, Strategy
from repertory.search.fuse import fuse
from repertory.search.lanes import Found
from repertory.search.plan import plan


def test_D01_linear_fusion() -> None:
    planned = plan(SearchRequest("x", fusion=Fusion.LINEAR), Filter(), strategy=Strategy.HYBRID, fusion=Fusion.RRF)
    semantic = {1: 0.7, 2: 0.85, 3: 0.6, 8: 1.0, 9: 0.0}  # 8 and 9 stretch both lanes over [0, 1]
    keyword = {1: 1.0, 2: 0.0, 3: 0.5, 8: 0.0, 9: 0.0}
    rankings = tuple(Ranking(lane, tuple(Hit(*hit) for hit in scores.items())) for lane, scores in ((BM25, keyword), (VECTOR, semantic)))
    fused = fuse(Found(planned, rankings, {BM25: keyword, VECTOR: semantic}, frozenset()))
    totals = {number: sum(evidence.contribution for evidence in fused[number]) for number in (1, 2, 3)}
    assert totals == {1: pytest.approx(0.79), 2: pytest.approx(0.595), 3: pytest.approx(0.57)}


async def test_D01_every_candidate_is_scored_in_both_lanes(rep: Repertory) -> None:
    await rep.put("tools", [tool(f"t/x{n}", f"Books flight number {n}" if n % 2 else f"Reserves a seat on plane {n}") for n in range(120)])
    response = await ask(rep, "book a flight", fusion=Fusion.LINEAR, limit=30)
    words_match = [result for result in response.results if "flight" in result.entity.description]
    assert words_match
    assert all({evidence.lane for evidence in result.evidence} == {BM25, VECTOR} for result in words_match)
