"""Do processes that share a PostgreSQL and a Qdrant see each other's writes, and outlive each other?"""

from __future__ import annotations

import asyncio
import contextlib
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import httpx2
import pytest

import repertory
from repertory.errors import IndexUnavailable
from repertory.ingest import writer
from repertory.model import SearchRequest, Strategy
from tests.catalogs import ids, tool
from tests.conftest import ROOT
from tests.faults.sharer import BETWEEN
from tests.faults.writer import entities
from tests.postgres import Server, postgres
from tests.qdrants import Cluster, qdrant
from tests.surfaces.programs import Served, run, serving

pytestmark = pytest.mark.cluster

SOON = 2.0  # seconds within which others find what was written
PATIENCE = 30.0  # seconds for what takes as long as a busy machine wants
KILLS = 4
LETTER = {"kind": "tool", "name": "send", "description": "Sends a letter to the harbour master", "details": {"server": "mail"}}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with qdrant(tmp_path_factory.mktemp("qdrant")) as started:
        yield started


@contextlib.contextmanager
def two(tmp_path: Path, database: str, index: Cluster) -> Iterator[tuple[httpx2.Client, httpx2.Client]]:
    """Two `repertory serve` over one database, asked as their owner."""
    settings = {"REPERTORY_DATABASE": database, "REPERTORY_INDEX": index.address, "REPERTORY_EMBEDDER": "none"}
    with (
        serving(tmp_path / "one", **settings) as one,
        serving(tmp_path / "two", **settings) as other,
        _asking(one) as a,
        _asking(other) as b,
    ):
        yield a, b


def _asking(served: Served) -> httpx2.Client:
    return httpx2.Client(base_url=served.url, headers=served.as_owner, trust_env=False, timeout=PATIENCE)


def _found(client: httpx2.Client, query: str) -> list[str]:
    answer = client.post("/api/search", json={"query": query, "strategy": "bm25"})
    return [result["id"] for result in answer.json()["results"]] if answer.status_code == 200 else [str(answer.status_code)]


def _within(seconds: float, true: Callable[[], bool]) -> None:
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, f"not within {seconds} s"
        time.sleep(0.02)


def test_what_one_writes_the_other_finds(tmp_path: Path, postgres_server: Server, index: Cluster) -> None:
    database = postgres_server.database()
    with two(tmp_path, database, index) as (one, other):
        assert _found(other, "letter") == []  # and remembers it
        made = one.post("/api/entries", json=LETTER)
        assert made.status_code == 201, made.text
        identity = made.json()["id"]
        _within(SOON, lambda: _found(other, "letter") == [identity])
        assert other.post(f"/api/entries/{identity}/disable").status_code == 200
        _within(SOON, lambda: _found(one, "letter") == [])  # what is hidden is not answered from memory
        assert one.post(f"/api/entries/{identity}/enable").status_code == 200
        _within(SOON, lambda: _found(other, "letter") == [identity])
        assert (one.get("/ready").status_code, other.get("/ready").status_code) == (200, 200)

        key = one.post("/api/keys", json={"name": "ann", "groups": [], "scopes": [], "expires": None}).json()
        ann = {"Authorization": f"Bearer {key['token']}"}
        _within(SOON, lambda: other.get("/api/whoami", headers=ann).status_code == 200)
        one.delete(f"/api/keys/{key['id']}")
        _within(SOON, lambda: other.get("/api/whoami", headers=ann).status_code == 401)

        for position in range(6):  # side by side, whoever's turn it is
            (one, other)[position % 2].post("/api/entries", json={**LETTER, "name": f"send{position}"})
        _within(SOON, lambda: len(_found(one, "letter")) == len(_found(other, "letter")) == 7)
        assert one.post("/api/check").json()["differences"] == other.post("/api/check").json()["differences"] == []
        assert one.post("/api/rebuild").status_code == 200  # another collection
        assert len(_found(other, "harbour letter")) == 7
    settings = {"REPERTORY_DATABASE": database, "REPERTORY_INDEX": index.address, "REPERTORY_EMBEDDER": "none"}
    doctor = run("doctor", "--json", catalog=tmp_path / "one", **settings).answer
    assert (doctor["healthy"], doctor["settings"]["database"]["value"]) == (True, "(set)")


@contextlib.contextmanager
def _writing(*arguments: str | Path) -> Iterator[tuple[subprocess.Popen[str], IO[str]]]:
    command = [sys.executable, "-m", "tests.faults.sharer", *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "open\n"
            yield process, process.stdout
        finally:
            process.send_signal(signal.SIGKILL)


async def test_nothing_acknowledged_is_lost_with_the_one_who_wrote(
    tmp_path: Path, postgres_server: Server, index: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "RETRY_INDEX", 0.2)
    database, dice = postgres_server.database(), random.Random(8)
    expected: set[str] = set()
    async with repertory.open(tmp_path / "survivor", database=database, index=index.address, embedder="none") as rep:
        following = asyncio.create_task(rep.keep_following())
        for round_ in range(KILLS):
            with _writing(tmp_path / "killed", database, index.address, str(round_)) as (process, said):
                first = await asyncio.to_thread(said.readline)
                await asyncio.sleep(dice.uniform(0, 0.5))
                process.send_signal(signal.SIGKILL)
                lines = (first + said.read()).split("\n")[:-1]
            assert lines
            expected |= {entity.id for line in lines for entity in entities(round_, int(line.split()[1]))}
            await asyncio.wait_for(rep.put(f"mine{round_}", [tool(f"mine{round_}/send", "Sends a manifest")]), PATIENCE)
            expected.add(f"tool:mine{round_}/send")
            stored = {entity.id for entity in (await rep.entries(limit=1_000_000))[0]}
            unsure = {entity.id for entity in entities(round_, len(lines))}  # the write under way may have been made
            assert expected <= stored <= expected | unsure
            assert await rep.check() == []
            expected = stored
        following.cancel()


async def test_another_takes_over_from_who_died_between_truth_and_index(
    tmp_path: Path, postgres_server: Server, index: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "RETRY_INDEX", 0.2)
    database, asked = postgres_server.database(), SearchRequest("index could hear", strategy=Strategy.BM25)
    async with repertory.open(tmp_path / "survivor", database=database, index=index.address, embedder="none") as rep:
        following = asyncio.create_task(rep.keep_following())
        with _writing(tmp_path / "killed", database, index.address, f"{BETWEEN}-1") as (process, said):
            assert await asyncio.to_thread(said.readline) == "written\n"
            assert ids(await rep.search(asked)) == []
            waiting = asyncio.create_task(rep.put("mine", [tool("mine/send", "Sends a manifest")]))
            await asyncio.sleep(0.5)
            assert not waiting.done()  # it is not its turn
            process.send_signal(signal.SIGKILL)
        assert (await asyncio.wait_for(waiting, PATIENCE)).added == 1
        assert ids(await rep.search(asked)) == [f"tool:last/{BETWEEN}-1"]
        with _writing(tmp_path / "killed", database, index.address, f"{BETWEEN}-2") as (process, said):  # and where nobody writes
            assert await asyncio.to_thread(said.readline) == "written\n"
            async with asyncio.timeout(PATIENCE):
                while rep._sync.snapshot.revision != rep._store.revision():  # noqa: ASYNC110 - whoever follows tells nobody
                    await asyncio.sleep(0.01)
            assert ids(await rep.search(asked)) == [f"tool:last/{BETWEEN}-1"]  # remembered, of a revision that the index has not reached
            process.send_signal(signal.SIGKILL)
        async with asyncio.timeout(PATIENCE):
            while len(ids(await rep.search(asked))) != 2:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        assert await rep.check() == []
        following.cancel()


async def test_a_catalog_opens_while_another_process_writes(tmp_path: Path, postgres_server: Server, index: Cluster) -> None:
    shared = {"database": postgres_server.database(), "index": index.address, "embedder": "none"}
    done = threading.Event()
    async with repertory.open(tmp_path / "one", **shared) as one:
        await one.put("first", [tool("mail/send", "Sends a letter")])
        writing = asyncio.create_task(one._write(done.wait, PATIENCE))
        await asyncio.sleep(0.2)
        async with asyncio.timeout(PATIENCE / 2), repertory.open(tmp_path / "two", **shared) as other:
            assert ids(await other.search("letter")) == ["tool:mail/send"]
            waiting = asyncio.create_task(other.put("second", [tool("post/parcel", "Sends a parcel")]))
            await asyncio.sleep(0.2)
            assert not waiting.done()
            done.set()
            assert await writing
            assert (await waiting).added == 1
            assert await other.check() == []


async def test_a_bundle_of_it_is_a_catalog_directory(tmp_path: Path, postgres_server: Server, index: Cluster) -> None:
    async with repertory.open(tmp_path / "one", database=postgres_server.database(), index=index.address, embedder="static") as rep:
        await rep.put("first", [tool("mail/send", "Sends a letter"), tool("post/parcel", "Ships boxes")])
        await rep.bundle(tmp_path / "bundle", wheels=False)
    assert not any(setting in (tmp_path / "bundle" / "repertory.toml").read_text() for setting in ("database", "index"))
    async with repertory.open(tmp_path / "bundle" / "catalog", embedder="static") as alone:
        assert ids(await alone.search("letter"))[0] == "tool:mail/send"
        assert await alone.check() == []


async def test_who_answers_by_another_model_says_so(tmp_path: Path, postgres_server: Server, index: Cluster) -> None:
    shared = {"database": postgres_server.database(), "index": index.address}
    async with repertory.open(tmp_path / "one", **shared, embedder="none") as one:
        await one.put("first", [tool("mail/send", "Sends a letter")])
        async with repertory.open(tmp_path / "two", **shared, embedder="static") as other:
            await other.put("second", [tool("post/parcel", "Sends a parcel")])
            for _ in range(2):  # however often it is its turn
                with pytest.raises(IndexUnavailable, match="with the same settings"):
                    await one.put("third", [tool("third/send", "Sends")])
            assert len((await other.entries())[0]) == 2
            assert await other.check() == []


def test_a_database_that_is_restarted_is_found_again(tmp_path: Path, index: Cluster) -> None:
    with postgres() as server, two(tmp_path, server.database(), index) as (one, other):
        first = one.post("/api/entries", json=LETTER).json()["id"]
        _within(SOON, lambda: _found(other, "letter") == [first])
        server.stop()
        refused = other.post("/api/search", json={"query": "a harbour"})
        assert (refused.status_code, refused.json()["code"]) == (503, "catalog_unavailable")
        assert one.post("/api/entries", json={**LETTER, "name": "lost"}).status_code == 503
        assert other.get("/ready").status_code == 503
        server.start()
        _within(PATIENCE, lambda: one.get("/ready").status_code == other.get("/ready").status_code == 200)
        second = one.post("/api/entries", json={**LETTER, "name": "again"})
        assert second.status_code == 201, second.text
        _within(SOON + 1, lambda: set(_found(other, "letter")) == {first, second.json()["id"]})  # its listener may have been asleep
        assert other.post("/api/check").json()["differences"] == []
