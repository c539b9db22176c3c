"""F. What none of the others has: usage teaches."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.catalogs import ids, tool
from tests.conftest import ROOT

import repertory
from repertory.app import Repertory
from repertory.gateway.history import LATEST, WINDOW, History, Who
from repertory.model import Principal, SearchRequest
from repertory.search import usage
from repertory.search.usage import CAP, Usage, terms_of
from repertory.store import Reference, Store

QUERY = "sum these two numbers together"
ADD = "tool:workshop/add"
USED = {"first": 1, "second": 1}
DAY = 86_400.0


async def workshop(rep: Repertory, directory: Path) -> None:
    """A server that can be called."""
    command = {"command": sys.executable, "args": ["-m", "tests.workshop", "stdio"], "cwd": str(ROOT), "env": {"PYTHONPATH": str(ROOT)}}
    (directory / "mcp.json").write_text(json.dumps({"mcpServers": {"workshop": command}}))
    report = await rep.add(directory / "mcp.json")
    assert not report.problems


def boosts(answer: repertory.SearchResponse) -> dict[str, float]:
    """By what each result rises."""
    return {one.entity.id: boost.factor for one in answer.results for boost in one.boosts if "used" in boost.reason}


async def test_F07_a_successful_call_after_a_search_raises_that_pairing(tmp_path: Path) -> None:
    asked = SearchRequest("adding of two numbers", explain=True, limit=10)
    async with repertory.open(tmp_path / "catalog", usage=True, answer_cache=0) as rep:
        await workshop(rep, tmp_path)
        twin = await rep.show(ADD)
        rival = tool("sums/add", "Adds two numbers.", details={**twin.details, "server": "sums"})
        await rep.put("rivals", [rival])
        before = await rep.search(asked)
        assert {rival.id, ADD} <= set(ids(before))
        assert ids(before).index(rival.id) < ids(before).index(ADD)  # a near tie
        assert boosts(before) == {}
        for _ in range(10):  # each search teaches once, however often the tool is called
            await rep.search(asked)
            for _ in range(2):
                await rep.call(ADD, USED)
        await rep.tidy()
        after = await rep.search(asked)
        assert ids(after).index(ADD) < ids(after).index(rival.id)
        assert set(ids(after)) == set(ids(before))  # nothing comes in that was not found
        assert set(boosts(after)) == {ADD}
        assert 1.05 < boosts(after)[ADD] <= CAP
        other = await rep.search(SearchRequest("fire the kiln", explain=True))
        assert boosts(other) == {}
        await rep.put("rivals", [replace(rival, description="Adding of two numbers.")])
        assert ids(await rep.search(asked))[0] == rival.id  # a clear lead is kept
        exact = await rep.search(SearchRequest("sums/add"))
        assert ids(exact)[0] == rival.id  # an exact name stays first (C09)
    async with repertory.open(tmp_path / "catalog", usage=True) as rep:  # it is kept
        assert set(boosts(await rep.search(asked))) == {ADD}
    async with repertory.open(tmp_path / "catalog") as rep:  # and asleep where nobody wants it
        assert boosts(await rep.search(asked)) == {}


async def test_F07_is_opt_in_and_keeps_no_text(tmp_path: Path) -> None:
    async with repertory.open(tmp_path / "off", embedder="none") as rep:
        assert rep.settings.usage is False
        await workshop(rep, tmp_path)
        await rep.search(QUERY)
        await rep.call(ADD, USED)
        await rep.tidy()
        assert rep._store.pairings() == []
    async with repertory.open(tmp_path / "on", embedder="none", usage=True) as rep:
        await workshop(rep, tmp_path)
        assert ADD in ids(await rep.search(QUERY))
        await rep.call(ADD, USED)
        await rep.tidy()
        (pairing,) = rep._store.pairings()
        assert (pairing.entity_id, pairing.weight) == (ADD, 1.0)
        with pytest.raises(repertory.RepertoryError):  # what fails teaches nothing
            await rep.call("workshop/echo", {})
        await rep.search("fails")
        assert (await rep.call("workshop/break_down"))["isError"]
        await rep.search(QUERY, Principal("alice"))  # nor does a search of somebody else
        await rep.call(ADD, USED)
        await rep.tidy()
        assert len(rep._store.pairings()) == 1
    with contextlib.closing(sqlite3.connect(tmp_path / "on" / "catalog.db")) as kept:
        rows = [*kept.execute("SELECT * FROM usage"), *kept.execute("SELECT * FROM calls")]
    assert len(rows) == 5
    assert not any(word in repr(rows) for word in ("numbers", "together", "first"))


@contextmanager
def learning(tmp_path: Path, now: list[float]) -> Iterator[tuple[Store, Usage]]:
    store = Store.at(tmp_path)
    yield store, Usage(store, half_life=30, clock=lambda: now[0])
    store.close()


def factor(learned: Usage, query: str, about: dict[int, Reference]) -> float:
    return next((boost.factor for some in learned.boosts(query.split(), about).values() for boost in some), 1.0)


def found(*entities: str) -> dict[int, Reference]:
    bucket: Any = None
    return {number: Reference(entity, entity, bucket) for number, entity in enumerate(entities)}


def test_F07_decays_by_half_in_thirty_days(tmp_path: Path) -> None:
    now = [1e9]
    with learning(tmp_path, now) as (store, learned):
        terms, about = terms_of(("track", "parcel")), found("tool:post/track")
        learned.learn([(terms, "tool:post/track")] * 6)
        fresh = factor(learned, "track parcel", about)
        now[0] += 30 * DAY
        assert factor(learned, "track parcel", about) == pytest.approx(1 + (CAP - 1) * 3 / 6)  # three of six calls are left
        assert 1 < factor(learned, "track parcel", about) < fresh < CAP
        learned.learn([(terms, "tool:post/track")])
        (kept,) = store.pairings()
        assert kept.weight == pytest.approx(4)
        now[0] += 3650 * DAY
        assert factor(learned, "track parcel", about) == pytest.approx(1)


def test_F07_counts_for_like_queries_is_capped_and_brings_nothing_in(tmp_path: Path) -> None:
    with learning(tmp_path, [1e9]) as (_, learned):
        learned.learn([(terms_of(("read", "a", "file")), "tool:files/read")] * 10_000)
        about = found("tool:files/read", "tool:files/delete")
        assert set(learned.boosts(("read", "file"), about)) == {0}
        assert 1.1 < factor(learned, "read a file", about) <= CAP
        assert factor(learned, "read files", about) < factor(learned, "read a file", about)
        assert learned.boosts(("delete", "file"), about) == {}
        assert learned.boosts(("read", "a", "file"), found("tool:files/delete")) == {}


def test_F07_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "MOST", 50)
    monkeypatch.setattr(usage, "SPARE", 10)
    with learning(tmp_path, [1e9]) as (store, learned):
        learned.learn([(terms_of(("often",)), "tool:a/b")] * 3)
        for number in range(120):
            learned.learn([(terms_of((f"word{number}",)), "tool:a/b")])
        learned.learn([(frozenset(range(100)), "tool:a/b")])  # a text, not a query
        assert 40 <= len(store.pairings()) <= 50
        assert factor(learned, "often", found("tool:a/b")) == pytest.approx(1.075)  # three calls are half of the cap


def test_F07_a_call_counts_for_the_latest_searches_of_its_caller(tmp_path: Path) -> None:
    now = [0.0]
    with learning(tmp_path, [1e9]) as (store, learned):
        history = History(store, learned, days=30, clock=lambda: now[0])
        alice, bob = Who("alice", "s1"), Who("bob", "s1")

        def call(who: Who, entity: str, outcome: str = "ok") -> list[str]:
            with history.noting(who) as noted:
                noted.tool, noted.outcome = entity, outcome
            before = {pairing.terms: pairing.weight for pairing in store.pairings()}
            history.flush()
            return [f"{sorted(one.terms)[0]}" for one in store.pairings() if one.weight != before.get(one.terms)]

        for number in range(LATEST + 1):
            history.searched(alice, frozenset({number}), {"tool:a/b"} if number else {"tool:a/b", "tool:a/c"})
        assert call(bob, "tool:a/b") == []
        assert call(Who("alice", "s2"), "tool:a/b") == []
        assert call(alice, "tool:a/b", "refused") == []
        assert call(alice, "tool:a/c") == []  # only an older search had shown it
        assert sorted(call(alice, "tool:a/b")) == ["1", "2", "3"]
        assert call(alice, "tool:a/b") == []
        history.searched(alice, frozenset({9}), {"tool:a/b"})
        now[0] += WINDOW + 1
        assert call(alice, "tool:a/b") == []
