from __future__ import annotations

import json
from pathlib import Path

import pytest

from repertory.errors import SettingsError, SourceError
from repertory.evaluate import compare, measure
from repertory.evaluate.sets import find, load
from repertory.settings import load as load_settings

HARBOR = Path(__file__).parents[3] / "examples" / "labelled" / "harbor"


def _set(folder: Path) -> Path:
    folder.mkdir()
    entries = [("a", "lamp", "Lights a room"), ("b", "kettle", "Boils water"), ("c", "torch", "Lights the way outside")]
    corpus = [{"id": i, "type": "tool", "name": name, "description": about, "text": f"{name}\n{about}"} for i, name, about in entries]
    queries = [
        {"qid": 1, "query": "lamp", "relevant": ["a"]},
        {"qid": 2, "query": "lights", "relevant": ["c"], "exclude": ["a"]},
        {"qid": 3, "query": "qwxz", "relevant": []},
        {"qid": 4, "query": "boils", "relevant": ["b", "a"], "grades": {"b": 2, "a": 1}},
    ]
    for name, rows in (("corpus", corpus), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


async def test_metrics_are_those_of_the_definition(tmp_path: Path) -> None:
    labelled = load(_set(tmp_path / "tiny"))
    (row,) = await measure.measure(labelled, ["bm25"], tmp_path / "cache", load_settings({}, {})[0], lambda *_: None)
    assert row.rankings == {"1": ["a"], "2": ["c"], "3": [], "4": ["b"]}
    ideal = 2 + 1 / 1.584962500721156
    assert row.metrics["ndcg@10"] == pytest.approx((1 + 1 + 2 / ideal) / 3)
    assert row.metrics["recall@1"] == pytest.approx((1 + 1 + 0.5) / 3)
    assert row.metrics["mrr@10"] == 1.0
    assert row.no_answer == 1.0
    assert row.as_json()["queries"] == 4
    assert {"set", "strategy", "recall@1", "recall@5", "recall@10", "mrr@10", "ndcg@10", "queries", "p50_ms", "p95_ms"} <= set(
        row.as_json()
    )


async def test_f05_the_example_set_is_measured_every_way(tmp_path: Path) -> None:
    (folder,) = find(HARBOR)
    rows = await measure.measure(load(folder), measure.ways("all"), tmp_path, load_settings({}, {})[0], lambda *_: None)
    assert [row.strategy for row in rows] == list(measure.WAYS)
    by_way = {row.strategy: row for row in rows}
    assert by_way["linear"].metrics["ndcg@10"] > by_way["keyword"].metrics["ndcg@10"]
    assert compare.mark(by_way["keyword"], by_way["linear"]) == "▼"
    assert compare.mark(by_way["linear"], by_way["linear"]) == ""
    assert compare.means(rows)["linear"] == by_way["linear"].metrics
    moves = compare.moves([by_way["keyword"]], [by_way["linear"]], most=5)
    assert moves
    assert abs(moves[0].after.ndcg - moves[0].before.ndcg) >= abs(moves[-1].after.ndcg - moves[-1].before.ndcg)
    found = next(place for move in moves for place in (move.before, move.after) if place.rank)
    assert found.relevant
    assert "#" in found.why


def test_means_leave_out_multilingual_sets() -> None:
    def row(name: str, category: str, value: float) -> measure.Row:
        return measure.Row(name, category, "bm25", {"ndcg@10": value}, 1, None, None, 1.0, 1.0, {}, {})

    assert compare.means([row("a", "", 0.4), row("b", "", 0.6), row("c", "multilingual", 0.0)]) == {"bm25": {"ndcg@10": pytest.approx(0.5)}}


def test_unknown_strategies_and_missing_sets_say_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"'magic'\. Known: all, keyword, bm25"):
        measure.ways("bm25,magic")
    with pytest.raises(SourceError, match="No labelled set"):
        find(tmp_path)
    folder = _set(tmp_path / "broken")
    (folder / "corpus.jsonl").write_text('{"id": 1\n')
    with pytest.raises(SourceError, match=r"corpus\.jsonl:1: not JSON"):
        load(folder)


def test_entries_of_a_set_are_what_the_readers_make_of_them(tmp_path: Path) -> None:
    folder = _set(tmp_path / "kinds")
    long = "word " * 60
    rows = [
        {
            "id": "guide/boats",
            "type": "doc",
            "name": "Boats",
            "tags": ["sea"],
            "aliases": ["ships"],
            "text": f"Boats\nSee [[Ports]].\n\n## Oars\n\n{long}\n\n## Sails\n\n{long}",
        },
        {"id": "guide/Ports", "type": "doc", "name": "Ports", "text": "Ports\nQuays."},
        {
            "id": "s",
            "type": "server",
            "name": "s",
            "description": "Moves boats.",
            "text": "s\nHarbor\nMoves boats.\nmoor: Ties a boat up\nlist",
        },
        {
            "id": "a",
            "type": "agent",
            "name": "a",
            "text": "a\nCook: Cooks fish now",
            "skills": [{"name": "Cook", "description": "Cooks fish"}],
        },
        {"id": "t", "type": "tool", "name": "t", "description": "\nTows.", "text": "t\nTows.\nboat: Which one"},
    ]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    boats, _, server, agent, tool = load(folder).entities
    assert (boats.path, boats.name, boats.tags, boats.details["aliases"]) == ("guide/boats", "Boats", ("sea",), ["ships"])
    assert [section["path"] for section in boats.details["sections"]] == [[], ["Oars"], ["Sails"]]
    assert [link.target for link in boats.links] == ["doc:guide/Ports"]
    assert server.details == {
        "title": "Harbor",
        "tools": [{"name": "moor", "description": "Ties a boat up"}, {"name": "list", "description": ""}],
    }
    assert agent.details == {"skills": [{"name": "Cook", "description": "Cooks fish"}]}
    assert tool.details["input_schema"]["properties"] == {"boat": {"description": "Which one"}}
