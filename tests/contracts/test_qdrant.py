"""What does a Qdrant do that the embedded index need not?"""

from __future__ import annotations

import sys
from pathlib import Path

import httpx2
import numpy as np
import pytest
from numpy.typing import NDArray
from tests.catalogs import ids, tool
from tests.programs import free_port
from tests.qdrants import Cluster, qdrant

import repertory
from repertory.errors import CatalogError, IndexUnavailable, SettingsError
from repertory.indexes.base import VECTOR, LaneQuery, Point, Scope, Sparse
from repertory.indexes.nodes import Nodes
from repertory.indexes.qdrant import Layout, QdrantIndex
from repertory.indexes.requests import Quantisation
from repertory.model import PUBLIC, Bucket, Kind, Status
from repertory.settings import nodes_of

TOOLS = Bucket(Kind.TOOL, Status.ACTIVE, True, frozenset({PUBLIC}))
LETTERS = [tool("mail/send", "Sends a letter"), tool("mail/read", "Reads a letter"), tool("post/stamp", "Buys stamps")]


def _collections(server: Cluster) -> set[str]:
    answer = httpx2.get(f"http://127.0.0.1:{server.nodes[0].http}/collections", trust_env=False).json()
    return {one["name"] for one in answer["result"]["collections"]}


async def test_a_node_that_is_away_is_passed_over(server: Cluster, tmp_path: Path) -> None:
    nodes = f"qdrant://127.0.0.1:{free_port()},{server.nodes[0].url}"
    async with repertory.open(tmp_path, index=nodes, embedder="none") as rep:
        await rep.put("letters", LETTERS)
        assert ids(await rep.search("stamps")) == ["tool:post/stamp"]


def test_where_no_node_answers_the_error_names_them() -> None:
    nodes = Nodes([("127.0.0.1", free_port()), ("127.0.0.1", free_port())])
    with pytest.raises(IndexUnavailable, match=r"127\.0\.0\.1:\d+, 127\.0\.0\.1:\d+ does not answer \(UNAVAILABLE\)"):
        nodes.ask(lambda client: client.get_collections())
    nodes.close()


async def test_a_key_opens_it_and_a_wrong_one_is_told_as_that(tmp_path: Path) -> None:
    with qdrant(tmp_path / "qdrant", key="opensesame") as locked:
        async with repertory.open(tmp_path / "catalog", index=locked.address, index_key="opensesame", embedder="none") as rep:
            await rep.put("letters", LETTERS)
            assert len(ids(await rep.search("letter"))) == 2
        with pytest.raises(CatalogError, match="index_key") as refused:
            async with repertory.open(tmp_path / "catalog", index=locked.address, index_key="guess", embedder="none"):
                pass
        assert "guess" not in str(refused.value)


async def test_another_model_takes_over_and_leaves_nothing_behind(server: Cluster, tmp_path: Path) -> None:
    before = _collections(server)
    async with repertory.open(tmp_path, index=server.address, embedder="static") as rep:
        await rep.put("letters", LETTERS)
        static = rep.status()["model"]
    async with repertory.open(tmp_path, index=server.address) as rep:
        assert (rep.status()["model"], rep.status()["changing"]["from"]) == (static, static)
        assert ids(await rep.search("stamps"))[0] == "tool:post/stamp"
        await rep.embed()
        assert (rep.status()["model"] != static, rep.status()["changing"]) == (True, None)
        assert ids(await rep.search("stamps"))[0] == "tool:post/stamp"
        assert await rep.check() == []
        assert len(_collections(server) - before) == 1
    async with repertory.open(tmp_path, index=server.address) as rep:
        assert await rep.check() == []


async def test_it_is_built_anew_when_the_server_lost_it(server: Cluster, tmp_path: Path) -> None:
    before = _collections(server)
    async with repertory.open(tmp_path, index=server.address, embedder="none") as rep:
        await rep.put("letters", LETTERS)
    (ours,) = _collections(server) - before
    httpx2.delete(f"http://127.0.0.1:{server.nodes[0].http}/collections/{ours}", trust_env=False)
    async with repertory.open(tmp_path, index=server.address, embedder="none") as rep:
        assert await rep.check() == []
        assert len(ids(await rep.search("letter"))) == 2


@pytest.mark.parametrize("quantisation", ["int8", "binary"])
def test_small_vectors_find_the_same_where_every_vector_is_looked_at(server: Cluster, tmp_path: Path, quantisation: Quantisation) -> None:
    vectors = np.random.default_rng(7).normal(size=(400, 64)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    index = QdrantIndex(
        Nodes(nodes_of(server.address)), tmp_path.name, f"{tmp_path.name}-index", {}, layout=Layout(quantisation=quantisation)
    )
    index.create(64)
    one = Sparse([1], [1.0])
    index.put([Point(number, TOOLS.key, (), (), one, one, one, vector) for number, vector in enumerate(vectors)])
    for query in vectors[:10]:
        (hits,) = index.search([LaneQuery(VECTOR, query, 20)], Scope({TOOLS: 400}, frozenset(), everything=True, documents=400))
        assert [hit.number for hit in hits] == _nearest(vectors, query, 20)
    index.discard()
    index.close()


def _nearest(vectors: NDArray[np.float32], query: NDArray[np.float32], count: int) -> list[int]:
    found: list[int] = np.argsort(-(vectors @ query))[:count].tolist()
    return found


async def test_without_its_client_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "repertory.indexes.nodes", None)
    with pytest.raises(SettingsError, match=r"repertory\[qdrant\]"):
        async with repertory.open(tmp_path, index="qdrant://localhost", embedder="none"):
            pass
