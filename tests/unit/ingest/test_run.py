from __future__ import annotations

import asyncio
import json
import os
import tracemalloc
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.catalogs import ask, ids, tool

import repertory
from repertory.app import Repertory
from repertory.errors import InvalidRequest, SourceError
from repertory.indexes.base import Point
from repertory.indexes.edge import EdgeIndex

NOTE = """# Harbour guide

The harbour has four berths and a crane that lifts forty tons, which is enough for every container that we handle. Ask the harbour master
before you move it, because the rails under it are shared with the ferry terminal and its timetable is tight in summer.

## Tides

High water is announced twice a day on channel nine. Ships that draw more than six metres wait for it outside, near the green buoy, and
come in with a pilot. The pilot boards from the north and wants coffee, which we keep on the upper shelf in the office kitchen.

## Fees

A berth costs forty euros a night, electricity included. Fees are paid in the office or by transfer; the reference is the name of the ship
and the day of arrival. Reminders go out after two weeks, and after four weeks the crane stays where it is until the bill is paid.
"""


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "harbour.md").write_text(NOTE)
    (folder / "other.md").write_text("# Other\n\nNothing of interest, see [the guide](harbour.md).\n")
    return folder


async def test_a_second_run_changes_nothing(rep: Repertory, notes: Path) -> None:
    first = await rep.add(notes)
    assert (first.added, first.embedded) == (2, 4)
    second = await rep.add(notes)
    assert (second.added, second.changed, second.removed, second.unchanged, second.embedded) == (0, 0, 0, 2, 0)
    assert second.revision == first.revision


async def test_one_changed_section_embeds_one_chunk(rep: Repertory, notes: Path) -> None:
    await rep.add(notes)
    (notes / "harbour.md").write_text(NOTE.replace("channel nine", "channel eleven"))
    report = await rep.add(notes)
    assert (report.changed, report.unchanged, report.documents, report.embedded) == (1, 1, 1, 1)
    assert ids(await ask(rep, "channel eleven"))[0] == "doc:notes/harbour.md"


async def test_a_touch_embeds_nothing(rep: Repertory, notes: Path) -> None:
    await rep.add(notes)
    os.utime(notes / "harbour.md", (1, 1))
    report = await rep.add(notes)
    assert (report.changed, report.documents, report.embedded) == (1, 0, 0)


async def test_a_moved_file_is_not_embedded_again(rep: Repertory, notes: Path) -> None:
    await rep.add(notes)
    (notes / "harbour.md").rename(notes / "port.md")
    report = await rep.add(notes)
    assert (report.moved, report.added, report.removed, report.embedded) == (1, 0, 0, 0)
    assert "doc:notes/port.md" in ids(await ask(rep, "tides"))
    assert await rep.check() == []


async def test_what_a_source_no_longer_holds_leaves_the_catalog(rep: Repertory, notes: Path) -> None:
    await rep.add(notes)
    for file in notes.iterdir():
        file.unlink()
    report = await rep.add(notes)
    assert report.removed == 2
    assert rep.status()["documents"] == 0
    assert await rep.check() == []


async def test_entries_of_a_file_that_became_unreadable_stay(rep: Repertory, tmp_path: Path) -> None:
    folder = tmp_path / "tools: mine"
    folder.mkdir()
    file = folder / "a:1.json"
    file.write_text(json.dumps({"tools": [{"name": "lamp", "inputSchema": {}}]}))
    (folder / "b.json").write_text(json.dumps({"tools": [{"name": "torch", "inputSchema": {}}]}))
    await rep.add(folder)
    file.write_text('{"tools": [{"name": "lamp", "inputSchema": ')
    (folder / "b.json").unlink()
    report = await rep.add(folder)
    assert [problem.file for problem in report.problems] == [str(file)]
    assert report.removed == 1
    assert [entity.name for entity in (await rep.entries())[0]] == ["lamp"]


async def test_one_id_in_two_files_is_a_problem_and_the_first_stays(rep: Repertory, tmp_path: Path) -> None:
    for name in ("a", "b"):
        described = {"name": "lamp", "description": f"from {name}", "inputSchema": {}}
        (tmp_path / f"{name}.json").write_text(json.dumps({"tools": [described]}))
    (report_problem,) = (await rep.add(tmp_path)).problems
    assert report_problem.file == str(tmp_path / "b.json")
    assert str(tmp_path / "a.json") in report_problem.message
    assert [entity.description for entity in (await rep.entries())[0]] == ["from a"]


async def test_a_source_does_not_take_over_what_another_brought(rep: Repertory) -> None:
    await rep.put("first", [tool("box/lamp", "mine")])
    report = await rep.put("second", [tool("box/lamp", "yours"), tool("box/torch", "yours")])
    assert [problem.message.split(";")[0] for problem in report.problems] == ["tool:box/lamp already comes from the source 'first'"]
    assert {entity.id: entity.description for entity in (await rep.entries())[0]} == {"tool:box/lamp": "mine", "tool:box/torch": "yours"}


async def test_folders_of_one_name_are_two_sources(rep: Repertory, tmp_path: Path) -> None:
    for place in ("here", "there"):
        folder = tmp_path / place / "notes"
        folder.mkdir(parents=True)
        (folder / "page.md").write_text(f"# Page\n\nWritten {place}.\n")
        await rep.add(folder)
    assert [source.name for source in await rep.sources()] == ["notes", "notes-2"]
    assert [entity.id for entity in (await rep.entries())[0]] == ["doc:notes/page.md", "doc:notes-2/page.md"]


async def test_nothing_to_add_is_an_error_that_says_so(rep: Repertory, tmp_path: Path) -> None:
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    with pytest.raises(SourceError, match="Nothing to add"):
        await rep.add(tmp_path)
    assert await rep.sources() == []


async def test_links_become_edges(rep: Repertory, notes: Path) -> None:
    await rep.add(notes)
    assert [tuple(edge) for edge in await rep.edges("doc:notes/harbour.md")] == [
        ("doc:notes/other.md", "links_to", "doc:notes/harbour.md"),
    ]


async def test_progress_is_told(rep: Repertory, notes: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    await rep.add(notes, lambda *step: seen.append(step))
    assert seen[:2] == [("Reading", 1, 2), ("Reading", 2, 2)]
    assert seen[-1] == ("Embedding", 4, 4)


async def test_a_duplicate_does_not_keep_what_else_left_its_file(rep: Repertory, tmp_path: Path) -> None:
    def write(name: str, *tools: str) -> None:
        (tmp_path / name).write_text(json.dumps({"tools": [{"name": tool_, "inputSchema": {}} for tool_ in tools]}))

    write("a.json", "twice")
    write("b.json", "twice", "zebra")
    await rep.add(tmp_path)
    write("b.json", "twice")
    assert (await rep.add(tmp_path)).removed == 1
    assert [entity.name for entity in (await rep.entries())[0]] == ["twice"]


async def test_a_name_belongs_to_one_place(rep: Repertory, notes: Path) -> None:
    await rep.add(notes)
    with pytest.raises(InvalidRequest, match="another source"):
        await rep.put("notes", [tool("box/lamp")])
    assert rep.status()["documents"] == 4


async def test_a_writer_who_is_cancelled_keeps_its_place_until_it_is_done(rep: Repertory) -> None:
    many = [tool(f"box/tool{n}", "Lights a room") for n in range(400)]
    first = asyncio.create_task(rep.put("first", many))
    await asyncio.sleep(0.05)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    await rep.put("second", [tool("other/torch", "Lights the way")])
    assert await rep.check() == []
    assert rep.status()["documents"] == 401


async def test_a_long_word_costs_little(rep: Repertory) -> None:
    tracemalloc.start()
    await rep.put("tools", [tool("box/blob", "abcdef0123456789" * 5000)])
    assert tracemalloc.get_traced_memory()[1] < 50_000_000
    tracemalloc.stop()


async def test_a_failed_re_encoding_is_made_good(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short = [tool(f"box/t{n}", "Lamp") for n in range(20)]
    long = [tool(f"box/long{n}", "Lights a room and many other things besides " * 20) for n in range(20)]
    async with repertory.open(tmp_path, embedder="none") as rep:
        await rep.put("short", short)
        put, calls = EdgeIndex.put, iter(range(100))

        def fails_later(self: EdgeIndex, points: Sequence[Point]) -> None:
            if next(calls) == 1:  # the new documents go in; encoding the old ones anew fails
                raise OSError("disk full")
            put(self, points)

        monkeypatch.setattr(EdgeIndex, "put", fails_later)
        with pytest.raises(OSError, match="disk full"):
            await rep.put("long", long)
        monkeypatch.undo()
    async with repertory.open(tmp_path, embedder="none") as rep:
        assert await rep.check() == []
        assert rep.status()["documents"] == 40
