"""E06 and B07 through a whole search: a real process answers for the models elsewhere."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
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


NOTIFYING = [
    tool("phone/push", "Send a notification to a person's phone"),
    tool("mail/forward", "Forward a letter", details={"title": "Transférer un courriel"}),
    *TOOLS,
]


async def test_E06_a_misspelt_ukrainian_query_finds_the_tool_through_the_rewrite(url: str, tmp_path: Path) -> None:
    query = "надисслати сповіщення людині"  # "send a notification to a person", with a typing error
    async with repertory.open(tmp_path / "with", rewriter_url=url, rewriter_model="ukrainian") as rep:
        await rep.put("tools", NOTIFYING)
        response = await ask(rep, query)
        assert response.rewritten == "send a notification to a person"
        assert ids(response)[0] == "tool:phone/push"
    async with repertory.open(tmp_path / "without") as rep:
        await rep.put("tools", NOTIFYING)
        found = await ask(rep, query)
        assert "bm25" not in {evidence.lane for result in found.results for evidence in result.evidence if evidence.rank}


@pytest.mark.parametrize("model", ["http-500", "malformed"])
async def test_E06_a_failing_rewriter_still_finds_the_tool_with_a_french_alias(url: str, tmp_path: Path, model: str) -> None:
    async with repertory.open(tmp_path, rewriter_url=url, rewriter_model=model) as rep:
        await rep.put("tools", NOTIFYING)
        response = await ask(rep, "transférer un courriel")
        assert ids(response)[0] == "tool:mail/forward"
        assert [diagnostic.code for diagnostic in response.diagnostics] == ["rewrite_failed"]


async def test_E06_a_null_rewrite_is_cached(url: str, tmp_path: Path) -> None:
    model = "null#cached"
    async with repertory.open(tmp_path, rewriter_url=url, rewriter_model=model) as rep:
        await rep.put("tools", TOOLS)
        for limit in (1, 2, 3):  # three requests: no answer is given twice, but the query is the same
            response = await ask(rep, "open issues", limit=limit)
            assert [diagnostic.code for diagnostic in response.diagnostics] == ["rewrite_empty"]
    with urllib.request.urlopen(url.replace("/v1", "/asked"), timeout=10) as told:  # noqa: ASYNC210, S310 - loopback
        assert [one["body"]["model"] for one in json.load(told)].count(model) == 1


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
