from __future__ import annotations

import math

import pytest

from repertory.indexes.base import BM25, GRAMS, VECTOR
from repertory.search.adapt import Balance, known_share, learned


def test_weights_are_one_together_and_words_count_for_more_the_more_is_known() -> None:
    balance = learned()
    for known in (0.0, 0.3, 1.0):
        assert sum(balance.weights(known).values()) == pytest.approx(1.0)
    assert balance.weights(1.0)[VECTOR] < balance.weights(0.0)[VECTOR]


def test_the_parameters_mean_what_they_say() -> None:
    weights = Balance(lean=0.0, slope=0.0, grams=0.25).weights(0.7)
    assert weights == {BM25: pytest.approx(0.375), GRAMS: pytest.approx(0.125), VECTOR: pytest.approx(0.5)}


def test_the_known_share_weighs_words_by_their_rarity() -> None:
    assert known_share([], 100) == 0.0
    assert known_share([0, 0], 100) == 0.0
    assert known_share([5, 1], 100) == 1.0
    unknown, common = math.log(1 + 100.5 / 0.5), math.log(1 + 50.5 / 50.5)
    assert known_share([0, 50], 100) == pytest.approx(common / (common + unknown))
