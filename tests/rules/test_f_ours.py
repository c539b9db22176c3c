"""F. What none of the others has."""

from __future__ import annotations

from pathlib import Path

from tests.catalogs import ask, ids, note, server, tool

from repertory.app import Repertory
from repertory.evaluate import calibrate, measure
from repertory.evaluate.compare import mark
from repertory.evaluate.sets import load
from repertory.model import Kind, Preset, Principal, SearchRequest, Status
from repertory.search.confidence import learned, probes
from repertory.settings import load as load_settings


async def test_F01_nothing_is_answered_by_nothing(tmp_path: Path) -> None:
    root, settings = Path(__file__).parents[2], load_settings({}, {})[0]
    off = calibrate.off_topic(root / "benchmarks" / "offtopic.jsonl")
    assert len(off.check) == 50  # nothing was learned from these, nor from this catalog
    labelled = load(root / "examples" / "labelled" / "harbor")
    sampled = await calibrate.sample(labelled, off.check, probes(), calibrate.EVERY, tmp_path, settings, lambda *_: None)
    assert sampled.model == learned().model  # the calibration holds for the model that is bundled
    rate = calibrate.abstention(sampled, learned())
    assert rate.refused >= 0.9
    assert rate.lost <= 0.03


async def test_F01_an_answer_abstains_and_says_why(examples: Repertory) -> None:
    for nonsense in ("asdf qwer zxcv", "how do you peel a mango without making a mess", "what does Wednesday taste like"):
        response = await ask(examples, nonsense)
        assert response.results == ()
        assert response.abstained
        (diagnostic,) = response.diagnostics
        assert diagnostic.code == "abstained"
        assert f"{response.confidence:.2f}, below {learned().threshold:.2f}" in diagnostic.message
        assert (await ask(examples, nonsense, min_confidence=0.0)).results  # who wants them anyway
    response = await ask(examples, "schedule a meeting")
    confidences = [result.confidence or 0.0 for result in response.results]
    assert confidences == sorted(confidences, reverse=True)
    assert 0.0 < confidences[-1] < 0.2 < confidences[0] < 1.0
    assert (response.confidence or 0.0) > 0.9
    assert (await ask(examples, "schedule a meeting", min_confidence=1.0)).abstained


async def test_F01_an_exact_name_never_abstains(rep: Repertory) -> None:
    await rep.put("tools", [tool("box/zzyzx", "Does a thing")])
    assert ids(await ask(rep, "zzyzx")) == ["tool:box/zzyzx"]


async def test_F01_what_the_model_cannot_read_is_not_judged(rep: Repertory) -> None:
    await rep.put("tools", [tool("box/calendar", "Календарь отпусков"), tool("box/lamp", "Lights a room")])
    response = await ask(rep, "когда у нас отпуска в этом году")
    assert (response.confidence, response.abstained) == (None, False)
    assert ids(response)[0] == "tool:box/calendar"


async def test_F02_adaptive_fusion_keeps_up_with_its_best_lane(tmp_path: Path) -> None:
    labelled = load(Path(__file__).parents[2] / "examples" / "labelled" / "harbor")
    rows = await measure.measure(labelled, ["bm25", "embedding", "rrf", "adaptive"], tmp_path, load_settings({}, {})[0], lambda *_: None)
    *others, adaptive = rows
    assert all(mark(adaptive, other) != "▼" for other in others)  # not significantly worse than anything
    assert adaptive.metrics["ndcg@10"] > others[0].metrics["ndcg@10"]


async def test_F02_what_is_misspelt_is_found(examples: Repertory) -> None:
    response = await ask(examples, "cancl shipmnt", kinds=frozenset({Kind.TOOL}))
    assert response.corrected == {"cancl": "cancel", "shipmnt": "shipment"}
    assert response.results[0].entity.name == "cancelShipment"
    uncorrected = await ask(examples, "shipmt cancl", kinds=frozenset({Kind.TOOL}), preset=Preset.TOOLS)
    assert uncorrected.lanes == {"bm25": 0, "vector": 30}  # no document has these words


async def test_F03_every_result_explains_itself(rep: Repertory) -> None:
    tools = [
        tool("post/track_parcel", "Says where a parcel is. See form D40."),
        tool("post/old_track", "Tracked parcels", status=Status.DEPRECATED),
        tool("post/off", "Tracks nothing", enabled=False),
        tool("crew/secret_track", "Tracks parcels in secret", audience=frozenset({"crew"})),
    ]
    await rep.put("entries", [*tools, note("parcels.md", "Parcels are tracked."), server("post", "Parcels")])
    request = SearchRequest("track parcels by D40", preset=Preset.ANCHORED, kinds=frozenset({Kind.TOOL}), explain=True)
    answer = (await rep.search(request, Principal.anyone())).as_json(explain=True)
    (result,) = answer["results"]
    assert {one["lane"] for one in result["evidence"]} == {"bm25", "vector"}
    assert {"lane", "rank", "score", "contribution"} == set(result["evidence"][0])
    assert result["matched"] == {
        "path": ["track", "parcels"],
        "name": ["track", "parcels"],
        "description": ["parcels", "d40"],
    }
    assert result["boosts"] == [{"reason": "contains d40", "factor": 1.5}]
    assert answer["anchors"] == ["d40"]
    assert answer["withheld"] == {"deprecated": 1, "disabled": 1, "not visible to you": 1, "of another kind": 2}  # counts only


async def test_F04_one_ranked_list_over_every_kind(examples: Repertory) -> None:
    response = await ask(examples, "incident on call", limit=20)
    scores = [result.score for result in response.results]
    assert scores == sorted(scores, reverse=True)
    assert {result.entity.kind for result in response.results} >= {Kind.TOOL, Kind.MCP_SERVER, Kind.DOCUMENT}
    assert sum(len(group) for group in response.groups.values()) == len(response.results)
