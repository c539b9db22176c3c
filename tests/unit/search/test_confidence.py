from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from repertory.embedders.onnx import OnnxEmbedder
from repertory.search.confidence import FIRST, Signs, floor, learned, probe_vectors, probes, read

confidence = learned().confidence
LIKELY = Signs(cosine=0.6, coverage=0.4, terms=4, floor=0.2, named=False, share=0.6)
VAGUE = Signs(cosine=0.22, coverage=0.1, terms=3, floor=0.2, named=False, share=0.15)


def rising(signs: list[Signs]) -> bool:
    chances = [confidence(one) for one in signs]
    return chances == sorted(chances) and chances[0] < chances[-1]


def test_more_of_a_good_sign_is_more_confidence() -> None:
    values = [0.0, 0.1, 0.3, 0.6, 1.0]
    assert rising([replace(VAGUE, cosine=value) for value in values])
    assert rising([replace(VAGUE, coverage=value) for value in values])
    assert rising([replace(VAGUE, share=value) for value in values])


def test_a_higher_noise_floor_is_less_confidence() -> None:
    assert rising([replace(VAGUE, floor=value) for value in (0.5, 0.3, 0.2, 0.1)])


def test_confidence_is_a_probability_and_always_the_same() -> None:
    extremes = [
        Signs(c, v, t, f, n, s) for c in (-1, 1) for v in (0, 2) for t in (0, 900) for f in (-1, 1) for n in (True, False) for s in (0, 1)
    ]
    for signs in extremes:
        assert 0.0 <= confidence(signs) <= 1.0
        assert confidence(signs) == confidence(replace(signs))


def test_what_stands_out_is_answered_and_what_does_not_is_not() -> None:
    calibration = learned()
    assert not calibration.abstains(LIKELY)
    assert calibration.abstains(VAGUE)
    assert not calibration.abstains(replace(VAGUE, named=True))  # C09


def test_the_signs_of_an_answer() -> None:
    first, second, third = read([1.0, 0.5, 0.0], cosine=0.4, bm25=4.4, idf_total=8.0, terms=3, floor=0.2)
    assert first.share == pytest.approx(16 / 17)
    assert second.share == pytest.approx(1 / 17)
    assert third.share == 0.0
    assert first.coverage == pytest.approx(0.25)  # a document full of the terms would get 2.2 times their IDF
    assert replace(first, share=0.0) == third


def test_how_many_are_shown_changes_nothing() -> None:
    scores = [1 / rank for rank in range(1, 40)]
    few, many = (read(shown, cosine=0.4, bm25=1.0, idf_total=8.0, terms=3, floor=0.2) for shown in (scores[:FIRST], scores))
    assert few == many[:FIRST]


def test_nothing_to_go_by_is_no_confidence() -> None:
    assert read([], cosine=0.0, bm25=0.0, idf_total=0.0, terms=0, floor=0.0) == []
    (only,) = read([0.0], cosine=0.0, bm25=0.0, idf_total=0.0, terms=0, floor=floor([]))
    assert confidence(only) < 0.01


def test_the_noise_floor_is_what_the_probes_reach() -> None:
    assert len(set(probes())) == 32
    assert floor([0.1, 0.3]) == pytest.approx(0.2)


async def test_the_probes_have_their_vectors() -> None:
    embedder = OnnxEmbedder()
    assert embedder.model == learned().model
    vectors = [(await embedder.embed_query(probe)).vectors[0] for probe in probes()]
    assert np.allclose(probe_vectors(), vectors, atol=1e-3)
