from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from repertory.evaluate import tune
from repertory.evaluate.measure import measure
from repertory.evaluate.sets import load
from repertory.indexes.base import BM25, GRAMS, VECTOR
from repertory.search.adapt import Balance, learned
from repertory.settings import load as load_settings

HARBOR = Path(__file__).parents[3] / "examples" / "labelled" / "harbor"


async def test_a_sample_agrees_with_the_real_thing(tmp_path: Path) -> None:
    labelled, settings = load(HARBOR), load_settings({}, {})[0]
    sampled = await tune.sample(labelled, tmp_path, settings, lambda *_: None)
    (row,) = await measure(labelled, ["adaptive"], tmp_path, settings, lambda *_: None)
    assert sampled.ndcg(learned()) == pytest.approx(row.metrics["ndcg@10"], abs=0.03)  # an exact name is pinned only in the real thing


def test_learning_finds_the_lane_that_knows() -> None:
    dice = np.random.default_rng(1)
    right = np.eye(20)[:, :20]
    lanes = {BM25: dice.random((20, 20)), GRAMS: dice.random((20, 20)), VECTOR: right}
    sample = tune.Sample("made up", lanes, right, np.full(20, 0.5), np.ones(20))
    start = Balance(-3.0, 0.0, 0.5)
    balance = tune.learn([sample], start)
    assert sample.ndcg(balance) > sample.ndcg(start) + 0.3
    assert balance.weights(0.5)[VECTOR] > 0.5


def test_a_held_set_is_not_lost_to_its_better_lane() -> None:
    dice = np.random.default_rng(2)
    right, noise = np.eye(20), dice.random((20, 20))
    words = tune.Sample("words", {BM25: right, GRAMS: noise, VECTOR: noise}, right, np.full(20, 0.9), np.ones(20))
    paraphrases = tune.Sample("paraphrases", {BM25: noise, GRAMS: noise, VECTOR: right}, right, np.full(20, 0.2), np.ones(20))
    start = Balance(-3.0, 0.0, 0.0)
    assert paraphrases.alone() == pytest.approx(1.0)
    assert paraphrases.ndcg(tune.learn([words], start)) < 0.5, "nothing in the other set asks for vectors"
    balance = tune.learn([words], start, [paraphrases])
    assert paraphrases.ndcg(balance) >= 1.0 - tune.SLACK
    assert words.ndcg(balance) > 0.95


def test_a_typing_error_is_small_and_always_the_same() -> None:
    assert tune.misspelt("track a shipment") == "track a shimpent"
    assert tune.misspelt("go v2 on") == "go v2 on"
    assert tune.misspelt("") == ""
