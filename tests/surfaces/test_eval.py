"""Does `repertory eval` measure what a person gives it?"""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.surfaces.programs import run

LABELLED = Path(__file__).parents[2] / "examples" / "labelled" / "harbor"  # the small one
OFF_TOPIC = Path(__file__).parents[2] / "benchmarks" / "offtopic.jsonl"


def test_F05_evaluation_is_a_command(tmp_path: Path) -> None:
    cache, picture = tmp_path / "cache", tmp_path / "bars.png"
    ran = run(
        "eval", LABELLED, "--strategies", "bm25,linear", "--cache", cache, "--plot", picture, "--diff", "bm25", "linear", COLUMNS="120"
    )
    assert ran.code == 0, ran.err
    lines = ran.out.splitlines()
    assert lines[0].split()[:4] == ["set", "strategy", "R@1", "R@5"]
    assert any(line.startswith("harbor (26)") for line in lines)
    assert any(line.startswith("mean") for line in lines)
    assert picture.read_bytes().startswith(b"\x89PNG")
    answer = run("eval", LABELLED, "--strategies", "bm25", "--cache", cache, "--json").answer
    assert answer["rows"][0]["set"] == "harbor"
    assert answer["means"]["bm25"]["ndcg@10"] == answer["rows"][0]["ndcg@10"]


def test_F01_confidence_is_learned_by_a_command(tmp_path: Path) -> None:
    picture = tmp_path / "reliability.png"
    ran = run("calibrate", LABELLED, "--offtopic", OFF_TOPIC, "--cache", tmp_path / "cache", "--plot", picture, COLUMNS="120")
    assert ran.code == 0, ran.err
    learned = tomllib.loads(ran.out)
    assert set(learned["answered"]) == {"bias", "cosine", "floor", "coverage", "terms"}
    assert learned["chosen"]["share"] > 0
    assert len(learned["probes"]) == 32
    assert "Brier score" in ran.err
    assert any(line.startswith("harbor") for line in ran.err.splitlines())
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert run("calibrate", LABELLED, "--offtopic", tmp_path / "none.jsonl").code == 3


@pytest.mark.parametrize(("arguments", "code"), [(["--strategies", "magic"], 2), ([], 3)])
def test_what_cannot_be_measured_is_refused(tmp_path: Path, arguments: list[str], code: int) -> None:
    folder = LABELLED if arguments else tmp_path
    assert run("eval", folder, *arguments).code == code
