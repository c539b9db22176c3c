from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text
from tests.catalogs import tool

import repertory
from repertory.errors import CatalogFormat
from repertory.indexes.features import dimension
from repertory.model import Status
from repertory.store import Store

MODIFIED = datetime(2026, 3, 1, 12, tzinfo=UTC)
TOOLS = [
    tool("mail/send", "Sends a letter to the harbour master, the letter of Café José in utf8 with getUserName"),
    tool("mail/read", "Reads one letter; 天気予報 погода", modified=MODIFIED),
]


async def test_the_vocabulary_follows_what_comes_changes_and_goes(tmp_path: Path) -> None:
    async with repertory.open(tmp_path, embedder="none") as rep:
        await rep.put("tools", TOOLS)
        words = rep._store.words()
        assert {word: words.get(word) for word in ("letter", "mail", "harbour", "cafe", "jose", "погода", "user")} == {
            "letter": 2,
            "mail": 2,
            "harbour": 1,
            "cafe": 1,
            "jose": 1,
            "погода": 1,
            "user": 1,
        }
        assert not {"the", "one", "utf8", "utf", "getusername", "天気"} & words.keys()
        assert list(words)[:2] == ["letter", "mail"]
        assert list(rep._store.words(least=2, limit=1)) == ["letter"]
        await rep.put("tools", [tool("mail/send", "Sends a parcel"), TOOLS[1]])
        words = rep._store.words()
        assert (words["letter"], words["mail"], words["parcel"], "harbour" in words) == (1, 2, 1, False)
        await rep.put("tools", [])
        assert rep._store.words() == {}


async def test_the_store_knows_when_an_entity_was_modified(tmp_path: Path) -> None:
    async with repertory.open(tmp_path, embedder="none") as rep:
        await rep.put("tools", TOOLS)
        assert rep._store.modified(["tool:mail/send", "tool:mail/read", "tool:none"]) == {"tool:mail/read": MODIFIED}


@pytest.mark.parametrize("killed", [False, True])
async def test_a_catalog_of_format_2_is_migrated(tmp_path: Path, killed: bool) -> None:
    async with repertory.open(tmp_path, embedder="none") as rep:
        await rep.put("tools", TOOLS)
        words = rep._store.words()
    if killed:
        _execute(tmp_path, "UPDATE documents SET words = ''", "UPDATE entities SET modified = NULL", "UPDATE words SET documents = 7")
    else:
        _execute(tmp_path, "ALTER TABLE documents DROP COLUMN words", "ALTER TABLE entities DROP COLUMN modified", "DROP TABLE words")
    _execute(tmp_path, "UPDATE facts SET value = :format WHERE name = 'format'", format="2")
    async with repertory.open(tmp_path, embedder="none") as rep:
        assert rep._store.words() == words
        assert rep._store.modified(["tool:mail/read"]) == {"tool:mail/read": MODIFIED}
        assert (await rep.put("tools", TOOLS)).unchanged == 2
        await rep.put("tools", [])
        assert rep._store.words() == {}


async def test_grams_are_counted_as_terms_are(tmp_path: Path) -> None:
    letter, harbour = dimension("lett"), dimension("arbo")
    async with repertory.open(tmp_path, embedder="none") as rep:
        await rep.put("tools", TOOLS)
        assert rep._store.gram_frequencies([letter, harbour, dimension("wxyz")]) == {letter: 2, harbour: 1}
        await rep.put("tools", [tool("mail/send", "Sends a parcel"), TOOLS[1]])
        assert rep._store.gram_frequencies([letter, harbour]) == {letter: 1}


async def test_a_catalog_of_format_4_learns_its_grams(tmp_path: Path) -> None:
    async with repertory.open(tmp_path, embedder="none") as rep:
        await rep.put("tools", TOOLS)
    counted = _rows(tmp_path, "SELECT dimension, documents FROM grams ORDER BY dimension")
    _execute(tmp_path, "ALTER TABLE documents DROP COLUMN grams", "DROP TABLE grams", "UPDATE facts SET value = '4' WHERE name = 'format'")
    async with repertory.open(tmp_path, embedder="none") as rep:
        assert _rows(tmp_path, "SELECT dimension, documents FROM grams ORDER BY dimension") == counted
        await rep.put("tools", [])
    assert _rows(tmp_path, "SELECT dimension FROM grams") == []


async def test_a_catalog_of_format_6_has_its_grams_cut_anew(tmp_path: Path) -> None:
    everything = "SELECT number, grams FROM documents ORDER BY number", "SELECT dimension, documents FROM grams ORDER BY dimension"
    async with repertory.open(tmp_path, embedder="none") as rep:
        await rep.put("tools", TOOLS)
    as_written = [_rows(tmp_path, rows) for rows in everything]
    _execute(
        tmp_path,
        "UPDATE documents SET grams = ''",
        "UPDATE grams SET dimension = dimension + 1",
        "UPDATE facts SET value = '6' WHERE name = 'format'",
    )
    async with repertory.open(tmp_path, embedder="none"):
        assert [_rows(tmp_path, rows) for rows in everything] == as_written


TALLIES = "SELECT bucket, documents, length FROM tallies ORDER BY bucket"
NAMES = "SELECT name, documents FROM short_names ORDER BY name"


async def test_documents_and_short_names_are_counted_as_they_come_and_go(tmp_path: Path) -> None:
    shown = [tool("go/ls", "Lists files"), tool("go/cp", "Copies a file")]
    hidden = tool("go/rm", "Removes a file", status=Status.DRAFT)
    async with repertory.open(tmp_path, embedder="none") as rep:
        await rep.put("tools", [*shown, hidden])
        seen = rep._store.snapshot()
        counted = "SELECT bucket, count(*), sum(length) FROM documents GROUP BY bucket ORDER BY bucket"
        assert _rows(tmp_path, TALLIES) == _rows(tmp_path, counted)
        assert (sorted(seen.counts.values()), set(seen.short_names)) == ([1, 2], {"go", "ls", "cp", "rm"})
        await rep.put("tools", [shown[0], tool("go/cp", "Copies a file in many more words than before")])
        seen = rep._store.snapshot()
        assert _rows(tmp_path, TALLIES) == _rows(tmp_path, counted)
        assert (list(seen.counts.values()), set(seen.short_names)) == ([2], {"go", "ls", "cp"})
        await rep.put("tools", [])
        assert (_rows(tmp_path, TALLIES), _rows(tmp_path, NAMES)) == ([], [])


async def test_a_catalog_of_format_5_is_counted_when_it_is_opened(tmp_path: Path) -> None:
    async with repertory.open(tmp_path, embedder="none") as rep:
        await rep.put("tools", [*TOOLS, tool("go/ls", "Lists files")])
    before = [_rows(tmp_path, TALLIES), _rows(tmp_path, NAMES)]
    _execute(tmp_path, "DROP TABLE tallies", "UPDATE short_names SET documents = 7", "UPDATE facts SET value = '5' WHERE name = 'format'")
    async with repertory.open(tmp_path, embedder="none"):
        assert [_rows(tmp_path, TALLIES), _rows(tmp_path, NAMES)] == before


@pytest.mark.parametrize("format", ["1", "99"])
def test_a_catalog_of_an_unknown_format_is_refused(tmp_path: Path, format: str) -> None:
    Store.at(tmp_path).close()
    _execute(tmp_path, "UPDATE facts SET value = :format WHERE name = 'format'", format=format)
    with pytest.raises(CatalogFormat, match=f"has format {format}"):
        Store.at(tmp_path)


def _execute(directory: Path, *statements: str, **values: str) -> None:
    engine = create_engine(f"sqlite:///{directory / 'catalog.db'}")
    with engine.begin() as connection:
        for statement in statements:
            connection.execute(text(statement), values)
    engine.dispose()


def _rows(directory: Path, statement: str) -> list[tuple[Any, ...]]:
    with create_engine(f"sqlite:///{directory / 'catalog.db'}").connect() as connection:
        return [tuple(row) for row in connection.execute(text(statement))]
