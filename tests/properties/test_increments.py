"""Is a folder that was read change by change found as one that was read at once?"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.holdings import answered, held

import repertory
from repertory.app import Repertory

WORDS = "parcel track invoice harbour crane calendar S3 get_user погода café".split()
TEXT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
NOTES = [f"notes/{name}.md" for name in ("one", "two", "three", "four")]
TOOLS = ["tools/port.json", "tools/office.json"]


@st.composite
def notes(draw: st.DrawFn) -> str:
    """A Markdown file: some sections, a tag, and perhaps a link to another."""
    sections = draw(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=3))
    tag, link = draw(st.sampled_from(["ships", "paper"])), draw(st.sampled_from(["", "[[one]]", "[see](two.md)"]))
    return f"---\ntags: [{tag}]\n---\n" + "\n\n".join(f"# {heading}\n\n{text} {link}" for heading, text in sections)


@st.composite
def tools(draw: st.DrawFn) -> str:
    """A tool file: none to three tools."""
    told = draw(st.lists(st.tuples(st.sampled_from(WORDS), TEXT), max_size=3, unique_by=lambda one: one[0]))
    schema = {"type": "object", "properties": {"parcel_id": {"type": "string"}}, "required": ["parcel_id"]}
    return json.dumps({"tools": [{"name": f"do_{name}", "description": text, "inputSchema": schema} for name, text in told]})


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.sampled_from(NOTES), notes()),
        st.tuples(st.just("write"), st.sampled_from(TOOLS), tools()),
        st.tuples(st.just("delete"), st.sampled_from(NOTES + TOOLS), st.just("")),
        st.tuples(st.just("touch"), st.sampled_from(NOTES + TOOLS), st.just("")),
        st.tuples(st.just("rename"), st.sampled_from(NOTES), st.sampled_from(NOTES)),
    ),
    min_size=2,
    max_size=6,
)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(STEPS)
def test_a_folder_read_by_increments_is_one_read_at_once(steps: list[tuple[str, str, str]]) -> None:
    async def check(place: Path) -> None:
        folder = place / "folder"
        _do(folder, "write", "anchor.md", "# Anchor\n\nwhat always stays")
        async with repertory.open(place / "increments") as rep:
            await rep.add(folder)
            for step in steps:
                _do(folder, *step)
                await rep.add(folder)
                assert await rep.check() == []
                assert await rep.waiting() == 0
            stepwise = await _answers(rep)
        async with repertory.open(place / "at once") as rep:
            await rep.add(folder)
            assert await rep.check() == []
            assert await _answers(rep) == stepwise
        assert held(place / "increments") == held(place / "at once")

    with tempfile.TemporaryDirectory() as place:
        asyncio.run(check(Path(place)))


async def _answers(rep: Repertory) -> object:
    """What removed points count in the engine's IDF until it lets them go, which it does at its own time; so both let go first."""
    await rep.rebuild()
    return await answered(rep, ["track a parcel", "harbour crane", "S3", "погода", "do_invoice"])


def _do(folder: Path, what: str, name: str, more: str) -> None:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    if what == "write":
        file.write_text(more)
        os.utime(file, (1_700_000_000, 1_700_000_000))  # entries carry the time, and both catalogs shall see the same
    elif file.exists():
        if what == "delete":
            file.unlink()
        elif what == "touch":
            os.utime(file, (1_800_000_000, 1_800_000_000))
        else:
            file.replace(folder / more)
