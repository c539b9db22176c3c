"""B. Markdown knowledge."""

from __future__ import annotations

import pytest
from tests.catalogs import ask, ids, note

from repertory.app import Repertory
from repertory.ingest.project import project
from repertory.model import Strategy


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
