from __future__ import annotations

import math

import pytest

from repertory.indexes.base import BM25, GRAMS, VECTOR
from repertory.search.adapt import Balance, known_share, learned


def test_weights_are_one_together_and_words_count_for_more_the_more_is_known() -> None:
    balance = learned()
    for known in (0.0, 0.3, 1.0):
        assert sum(balance.weights(known).values()) == pytest.approx(1.0)
    assert balance.weights(1.0)[VECTOR] < balance.weights(0.1)[VECTOR]


def test_the_parameters_mean_what_they_say() -> None:
    weights = Balance(lean=0.0, slope=0.0, grams=0.25).weights(0.7)
    assert weights == {BM25: pytest.approx(0.375), GRAMS: pytest.approx(0.125), VECTOR: pytest.approx(0.5)}
    assert Balance(lean=5.0, slope=-5.0, grams=0.25).weights(0.0) == {BM25: 0.0, GRAMS: 0.25, VECTOR: 0.75}


def test_what_is_known_weighs_words_by_their_rarity() -> None:
    assert known_share([], 100) == 0.0
    assert known_share([0, 0], 100) == 0.0
    unknown, common = math.log(1 + 100.5 / 0.5), math.log(1 + 50.5 / 50.5)
    evidence = 2 * (common / (common + unknown)) ** 2
    assert known_share([0, 50], 100) == pytest.approx(evidence / (1 + evidence))
    assert known_share([0, 50], 100) < known_share([0, 1], 100)


def test_more_known_words_prove_more_and_one_among_unknown_ones_little() -> None:
    assert known_share([5], 100) == pytest.approx(1 / 2)
    assert known_share([5, 5, 5, 5], 100) == pytest.approx(4 / 5)
    assert known_share([5, 0, 0, 0], 100) < known_share([5], 100) / 2
