"""Does the page about the graph do what it says? Every block of it is executed."""

from __future__ import annotations

import re
from pathlib import Path

from tests.docs.test_readme import ROOT, run

import repertory

PAGE = (ROOT / "docs" / "graph.md").read_text("utf-8")


def test_the_commands_and_the_picture_of_the_page(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (script,) = re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (picture,) = re.findall(r"^```mermaid\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    done = run(f"export REPERTORY_EMBEDDER=none\n{script}", tmp_path)
    assert done.returncode == 0, done.stderr
    assert picture in done.stdout
    assert (tmp_path / "graph.jsonld").exists()


async def test_the_edges_of_the_page_are_read(tmp_path: Path) -> None:
    (page,) = re.findall(r"^````markdown\n(.*?)^````", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "calendar.md").write_text(page)
    (tmp_path / "notes" / "onboarding.md").write_text("# Onboarding\n")
    async with repertory.open(tmp_path / "catalog", embedder="none") as rep:
        assert (await rep.add(ROOT / "examples" / "catalog")).problems == []
        assert (await rep.add(tmp_path / "notes")).problems == []
        relations = {edge.relation for one in ("server:calendar", "tool:calendar/create_event") for edge in await rep.edges(one)}
        assert {"covers", "follows"} <= relations
