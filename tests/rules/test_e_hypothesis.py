"""HyDE: queries that bring an imagined answer along, which is embedded in their place."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.catalogs import ids, note, tool

import repertory
from repertory.app import Repertory
from repertory.errors import InvalidRequest
from repertory.model import SearchRequest, Strategy

PETS = [
    tool("zoo/feed", "Give the cats and dogs of the shelter something to eat"),
    tool("bank/pay", "Pay an invoice by bank transfer"),
    note("ledger.md", "Settle what is owed to the vet at the end of the month"),
]


async def test_a_hypothesis_is_embedded_in_place_of_the_query(rep: Repertory) -> None:
    await rep.put("zoo", PETS)
    plain = await rep.search(SearchRequest("settle a bill", strategy=Strategy.EMBEDDING))
    imagined = await rep.search(
        SearchRequest("settle a bill", strategy=Strategy.EMBEDDING, hypothesis="Put food out for the cats and dogs")
    )
    assert ids(plain)[0] == "doc:ledger.md"
    assert ids(imagined)[0] == "tool:zoo/feed"


async def test_words_still_look_for_the_query(rep: Repertory) -> None:
    await rep.put("zoo", PETS)
    found = await rep.search(SearchRequest("invoice transfer", hypothesis="Put food out for the cats and dogs"))
    lanes = {result.entity.id: {one.lane: one.rank for one in result.evidence} for result in found.results}
    assert lanes["tool:bank/pay"]["bm25"] == 1
    assert lanes["tool:zoo/feed"]["vector"] == 1
    words = SearchRequest("invoice transfer", strategy=Strategy.BM25)
    assert ids(await rep.search(words)) == ids(await rep.search(SearchRequest("invoice transfer", strategy=Strategy.BM25, hypothesis="x")))


async def test_a_hypothesis_is_cached_by_its_own_text(tmp_path: Path) -> None:
    async with repertory.open(tmp_path, answer_cache=0) as rep:
        await rep.put("zoo", PETS)
        texts: list[str] = []
        embedder = rep._engine.embedder
        assert embedder is not None
        inner = embedder._embedder  # type: ignore[attr-defined]  # what the cache asks
        embed = inner.embed_query

        async def counted(text: str) -> object:
            texts.append(text)
            return await embed(text)

        inner.embed_query = counted
        for query in ("pay", "invoice", "transfer"):
            await rep.search(SearchRequest(query, hypothesis="Put food out for the cats"))
        assert texts == ["Put food out for the cats"]
        first = await rep.search(SearchRequest("pay", hypothesis="one"))
        second = await rep.search(SearchRequest("pay", hypothesis="two"))
        assert texts[1:] == ["one", "two"]
        assert (first.cached, second.cached) == (False, False)


async def test_a_hypothesis_is_no_sign_of_an_answer(rep: Repertory) -> None:
    """Confidence was learned from queries: with a hypothesis nothing is judged."""
    await rep.put("zoo", PETS)
    assert (await rep.search("how do you peel a mango")).abstained
    imagined = await rep.search(SearchRequest("how do you peel a mango", hypothesis="Slice the fruit along the stone"))
    assert (imagined.abstained, imagined.confidence) == (False, None)


@pytest.mark.parametrize(("query", "hypothesis"), [("", "an answer"), ("pay", "x" * 5000), ("pay", "\ud800")])
async def test_a_hypothesis_that_cannot_be_used_is_refused(rep: Repertory, query: str, hypothesis: str) -> None:
    with pytest.raises(InvalidRequest):
        await rep.search(SearchRequest(query, hypothesis=hypothesis))
