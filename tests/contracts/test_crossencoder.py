"""Does a cross-encoder on this machine keep the promises of `remote.base`?

The runtime and the tokenizer are real; the model is a small one of our own (`tests/crossencoder.py`), which counts the tokens that query
and text share. What a real model is worth is in docs/relevance.md.
"""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from tests import crossencoder
from tests.catalogs import ask, tool

import repertory
from repertory.errors import RemoteModelError, SettingsError
from repertory.remote.choose import make_reranker
from repertory.remote.crossencoder import OnnxReranker
from repertory.settings import load

QUERY = "list open issues"
TEXTS = ["Delete a repository", "List open issues", "List branches"]


def sigmoid(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))


@pytest.mark.parametrize("labels", [1, 2])
@pytest.mark.parametrize("given", ["folder", "file"])
async def test_scores_are_sigmoids_in_the_order_of_the_texts(tmp_path: Path, labels: int, given: str) -> None:
    folder = crossencoder.write(tmp_path / "model", labels=labels)
    reranker = OnnxReranker(folder if given == "folder" else folder / "model.onnx")
    # shared tokens: none, three, one; and [SEP] once; two are subtracted
    assert await reranker.rerank(QUERY, TEXTS) == pytest.approx([sigmoid(-2), sigmoid(4), sigmoid(0)])
    await reranker.close()


async def test_a_pair_does_not_feel_its_neighbours(tmp_path: Path) -> None:
    reranker = OnnxReranker(crossencoder.write(tmp_path / "model"))
    together = await reranker.rerank(QUERY, [*TEXTS, "the " * 400])
    assert [(await reranker.rerank(QUERY, [text]))[0] for text in TEXTS] == together[:3]


async def test_empty_long_and_odd_texts_are_texts(tmp_path: Path) -> None:
    reranker = OnnxReranker(crossencoder.write(tmp_path / "model"))
    assert await reranker.rerank(QUERY, []) == []
    scores = await reranker.rerank(QUERY, ["", "list " * 100_000, "half a pair \ud83d", "列出"])
    assert all(0 <= score <= 1 for score in scores)
    assert len(scores) == 4


async def test_logits_of_any_size_are_shares(tmp_path: Path) -> None:
    reranker = OnnxReranker(crossencoder.write(tmp_path / "model", scale=1e6))
    assert await reranker.rerank(QUERY, TEXTS) == [0.0, 1.0, 0.5]


@pytest.mark.parametrize(("labels", "scale", "message"), [(3, 2.0, "3 numbers"), (1, math.nan, "none that count")])
async def test_a_graph_that_is_no_cross_encoder_is_refused(tmp_path: Path, labels: int, scale: float, message: str) -> None:
    reranker = OnnxReranker(crossencoder.write(tmp_path / "model", labels=labels, scale=scale))
    with pytest.raises(RemoteModelError, match=message):
        await reranker.rerank(QUERY, TEXTS)


async def test_files_that_are_not_there_or_damaged_are_told(tmp_path: Path) -> None:
    with pytest.raises(RemoteModelError, match="Correct reranker_file"):
        await OnnxReranker(tmp_path / "nowhere").rerank(QUERY, TEXTS)
    folder = crossencoder.write(tmp_path / "model")
    (folder / "model.onnx").write_bytes(b"damaged")
    with pytest.raises(RemoteModelError, match="did not load"):
        await OnnxReranker(folder).rerank(QUERY, TEXTS)


async def test_what_nobody_waits_for_any_more_is_not_read(tmp_path: Path) -> None:
    folder = crossencoder.write(tmp_path / "model")
    with pytest.raises(RemoteModelError, match="did not read everything in 1e-09 s"):
        await OnnxReranker(folder, timeout=1e-9).rerank(QUERY, TEXTS)


async def test_B07_the_settings_make_one_and_a_search_uses_it(tmp_path: Path) -> None:
    folder = crossencoder.write(tmp_path / "model")
    tools = [
        tool("hub/one", "Close all issues."),
        tool("hub/two", "Open issues: list the issues, list all."),
        tool("hub/three", "Send a letter."),
    ]
    async with repertory.open(tmp_path / "catalog", reranker_file=folder) as rep:
        await rep.put("tools", tools)
        response = await ask(rep, "list all issues")
        assert response.results[0].entity.id == "tool:hub/two"
        assert "rerank" in {evidence.lane for evidence in response.results[0].evidence}
        scores = [result.score for result in response.results]
        assert scores == sorted(scores, reverse=True)
        assert all(0 <= score <= 1 for score in scores)
        assert not response.diagnostics
    async with repertory.open(tmp_path / "catalog", reranker_file=tmp_path / "nowhere") as rep:
        response = await ask(rep, "list all issues")
        assert [diagnostic.code for diagnostic in response.diagnostics] == ["rerank_failed"]
        assert response.results


def test_there_is_one_reranker_and_by_default_none(tmp_path: Path) -> None:
    settings, _ = load({}, {})
    assert (settings.reranker_file, make_reranker(settings)) == (None, None)
    both = {"reranker_url": "http://127.0.0.1:1/v1", "reranker_model": "m", "reranker_file": tmp_path}
    with pytest.raises(SettingsError, match="there is one re-ranker"):
        load(both, {})
