"""C. Tool catalogs."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from tests.catalogs import ask, ids, note, server, tool

import repertory
from repertory.app import Repertory
from repertory.errors import InvalidPattern, VectorsUnavailable
from repertory.indexes.encode import K1, B
from repertory.ingest.project import project
from repertory.model import Filter, Fusion, Kind, SearchRequest, Status, Strategy


async def test_C01_regex(rep: Repertory) -> None:
    entries = [tool("z/write_file", "Writes"), tool("a/read_file", "Reads"), tool("a/copy", "First read_file, then write_file")]
    await rep.put("tools", entries)
    response = await ask(rep, r"(read|write)_file", strategy=Strategy.REGEX)
    assert ids(response) == ["tool:a/read_file", "tool:z/write_file", "tool:a/copy"]  # by name first, in a stable order
    assert [result.score for result in response.results] == [1.0, 1.0, 1.0]
    assert ids(await ask(rep, "^read_file$", strategy=Strategy.REGEX)) == ["tool:a/read_file"]
    assert ids(await ask(rep, "READ", strategy=Strategy.REGEX)) == []  # raw text: case counts
    await rep.put("servers", [server("disk", "Files", details={"title": "Hard Disk"})])
    assert ids(await ask(rep, "Hard D", strategy=Strategy.REGEX)) == ["server:disk"]
    for bad in ("(", r"(?=x)", "a{2000}"):
        with pytest.raises(InvalidPattern, match="no regular expression"):
            await ask(rep, bad, strategy=Strategy.REGEX)
    with pytest.raises(InvalidPattern, match="at most 256"):
        await ask(rep, "a" * 300, strategy=Strategy.REGEX)


async def test_C01_regex_takes_linear_time(rep: Repertory) -> None:
    await rep.put("tools", [tool("a/evil", "a" * 50_000 + "b")])
    response = await ask(rep, "(a+)+$", strategy=Strategy.REGEX)
    assert response.took_ms < 1000


async def test_C02_bm25(rep: Repertory) -> None:
    texts = ["crane", "crane berth", "berth berth pilot", "pilot"]
    await rep.put("tools", [tool(f"t{n}/x{n}", text) for n, text in enumerate(texts)])
    response = await ask(rep, "berth", strategy=Strategy.BM25)
    assert ids(response) == ["tool:t2/x2", "tool:t1/x1"]
    assert response.results[0].score == 1.0
    raw = [result.evidence[0].score for result in response.results]
    assert response.results[1].score == pytest.approx(raw[1] / raw[0], abs=1e-4)
    idf = math.log(1 + (4 - 2 + 0.5) / (2 + 0.5))
    assert raw[0] < idf * (K1 + 1)
    assert (K1, B) == (1.2, 0.75)
    # Twice the word in a longer text still counts for more, but less than twice.
    assert 1 < raw[0] / raw[1] < 2


async def test_C03_embedding_is_exact_cosine(rep: Repertory) -> None:
    texts = ["Books a flight", "Waters the plants", "Finds a train connection", "Plays music"]
    await rep.put("tools", [tool(f"t/x{n}", text) for n, text in enumerate(texts)])
    response = await ask(rep, "travel by rail", strategy=Strategy.EMBEDDING)
    assert rep._embedder is not None
    entities = (await rep.entries())[0]
    vectors = (await rep._embedder.embed_documents([project(entity)[0].text for entity in entities])).vectors
    query = (await rep._embedder.embed_query("travel by rail")).vectors[0]
    expected = {entity.id: (float(np.dot(vector, query)) + 1) / 2 for entity, vector in zip(entities, vectors, strict=True)}
    assert ids(response) == sorted(expected, key=lambda entity_id: -expected[entity_id])
    for result in response.results:
        assert result.score == pytest.approx(expected[result.entity.id], abs=1e-5)


async def test_C03_a_threshold_applies_to_the_returned_score(rep: Repertory) -> None:
    await rep.put("tools", [tool("mail/send", "Send an e-mail message"), tool("zoo/feed", "Feed the lions")])
    every = await ask(rep, "send an e-mail", strategy=Strategy.EMBEDDING)
    high, low = (result.score for result in every.results)
    assert (high + low) / 2 > 0.5  # as a cosine, neither would pass it
    assert ids(await ask(rep, "send an e-mail", strategy=Strategy.EMBEDDING, min_score=(high + low) / 2)) == ["tool:mail/send"]


async def test_C04_rrf_of_bm25_and_embedding(rep: Repertory) -> None:
    await rep.put("tools", [tool(f"t/x{n}", f"Sends message number {n}") for n in range(100)])
    response = await ask(rep, "send a message", fusion=Fusion.RRF, limit=12)
    assert response.results[0].score == 1.0
    assert (response.lanes or {})["bm25"] == 36
    best = response.results[0]
    ranks = {evidence.lane: evidence.rank or 0 for evidence in best.evidence}
    contributions = {evidence.lane: evidence.contribution for evidence in best.evidence}
    assert contributions == {lane: pytest.approx(1 / (60 + rank)) for lane, rank in ranks.items()}


async def test_C05_insisting_on_vectors_fails_fast(tmp_path: Path) -> None:
    async with repertory.open(tmp_path, embedder="none") as rep:
        await rep.put("entries", [tool("box/lamp", "Lights a room")])
        with pytest.raises(VectorsUnavailable, match="no embedding model"):
            await ask(rep, "light", strategy=Strategy.EMBEDDING)
    async with repertory.open(tmp_path) as rep:  # there is a model now, but nothing is embedded yet
        with pytest.raises(VectorsUnavailable, match="nothing in the catalog has a vector"):
            await ask(rep, "light", strategy=Strategy.EMBEDDING)
        assert (await ask(rep, "light")).mode == "lexical-only"


async def test_C06_the_index_file_is_imported(rep: Repertory, tmp_path: Path) -> None:
    entry = {
        "tool": {"name": "read_file", "description": "Reads a file", "inputSchema": {"type": "object"}},
        "searchableText": "read_file Reads a file",
        "tokens": ["read", "file"],
        "embedding": [0.6, 0.8],
        "serverName": "disk",
    }
    content = {"version": "1.0", "createdAt": "2026-01-01", "embeddingProvider": "x", "embeddingDimensions": 2, "tools": [entry]}
    file = tmp_path / "index.json"
    file.write_text(json.dumps(content))
    report = await rep.add(file)
    assert (report.added, report.problems) == (1, [])
    entity = await rep.show("disk/read_file")
    assert entity.details["index"]["embedding"] == [0.6, 0.8]
    assert entity.details["index"]["file"]["embeddingProvider"] == "x"
    assert ids(await ask(rep, "read a file")) == ["tool:disk/read_file"]


async def test_C06_what_is_exported_comes_in_again_as_it_was(rep: Repertory, tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"path": {"type": "string", "description": "Which file"}}}
    about = {"title": "Read", "input_schema": schema, "output_schema": {"type": "string"}, "annotations": {"readOnlyHint": True}}
    more = {"tags": ("disk",), "metadata": {"team": "ops"}, "status": Status.BETA, "audience": frozenset({"a", "b"})}
    tools = [
        tool("disk/read_file", "Reads a file", details=about, **more),
        tool("disk/nothing", enabled=False),
        tool("net/get", "Gets «it»"),
    ]
    await rep.put("tools", [*tools, server("disk"), note("Manual", "Not a tool")])
    first = await rep.export()
    assert list(first) == ["version", "createdAt", "embeddingProvider", "embeddingDimensions", "tools"]
    assert [list(entry) for entry in first["tools"]] == [["tool", "searchableText", "tokens", "embedding", "serverName"]] * 3
    assert first["tools"][0]["tool"]["inputSchema"] == schema
    assert {len(entry["embedding"]) for entry in first["tools"]} == {first["embeddingDimensions"]}
    file = tmp_path / "export.json"
    file.write_text(json.dumps(first))
    async with repertory.open(tmp_path / "other") as other:
        report = await other.add(file)
        assert (report.added, report.problems) == (3, [])
        assert report.embedded == 0, "the vectors of the file are those of this model"
        assert report.waiting == 0
        assert await other.export() == first
        for wanted in tools:
            found = (await other.show(wanted.id)).as_json()
            for ours in ("index", "server"):
                found["details"].pop(ours)
            kept = {"id", "name", "description", "tags", "metadata", "status", "enabled", "audience"}
            assert {key: found[key] for key in kept} == {key: wanted.as_json()[key] for key in kept}
            assert found["details"] == {key: value for key, value in wanted.details.items() if key != "server"}
        found_by_meaning = await ask(other, "fetch something from the web", strategy=Strategy.EMBEDDING, include_disabled=True)
        assert ids(found_by_meaning)[0] == "tool:net/get"


async def test_C06_vectors_of_another_model_are_kept_for_the_export_and_made_anew_for_the_search(rep: Repertory, tmp_path: Path) -> None:
    def entry(name: str, embedding: list[float]) -> dict[str, object]:
        return {"tool": {"name": name, "x-own": [1]}, "searchableText": name, "tokens": [name], "embedding": embedding, "serverName": "s"}

    content = {"version": "2", "createdAt": "then", "embeddingProvider": "x", "embeddingDimensions": 2, "note": "ours"}
    content |= {"tools": [entry("one", [0.6, 0.8]), entry("two", [])]}
    (tmp_path / "index.json").write_text(json.dumps(content))
    report = await rep.add(tmp_path / "index.json")
    assert (report.embedded, report.waiting) == (2, 0)
    assert await rep.export() == content
    await rep.put("more", [tool("s/three", "Third")])
    mixed = await rep.export()
    assert mixed["embeddingProvider"] == rep.status()["model"]
    assert {len(entry["embedding"]) for entry in mixed["tools"]} == {mixed["embeddingDimensions"]}
    assert mixed["tools"][0]["tool"] == {"name": "one", "x-own": [1]}


async def test_C09_an_exact_name_is_first(rep: Repertory) -> None:
    crowd = [tool(f"box/file_{n}", "Reads the file, read file, file read, read_file") for n in range(60)]
    await rep.put("tools", [*crowd, tool("disk/read_file", "Opens"), tool("disk/readFileNow", "read file read file")])
    spellings = ["read_file", "read-file", "readFile", "read file", "READ_FILE", "disk/read_file", "disk.read_file", "disk__read_file"]
    for spelling in spellings:
        for strategy in (Strategy.HYBRID, Strategy.BM25, Strategy.KEYWORD, Strategy.EMBEDDING):
            response = await ask(rep, spelling, strategy=strategy, limit=5)
            assert response.results[0].entity.id == "tool:disk/read_file", (spelling, strategy)
            scores = [result.score for result in response.results]
            assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("strategy", [Strategy.HYBRID, Strategy.BM25, Strategy.KEYWORD, Strategy.EMBEDDING])
async def test_C09_short_and_common_names_are_names_too(rep: Repertory, strategy: Strategy) -> None:
    handbook = note("Calendar", *(f"About the calendar, part {n}: calendar, calendar." for n in range(12)))
    await rep.put("tools", [handbook, *(tool(f"sh/{name}", "Does something") for name in ("ls", "like", "on", "calendar"))])
    for name in ("ls", "like", "on", "sh/ls"):
        assert ids(await ask(rep, name, strategy=strategy))[0] == f"tool:sh/{name.removeprefix('sh/')}"
    assert set(ids(await ask(rep, "calendar", strategy=strategy))[:2]) == {"tool:sh/calendar", "doc:Calendar"}


async def test_C09_every_tool_of_the_examples_is_first_for_its_name(examples: Repertory) -> None:
    tools, total = await examples.entries(Filter(kinds=frozenset({Kind.TOOL})), limit=1000)
    assert total == 369  # without the drafts, and what is deprecated or disabled
    for entity in tools:
        for spelling in (entity.name, entity.path, entity.name.replace("_", " ")):
            found = (await examples.search(SearchRequest(spelling, limit=3))).results
            assert found[0].entity.id == entity.id, spelling
