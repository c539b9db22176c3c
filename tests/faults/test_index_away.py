"""What happens to searches and writes while a Qdrant is away?"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import httpx2
import pytest

import repertory
from repertory.app import Repertory
from repertory.errors import IndexUnavailable
from repertory.indexes.nodes import PATIENCE as WRITE_PATIENCE
from repertory.indexes.nodes import Nodes
from repertory.ingest import writer
from repertory.model import Principal, SearchRequest, Strategy
from repertory.rest.service import create_service
from repertory.settings import nodes_of
from tests.catalogs import ids, tool
from tests.qdrants import Cluster, qdrant

PATIENCE = 30.0  # seconds


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Cluster]:
    with qdrant(tmp_path / "qdrant") as started:
        yield started


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "RETRY_INDEX", 0.1)


async def _until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not true():  # noqa: ASYNC110 - whoever follows tells nobody
            await asyncio.sleep(0.05)


async def test_writes_wait_for_an_index_that_is_away_and_none_is_lost(tmp_path: Path, server: Cluster) -> None:
    async with repertory.open(tmp_path / "catalog", index=server.address, embedder="none") as rep:
        following = asyncio.create_task(rep.keep_following())
        assert (await rep.put("first", [tool("mail/send", "Sends a letter")])).behind == ""
        assert ids(await rep.search("letter")) == ["tool:mail/send"]
        server.nodes[0].kill()

        with pytest.raises(IndexUnavailable, match="does not answer"):
            await rep.search("parcel")
        assert ids(await rep.search(SearchRequest("let+er", strategy=Strategy.REGEX))) == ["tool:mail/send"]  # needs no index
        report = await rep.put("second", [tool("post/parcel", "Sends a parcel"), tool("post/stamp", "Buys stamps")])
        assert (report.added, "does not answer" in report.behind) == (2, True)
        await rep.put("first", [])  # what leaves is a write, too
        assert await rep.unready() != []

        server.nodes[0].start()
        await _until(lambda: not rep._sync.behind)
        assert await rep.unready() == []
        assert ids(await rep.search("parcel")) == ["tool:post/parcel"]
        assert ids(await rep.search("letter")) == []
        assert await rep.check() == []
        following.cancel()


async def test_a_catalog_opens_without_its_index_and_finds_it_later(tmp_path: Path, server: Cluster) -> None:
    async with repertory.open(tmp_path / "catalog", index=server.address, embedder="none") as rep:
        await rep.put("first", [tool("mail/send", "Sends a letter")])
    server.nodes[0].kill()
    async with repertory.open(tmp_path / "catalog", index=server.address, embedder="none") as rep:
        following = asyncio.create_task(rep.keep_following())
        with pytest.raises(IndexUnavailable):
            await rep.search("letter")
        await rep.put("second", [tool("post/parcel", "Sends a parcel")])
        server.nodes[0].start()
        await _until(lambda: not rep._sync.behind)
        assert ids(await rep.search("sends")) == ["tool:mail/send", "tool:post/parcel"]
        assert await rep.check() == []
        following.cancel()


async def test_over_http_it_is_a_problem_that_goes_away(tmp_path: Path, server: Cluster) -> None:
    async with repertory.open(tmp_path / "catalog", index=server.address, embedder="none") as rep:
        await rep.put("first", [tool("mail/send", "Sends a letter")])
        transport = httpx2.ASGITransport(create_service(rep, "token"))
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            assert (await client.post("/api/search", json={"query": "letter"})).status_code == 200
            server.nodes[0].kill()
            refused = await client.post("/api/search", json={"query": "a letter"})
            assert (refused.status_code, refused.json()["code"]) == (503, "index_unavailable")
            assert "letter" not in refused.text
            assert (await client.get("/ready")).status_code == 503
            server.nodes[0].start()
            server.nodes[0].wait()
            await _catch_up(rep)
            assert (await client.get("/ready")).status_code == 200
            assert (await client.post("/api/search", json={"query": "a letter"})).status_code == 200


async def test_an_index_that_somebody_removed_is_built_anew(tmp_path: Path, server: Cluster) -> None:
    async with repertory.open(tmp_path / "catalog", index=server.address, embedder="none") as rep:
        following = asyncio.create_task(rep.keep_following())
        await rep.put("first", [tool("mail/send", "Sends a letter")])
        collections = f"http://127.0.0.1:{server.nodes[0].http}/collections"
        (ours,) = httpx2.get(collections, trust_env=False).json()["result"]["collections"]
        httpx2.delete(f"{collections}/{ours['name']}", trust_env=False)
        with pytest.raises(IndexUnavailable, match="gone"):
            await rep.search("letter")
        assert await rep.unready() != []
        await _until(lambda: not rep._sync.behind)
        assert ids(await rep.search("letter")) == ["tool:mail/send"]
        assert await rep.check() == []
        following.cancel()


async def test_vectors_that_came_meanwhile_are_there_later(tmp_path: Path, server: Cluster) -> None:
    async with repertory.open(tmp_path / "catalog", index=server.address, embedder="static") as rep:
        await rep.put("first", [tool("mail/send", "Sends a letter")])
        server.nodes[0].kill()
        await rep.put("second", [tool("post/parcel", "Ships boxes")])
        assert await rep.waiting() == 0  # embedded all the same
        server.nodes[0].start()
        server.nodes[0].wait()
        await _catch_up(rep)
        assert ids(await rep.search(SearchRequest("ships boxes", strategy=Strategy.EMBEDDING)))[0] == "tool:post/parcel"
        assert await rep.check() == []


async def test_what_was_hidden_meanwhile_is_not_answered_from_memory(tmp_path: Path, server: Cluster) -> None:
    asked, anyone = SearchRequest("letter", strategy=Strategy.BM25), Principal.anyone()
    async with repertory.open(tmp_path / "catalog", index=server.address, embedder="none") as rep:
        await rep.put("first", [tool("mail/send", "Sends a letter")])
        assert ids(await rep.search(asked, anyone)) == ["tool:mail/send"]
        server.nodes[0].kill()
        assert (await rep.search(asked, anyone)).cached  # nothing has changed: what was found holds
        await rep.put("first", [tool("mail/send", "Sends a letter", audience=frozenset({"hr"}))])
        assert ids(await rep.search(asked, anyone)) == []
        told = await rep.freshness()
        assert told["indexed_revision"] < told["revision"]


async def test_a_model_waits_for_the_index_before_it_takes_over(tmp_path: Path, server: Cluster) -> None:
    async with repertory.open(tmp_path / "catalog", index=server.address, embedder="static") as rep:
        await rep.put("first", [tool("mail/send", "Sends a letter")])
        static = rep.status()["model"]
    async with repertory.open(tmp_path / "catalog", index=server.address) as rep:
        server.nodes[0].kill()
        await rep.embed()
        assert await rep.waiting() == 0
        assert (rep.status()["model"], rep.status()["changing"]["from"]) == (static, static)
        server.nodes[0].start()
        server.nodes[0].wait()
        await rep.embed()
        await _catch_up(rep)
        assert (rep.status()["model"] != static, rep.status()["changing"]) == (True, None)
        assert await rep.check() == []


async def test_nothing_is_exported_without_the_index(tmp_path: Path, server: Cluster) -> None:
    async with repertory.open(tmp_path / "catalog", index=server.address, embedder="none") as rep:
        await rep.put("first", [tool("mail/send", "Sends a letter")])
        server.nodes[0].kill()
        with pytest.raises(IndexUnavailable, match="Export when it answers"):
            await rep.bundle(tmp_path / "bundle", wheels=False)
        assert not (tmp_path / "bundle").exists()


async def _catch_up(rep: Repertory) -> None:
    async with asyncio.timeout(PATIENCE):
        while rep._sync.behind:
            await rep._write(rep._sync.catch_up)
            await asyncio.sleep(0.1)


def test_a_node_that_hangs_does_not_cost_a_write_all_its_patience(tmp_path: Path, server: Cluster) -> None:
    with qdrant(tmp_path / "another") as another, closing(Nodes(nodes_of(f"{server.address},{another.nodes[0].url}"))) as nodes:
        assert nodes.ask(lambda client: client.get_collections()).collections == []
        server.nodes[0].pause()
        began = time.monotonic()
        assert nodes.ask(lambda client: client.get_collections()).collections == []
        assert 1 < time.monotonic() - began < WRITE_PATIENCE - 5
