from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from repertory.errors import SettingsError, SourceError
from repertory.evaluate import calibrate
from repertory.evaluate.calibrate import Asked, Sample
from repertory.evaluate.sets import load
from repertory.search.confidence import Signs
from repertory.settings import load as load_settings

HARBOR = Path(__file__).parents[3] / "examples" / "labelled" / "harbor"


async def test_without_a_model_nothing_can_be_learned(tmp_path: Path) -> None:
    settings = load_settings({"embedder": "none"}, {})[0]
    with pytest.raises(SettingsError, match="no embedding model"):
        await calibrate.sample(load(HARBOR), [], [], 1, tmp_path, settings, lambda *_: None)


def test_what_is_learned_means_what_it_says() -> None:
    dice = np.random.default_rng(1)

    def asked() -> Asked:
        off = bool(dice.random() < 0.5)
        cosine = float(dice.normal(0.25 if off else 0.5, 0.08))
        signs = [Signs(cosine, float(dice.random()), 4, float(dice.random() / 4), False, share) for share in (0.6, 0.3, 0.1)]
        return Asked(off, tuple(signs), tuple(not off and bool(dice.random() < one.share) for one in signs))

    samples = [Sample(name, "some model", tuple(asked() for _ in range(400))) for name in ("one", "two", "three")]
    found = calibrate.learn(samples, 0.5)
    assert found.answered.cosine > 5
    assert all(abs(confidence - relevant) < 0.1 for confidence, relevant, results in calibrate.reliability(samples, found) if results > 50)
    score, rates = calibrate.held_out(samples, 0.5)
    assert score == pytest.approx(calibrate.brier(samples, found), abs=0.01)
    assert all(rate.refused > 0.85 and rate.lost < 0.15 for rate in rates)
    assert 0 < calibrate.overall(rates) < 0.15


@pytest.mark.parametrize("content", ["", "not JSON", '{"query": "one"}', '{"query": "one", "split": "check"}'])
def test_a_file_that_does_not_serve_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "off.jsonl"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(SourceError):
        calibrate.off_topic(file)
    with pytest.raises(SourceError):
        calibrate.off_topic(tmp_path / "none.jsonl")
