"""F. What none of the others has."""

from __future__ import annotations

from pathlib import Path

from tests.catalogs import ask, ids

from repertory.app import Repertory
from repertory.evaluate import measure
from repertory.evaluate.compare import mark
from repertory.evaluate.sets import load
from repertory.model import Kind, Strategy
from repertory.settings import load as load_settings


async def test_F02_adaptive_fusion_keeps_up_with_its_best_lane(tmp_path: Path) -> None:
    labelled = load(Path(__file__).parents[2] / "examples" / "labelled" / "harbor")
    rows = await measure.measure(labelled, ["bm25", "embedding", "rrf", "adaptive"], tmp_path, load_settings({}, {})[0], lambda *_: None)
    *others, adaptive = rows
    assert all(mark(adaptive, other) != "▼" for other in others)  # not significantly worse than anything
    assert adaptive.metrics["ndcg@10"] > others[0].metrics["ndcg@10"]


async def test_F02_trigrams_find_what_is_misspelt(examples: Repertory) -> None:
    response = await ask(examples, "cancl shipmnt", kinds=frozenset({Kind.TOOL}))
    assert response.known == 0.0  # no document has these words
    found = next(result for result in response.results if result.entity.name == "cancelShipment")
    assert {evidence.lane: evidence.rank for evidence in found.evidence}["grams"] == 1
    assert found.entity.id in ids(response)[:3]
    by_words = await ask(examples, "cancl shipmnt", kinds=frozenset({Kind.TOOL}), strategy=Strategy.BM25)
    assert by_words.results == ()


async def test_F03_every_result_explains_itself(examples: Repertory) -> None:
    for result in (await ask(examples, "track a parcel")).as_json(explain=True)["results"]:
        assert result["evidence"]
        assert {"lane", "rank", "score", "contribution"} == set(result["evidence"][0])


async def test_F04_one_ranked_list_over_every_kind(examples: Repertory) -> None:
    response = await ask(examples, "incident on call", limit=20)
    scores = [result.score for result in response.results]
    assert scores == sorted(scores, reverse=True)
    assert {result.entity.kind for result in response.results} >= {Kind.TOOL, Kind.MCP_SERVER, Kind.DOCUMENT}
    assert sum(len(group) for group in response.groups.values()) == len(response.results)
