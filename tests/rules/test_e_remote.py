"""E06 and B07 through a whole search: a real process answers for the models elsewhere."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.catalogs import ask, ids, tool

import repertory
from repertory.model import Strategy

MODELS = Path(__file__).parents[1] / "contracts" / "modelserver.py"
TOOLS = [
    tool("hub/list_issues", "List the open issues of a repository"),
    tool("hub/delete_repository", "Delete a repository"),
    tool("shop/list_goods", "Show what a shop has"),
]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with subprocess.Popen([sys.executable, str(MODELS)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        process.kill()


async def test_E06_a_rewrite_is_searched_by_every_lane(url: str, tmp_path: Path) -> None:
    async with repertory.open(tmp_path, rewriter_url=url, rewriter_model="good") as rep:
        await rep.put("tools", TOOLS)
        response = await ask(rep, "列出未解决的问题", min_confidence=0.0)
        assert response.rewritten == "list the open issues"
        assert ids(response)[0] == "tool:hub/list_issues"
        assert {evidence.lane: evidence.rank for evidence in response.results[0].evidence} == {"bm25": 1, "grams": 1, "vector": 1}
        assert ids(await ask(rep, "列出未解决的问题", strategy=Strategy.GRAPH))[0] == "tool:hub/list_issues"
        assert (await ask(rep, "列出未解决的问题", strategy=Strategy.BM25)).results == ()  # a lane by itself takes the query as it is


async def test_E06_the_original_counts_where_it_is_nearer(url: str, tmp_path: Path) -> None:
    async with repertory.open(tmp_path, rewriter_url=url, rewriter_model="good") as rep:
        await rep.put("tools", TOOLS)
        response = await ask(rep, "Show what a shop has", strategy=Strategy.EMBEDDING)
        assert response.rewritten == "list the open issues"
        scores = {result.entity.id: result.evidence[0].score for result in response.results}
        assert scores["tool:shop/list_goods"] > 0.5  # by the original
        assert scores["tool:hub/list_issues"] > 0.5  # by the rewrite


@pytest.mark.parametrize(("model", "code"), [("empty", "rewrite_empty"), ("shapeless", "rewrite_failed")])
async def test_E06_a_failing_or_empty_rewrite_leaves_the_original(url: str, tmp_path: Path, model: str, code: str) -> None:
    async with repertory.open(tmp_path, rewriter_url=url, rewriter_model=model) as rep:
        await rep.put("tools", TOOLS)
        response = await ask(rep, "open issues")
        assert ids(response)[0] == "tool:hub/list_issues"
        assert [diagnostic.code for diagnostic in response.diagnostics] == [code]


async def test_B07_a_reranker_has_a_say_in_the_head(url: str, tmp_path: Path) -> None:
    async with repertory.open(tmp_path, reranker_url=url, reranker_model="good") as rep:
        await rep.put("tools", TOOLS)
        response = await ask(rep, "delete a repository")
        assert "rerank" in {evidence.lane for evidence in response.results[0].evidence}
        assert [result.score for result in response.results] == sorted((result.score for result in response.results), reverse=True)
    async with repertory.open(tmp_path, reranker_url=url, reranker_model="shapeless") as rep:
        response = await ask(rep, "delete a repository")
        assert [diagnostic.code for diagnostic in response.diagnostics] == ["rerank_failed"]
        assert ids(response)[0] == "tool:hub/delete_repository"
