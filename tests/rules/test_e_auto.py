"""E. Auto and the gateway: what answers, what goes with it, and what is remembered."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
from tests.catalogs import ask, ids, tool

import repertory
from repertory.app import Repertory
from repertory.embedders.base import Embeddings
from repertory.embedders.onnx import OnnxEmbedder
from repertory.embedders.wrappers import Cached
from repertory.errors import EmbedderError
from repertory.model import Preset, Principal, SearchRequest, Strategy

SHIPPING = [
    tool("ship/search_parcels", "Find parcels of a customer", details={"output_schema": {"properties": {"parcel_id": {"type": "string"}}}}),
    tool("ship/get_parcel", "Read one parcel", details={"input_schema": {"properties": {"parcel_id": {}}, "required": ["parcel_id"]}}),
    tool("ship/cancel_parcel", "Cancel a parcel", details={"input_schema": {"properties": {"parcel_id": {}}, "required": ["parcel_id"]}}),
    *(tool(f"zoo/feed_{animal}", f"Feeds the {animal}") for animal in "lion tiger bear wolf seal".split()),
    *(tool(f"lab/weigh_{n}", f"Weighs sample number {n}") for n in range(60)),
]


async def test_E01_the_graph_never_changes_the_order_of_the_vectors(rep: Repertory) -> None:
    await rep.put("tools", SHIPPING)
    for query in ("find the parcels of a customer", "feed the lion", "cancel"):
        auto = await ask(rep, query, strategy=Strategy.AUTO, limit=3)
        assert ids(auto) == ids(await ask(rep, query, strategy=Strategy.EMBEDDING, limit=3))
        assert auto.mode == "auto"


async def test_E02_related_and_next_steps_come_from_the_window(rep: Repertory) -> None:
    await rep.put("tools", SHIPPING)
    response = await ask(rep, "find the parcels of a customer", preset=Preset.AUTO, limit=1)
    assert ids(response) == ["tool:ship/search_parcels"]
    assert {(one.entity.id, one.reason) for one in response.next_steps} == {
        ("tool:ship/get_parcel", "needs parcel_id"),
        ("tool:ship/cancel_parcel", "needs parcel_id"),
    }
    window = ids(await ask(rep, "find the parcels of a customer", strategy=Strategy.EMBEDDING, limit=8))  # max(4 * 1, 8)
    assert {one.entity.id for one in (*response.related, *response.next_steps)} <= set(window)
    assert not {one.entity.id for one in (*response.related, *response.next_steps)} & set(ids(response))
    assert (await ask(rep, "find the parcels of a customer", limit=1)).next_steps == ()  # only where the plan asks for it


async def test_E05_auto_without_a_vector_answers_by_graph_and_words(rep: Repertory) -> None:
    await rep.put("tools", SHIPPING)

    class Zero(OnnxEmbedder):
        async def embed_query(self, text: str) -> Embeddings:
            return Embeddings(np.zeros((1, self.dimensions), np.float32), 0)

    class Failing(OnnxEmbedder):
        async def embed_query(self, text: str) -> Embeddings:
            raise EmbedderError("The model is out of order.")

    for embedder in (None, Zero(), Failing()):
        rep._engine.embedder = embedder
        response = await ask(rep, "cancl parcl", strategy=Strategy.AUTO, limit=3)  # words alone would find nothing
        assert ids(response)[0] == "tool:ship/cancel_parcel"
        assert [diagnostic.code for diagnostic in response.diagnostics] == ["no_query_vector"]
        assert set(response.lanes or {}) == {"graph", "bm25"}


async def test_E07_context_leans_a_query_its_way(rep: Repertory) -> None:
    await rep.put(
        "tools", [tool("news/list_items", "Lists the articles of a newspaper"), tool("shop/list_items", "Lists the goods of a shop")]
    )
    for strategy in (Strategy.HYBRID, Strategy.BM25, Strategy.EMBEDDING):
        shop = await ask(rep, "list items", strategy=strategy, context={"page": {"title": "Goods in the shop"}})
        news = await ask(rep, "list items", strategy=strategy, summary="We talk about articles of a newspaper.")
        assert (ids(shop)[0], ids(news)[0]) == ("tool:shop/list_items", "tool:news/list_items")
    odd = await ask(rep, "list items", context={"what": object()})
    assert ids(odd) == ids(await ask(rep, "list items"))
    alone = await ask(rep, "", summary="goods of a shop")
    assert ids(alone)[0] == "tool:shop/list_items"


async def test_E08_nothing_asked_is_browsing(rep: Repertory) -> None:
    empty = await ask(rep, "")
    assert (empty.mode, empty.results) == ("empty", ())
    entries = [tool("b/second", "x"), tool("a/first", "y"), tool("c/off", "z", enabled=False)]
    await rep.put("tools", entries)
    browsed = await ask(rep, "  ", limit=2)
    assert browsed.mode == "browse"
    assert ids(browsed) == ["tool:b/second", "tool:a/first"]  # in the order they came in, the disabled one left out
    assert ids(await ask(rep, "", include_disabled=True)) == [entity.id for entity in entries]


async def test_E09_an_answer_is_given_again_until_something_changes(rep: Repertory) -> None:
    await rep.put("tools", [tool("box/lamp", "Lights a room")])
    first, second = [await ask(rep, "light a room") for _ in range(2)]
    assert (first.cached, second.cached) == (False, True)
    assert ids(first) == ids(second)
    other = await rep.search(SearchRequest("light a room"), Principal.anyone())
    assert not other.cached  # of another principal
    assert not (await ask(rep, "light a room", limit=3)).cached
    assert not (await ask(rep, "light a room", context="evening")).cached
    await rep.put("tools", [tool("box/lamp", "Lights a room"), tool("box/lantern", "Lights a whole room")])
    third = await ask(rep, "light a room")
    assert not third.cached
    assert len(third.results) == 2


async def test_E09_a_degraded_answer_is_not_kept(rep: Repertory) -> None:
    await rep.put("tools", [tool("box/lamp", "Lights a room")])
    embedder, rep._engine.embedder = rep._engine.embedder, None
    assert (await ask(rep, "light a room")).mode == "lexical-only"
    rep._engine.embedder = embedder
    assert (await ask(rep, "light a room")).mode == "hybrid"


async def test_E13_no_embedding_is_made_twice(tmp_path: Path) -> None:
    class Counting(OnnxEmbedder):
        calls: ClassVar[list[int]] = []

        async def embed_documents(self, texts: Sequence[str]) -> Embeddings:
            self.calls.append(len(texts))
            return await super().embed_documents(texts)

        async def embed_query(self, text: str) -> Embeddings:
            self.calls.append(1)
            return await super().embed_query(text)

    async with repertory.open(tmp_path) as rep:
        rep._embedder = rep._engine.embedder = Cached(Counting())
        await rep.put("tools", [tool(f"box/tool{n}", f"Does the thing number {n}") for n in range(120)])
        for limit in (1, 2, 3):  # other limits are other requests: nothing is answered from the cache of answers
            for query in ("do thing 7", "thing number 99", "do thing 7"):
                await ask(rep, query, limit=limit)
    assert Counting.calls == [120, 1, 1]
