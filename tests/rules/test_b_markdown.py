"""B. Markdown knowledge."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import time
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.catalogs import ask, ids, note, tool

import repertory
from repertory.app import Repertory
from repertory.ingest.project import project
from repertory.ingest.report import IngestReport
from repertory.model import Entity, Filter, Fusion, Link, Preset, Principal, SearchRequest, Strategy
from repertory.search.expand import Expansion, nearest
from repertory.search.plan import plan


def test_B02_the_heading_path_is_embedded_and_the_id_is_the_path() -> None:
    first, second = project(note("handbook/travel.md", "Trains are paid.", "Planes are not."))
    assert first.text == "handbook/travel.md > Part 1\nTrains are paid."
    assert (first.id, second.id) == ("doc:handbook/travel.md#0", "doc:handbook/travel.md#1")
    assert second.anchor == "handbook/travel.md > Part 2"


async def test_B03_titles_and_headings_weigh_more(rep: Repertory) -> None:
    body = "Some words about everything and nothing, to be as long as the other one. "
    in_heading = note("a.md", body + "nothing")
    in_heading.details["sections"][0]["path"] = ["Anchorage"]
    in_body = note("b.md", body + "anchorage")
    await rep.put("notes", [in_body, in_heading])
    assert ids(await ask(rep, "anchorage", strategy=Strategy.BM25)) == ["doc:a.md", "doc:b.md"]


BOATS = [
    note("boats.md", "The ferry leaves at noon.", "The ferry to the island takes cars.", "The invoice for the ferry."),
    note("money.md", "An invoice is paid at once.", "Salaries are a secret."),
]


async def test_B06_the_three_nearest_concepts_join_the_vector(tmp_path: Path) -> None:
    async with repertory.open(tmp_path, expansion=True) as rep:
        await rep.put("notes", BOATS)
        assert rep._embedder is not None
        model, revision = rep._embedder.model, rep._sync.snapshot.revision
        concepts = rep._store.concepts(model)
        assert {"ferry", "invoice"} <= concepts.keys()
        assert not {"salaries", "the", "at"} & concepts.keys()  # a word of one chunk; stopwords
        query = (await rep._embedder.embed_query("boat trip")).vectors[0]
        moved, terms = Expansion(rep._store, model).expand(query, ["boat", "trip"], revision)
        assert terms[0] == "ferry"
        assert len(terms) <= 3
        for word, vector in concepts.items():
            assert vector is not None
            assert word not in terms or query @ vector >= 0.5
        assert concepts["ferry"] is not None
        assert moved @ concepts["ferry"] > query @ concepts["ferry"]
        assert np.linalg.norm(moved) == pytest.approx(1, abs=1e-5)
        assert Expansion(rep._store, model).expand(query, ["boat", "ferries"], revision)[1] == []  # the query has it already
        assert Expansion(rep._store, model).expand(query, ["boat"], revision, known=lambda _: ())[1] == []  # may not be seen


def test_B06_three_terms_above_the_floor_each_word_once() -> None:
    words = ["boats", "boat", "ship", "ships", "harbour", "island", "money"]
    matrix = np.array([[0.9], [0.8], [0.7], [0.65], [0.6], [0.55], [0.1]], np.float32)
    query = np.ones(1, np.float32)
    assert nearest(query, words, matrix, exclude=()) == ["boats", "ship", "harbour"]
    assert nearest(query, words, matrix, exclude=["boat"]) == ["ship", "harbour", "island"]
    assert nearest(query, words, matrix, exclude=["boat", "ship"]) == ["harbour", "island"]
    assert nearest(query, [], np.zeros((0,), np.float32), exclude=()) == []


async def test_B06_the_vocabulary_is_kept_incrementally(tmp_path: Path) -> None:
    embedded: list[int] = []

    def progress(what: str, done: int, _: int) -> None:
        embedded.extend([done] if what == "Embedding concepts" else [])

    async with repertory.open(tmp_path) as rep:
        await rep.put("notes", BOATS, progress)
        assert not embedded  # off by default
        assert await rep.waiting() == 0
    async with repertory.open(tmp_path, expansion=True) as rep:
        first = await rep.waiting()
        await rep.put("notes", BOATS, progress)
        assert embedded == [first]
        more = [*BOATS, note("secrets.md", "A secret tunnel.", "The secret door.")]
        await rep.put("notes", more, progress)
        assert rep._embedder is not None
        assert {"secret"} <= rep._store.concepts(rep._embedder.model).keys()
        assert await rep.waiting() == 0
        assert 0 < embedded[1] < first  # only what is new: "secret", "secrets", and the headings' words


async def test_a_file_is_answered_once_by_its_best_section(rep: Repertory) -> None:
    await rep.put("notes", [note("a.md", "The ferry leaves at noon.", "The ferry to the island takes cars."), note("b.md", "No boats.")])
    response = await ask(rep, "ferry takes cars to the island")
    assert ids(response).count("doc:a.md") == 1
    assert response.results[0].anchor == "a.md > Part 2"
    assert "takes cars" in response.results[0].excerpt


@pytest.mark.parametrize("query", ["погода", "天気", "날씨", "ferry"])
async def test_documents_are_found_by_words_of_their_own_language(rep: Repertory, query: str) -> None:
    texts = {"погода": "Яка сьогодні погода у порту", "天気": "港の天気予報", "날씨": "부산항 날씨 예보", "ferry": "The ferry timetable"}
    await rep.put("notes", [note(f"{position}.md", text) for position, text in enumerate(texts.values())])
    for strategy in (Strategy.BM25, Strategy.KEYWORD):
        assert [result.excerpt for result in (await ask(rep, query, strategy=strategy)).results] == [texts[query]]


def _linked(path: str, text: str, *targets: str, **more: Any) -> Entity:
    return note(path, text, links=tuple(Link(f"doc:{target}", "links_to") for target in targets), **more)


async def test_B04_neighbours_enter_with_half_weight_below_their_seed(rep: Repertory) -> None:
    await rep.put(
        "notes",
        [
            _linked("ferry.md", "The ferry timetable of the northern island.", "tickets.md"),
            _linked("harbour.md", "Where the ferry lands, beside the old timetable.", "crane.md"),
            note("tickets.md", "Fares for grown-ups and for children.", "Season passes."),
            _linked("inbound.md", "Nothing of the sort, but it points.", "ferry.md"),
            note("crane.md", "Lifts thirty tons."),
            *(note(f"filler{n}.md", f"Ferry number {n} has a timetable of its own.") for n in range(40)),
        ],
    )
    response = await ask(rep, "ferry timetable northern island", preset=Preset.NOTES, limit=50, strategy=Strategy.HYBRID)
    found = ids(response)
    by_id = {result.entity.id: result for result in response.results}
    brought = [evidence for evidence in by_id["doc:tickets.md"].evidence if evidence.lane == "neighbours"]
    assert len(brought) == 1
    assert brought[0].contribution <= 0.5 / 61
    for neighbour in ("doc:tickets.md", "doc:inbound.md"):  # one hop out, one hop in
        assert found.index("doc:ferry.md") < found.index(neighbour)
    assert found.index("doc:harbour.md") < found.index("doc:crane.md")
    assert found.index("doc:inbound.md") < found.index("doc:crane.md")  # the best seed first
    assert found == ids(await ask(rep, "ferry timetable northern island", preset=Preset.NOTES, limit=50, strategy=Strategy.HYBRID))
    plain = await ask(rep, "ferry timetable northern island", strategy=Strategy.BM25, limit=50)
    assert "doc:tickets.md" not in ids(plain)


async def test_B04_a_neighbour_that_the_caller_may_not_see_stays_away(rep: Repertory) -> None:
    secret = note("secret.md", "Fares.", audience=frozenset({"crew"}))
    await rep.put(
        "notes", [_linked("ferry.md", "The ferry timetable.", "secret.md", "draft.md"), secret, note("draft.md", "x", tags=("old",))]
    )
    response = await rep.search(SearchRequest("ferry", preset=Preset.NOTES, strategy=Strategy.BM25), Principal.anyone())
    assert ids(response) == ["doc:ferry.md", "doc:draft.md"]
    tagged = await rep.search(SearchRequest("ferry", preset=Preset.NOTES, strategy=Strategy.BM25, tags=frozenset({"new"})))
    assert ids(tagged) == []


async def test_B05_recent_files_rise(rep: Repertory) -> None:
    now = datetime(2026, 6, 30, 12, tzinfo=UTC)
    ages = {"future": -5, "today": 0, "week": 7, "month": 30, "old": 31}
    await rep.put("notes", [note(f"{name}.md", "The ferry timetable.", modified=now - timedelta(days=age)) for name, age in ages.items()])
    await rep.put("undated", [note("undated.md", "The ferry timetable.")])
    rep._engine.clock = lambda: now
    response = await ask(rep, "ferry timetable", preset=Preset.NOTES, strategy=Strategy.BM25)
    factors = {result.entity.path: math.prod(boost.factor for boost in result.boosts) for result in response.results}
    assert factors == {"future.md": 1.2, "today.md": 1.2, "week.md": 1.2, "month.md": 1.1, "old.md": 1.0, "undated.md": 1.0}
    assert [result.score for result in response.results][3] == pytest.approx(1.1 / 1.2)


async def test_B08_depth_and_lane_weights(rep: Repertory, tmp_path: Path) -> None:
    for limit, depth in ((1, 10), (5, 10), (6, 12), (50, 100)):
        assert plan(SearchRequest("x", preset=Preset.NOTES, limit=limit), Filter()).depth == depth
    entries = [tool(f"box/lamp{n}", "Lights a room") for n in range(3)]
    async with repertory.open(tmp_path / "weighed", lane_weights={"bm25": 3.0, "vector": 0.5}) as weighed:
        await weighed.put("tools", entries)
        (first, *_) = (await ask(weighed, "room light", fusion=Fusion.RRF)).results
        assert {e.lane: e.contribution * (60 + (e.rank or 0)) for e in first.evidence} == {
            "bm25": pytest.approx(3.0),
            "vector": pytest.approx(0.5),
        }


SEEN_WITHIN = 2.0  # B11
SAME = "# Note\n\nNothing happens here.\n\n## Later\n\nNothing happens here either.\n"  # equal texts share a vector


@contextlib.asynccontextmanager
async def watched(folder: Path, catalog: Path) -> AsyncIterator[tuple[Repertory, list[IngestReport]]]:
    """A thousand files, watched, and what was reported since the first reading."""
    folder.mkdir()
    for position in range(1000):
        (folder / f"note{position}.md").write_text(SAME)
    reports: list[IngestReport] = []
    async with repertory.open(catalog) as rep:
        await rep.add(folder)
        watching = asyncio.ensure_future(rep.watch(tell=reports.append))
        await until(reports)
        yield rep, reports
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


async def seconds_until(rep: Repertory, query: str, holds: Callable[[list[str]], bool]) -> float:
    """How long it takes until a search by words finds what it should."""
    started = time.monotonic()
    while not holds(ids(await ask(rep, query, strategy=Strategy.BM25))):
        assert time.monotonic() - started < 30, "never seen"
        await asyncio.sleep(0.02)
    return time.monotonic() - started


async def until(reports: list[IngestReport]) -> IngestReport:
    """The report of one burst of changes."""
    for _ in range(600):
        if reports:
            return reports.pop()
        await asyncio.sleep(0.05)
    raise AssertionError("nothing was read again")


async def test_B11_changes_are_seen_within_two_seconds(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    async with watched(folder, tmp_path / "catalog") as (rep, reports):
        (folder / "new.md").write_text("# Ferry\n\nThe zeppelin leaves at noon.\n")
        assert await seconds_until(rep, "zeppelin", ["doc:notes/new.md"].__eq__) < SEEN_WITHIN
        assert (await until(reports)).embedded == 1

        (folder / "new.md").write_text("# Ferry\n\nThe submarine leaves at noon.\n")
        assert await seconds_until(rep, "submarine", ["doc:notes/new.md"].__eq__) < SEEN_WITHIN
        await until(reports)

        (folder / "new.md").rename(folder / "moved.md")
        assert await seconds_until(rep, "submarine", ["doc:notes/moved.md"].__eq__) < SEEN_WITHIN
        report = await until(reports)
        assert (report.moved, report.added, report.removed, report.embedded) == (1, 0, 0, 0)

        (folder / "moved.md").unlink()
        assert await seconds_until(rep, "submarine", [].__eq__) < SEEN_WITHIN
        assert (await until(reports)).removed == 1
        assert await rep.check() == []


async def test_B11_one_changed_section_embeds_one_chunk_and_a_touch_none(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    async with watched(folder, tmp_path / "catalog") as (_, reports):
        (folder / "note7.md").write_text(SAME.replace("either", "but a regatta"))
        report = await until(reports)
        assert (report.changed, report.documents, report.embedded) == (1, 1, 1)

        os.utime(folder / "note8.md")
        report = await until(reports)
        assert (report.documents, report.embedded) == (0, 0)


async def test_B11_a_dry_run_tells_what_a_reading_would_do_and_writes_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name in ("kept", "edited", "old", "dropped"):
        (folder / f"{name}.md").write_text(f"# About {name}\n\nWords of {name}.\n")
    async with repertory.open(tmp_path / "catalog", embedder="none") as rep:
        await rep.add(folder)
        before = rep.status()
        (folder / "edited.md").write_text("# About edited\n\nOther words.\n")
        (folder / "old.md").rename(folder / "renamed.md")
        (folder / "dropped.md").unlink()
        (folder / "fresh.md").write_text("# Fresh\n")
        tried = await rep.add(folder, dry_run=True)
        assert rep.status() == before
        done = await rep.add(folder)
        for report in (tried, done):
            told = (report.added, report.changed, report.moved, report.removed, report.unchanged)
            assert told == (1, 1, 1, 1, 1)
        assert (tried.dry_run, done.dry_run) == (True, False)
        assert rep.status() != before
