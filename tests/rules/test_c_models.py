"""C07, C08. Models are interchangeable."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import create_engine, text
from tests.catalogs import ask, ids, tool

import repertory
from repertory.app import Repertory
from repertory.embedders.onnx import MINILM
from repertory.embedders.static import POTION
from repertory.model import Entity, SearchRequest, SearchResponse, Strategy

VERBS = "create delete translate paint photograph measure repair print sell insure".split()
NOUNS = "invoice volcano guitar passport database forest sandwich airplane poem bridge".split()
QUERIES = ["make a picture of a mountain", "take out a policy for a flight", "put a song into French", "get rid of trees"]
TOOLS: list[Entity] = [tool(f"{noun}{n}/{verb}", f"{verb} the {noun}, way {n}") for n in range(3) for noun in NOUNS for verb in VERBS]
LATE = tool("late/comer", "Brews an espresso")
MODELS = {"onnx": MINILM.name, "static": POTION.name}


async def answers(rep: Repertory) -> list[list[tuple[str, float]]]:
    """What is found by vectors alone and by all lanes, with scores: they are a model's own."""
    ways = (Strategy.EMBEDDING, Strategy.HYBRID)
    found = [await rep.search(SearchRequest(query, strategy=way)) for query in QUERIES for way in ways]
    return [[(result.entity.id, result.score) for result in response.results] for response in found]


def codes(response: SearchResponse) -> list[str]:
    return [note.code for note in response.diagnostics]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same catalog, made with each of the bundled models."""
    directory = tmp_path_factory.mktemp("made")

    async def build() -> None:
        for embedder in MODELS:
            async with repertory.open(directory / embedder, embedder=embedder) as rep:
                await rep.put("tools", TOOLS)

    asyncio.run(build())
    return {embedder: directory / embedder for embedder in MODELS}


async def answers_of(catalog: Path, embedder: str) -> list[list[tuple[str, float]]]:
    async with repertory.open(catalog, embedder=embedder) as rep:
        return await answers(rep)


def models_in(catalog: Path) -> list[str]:
    """The model of each vector that the catalog has."""
    engine = create_engine(f"sqlite:///{catalog / 'catalog.db'}")
    with engine.connect() as connection:
        found = list(connection.execute(text("SELECT model FROM embeddings")).scalars())
    engine.dispose()
    return found


@pytest.mark.parametrize(("old", "new"), [("onnx", "static"), ("static", "onnx")])
async def test_C07_the_old_model_answers_until_the_new_one_can(tmp_path: Path, made: dict[str, Path], old: str, new: str) -> None:
    catalog = Path(shutil.copytree(made[old], tmp_path / "catalog"))
    before, after = await answers_of(made[old], old), await answers_of(made[new], new)
    assert before != after
    for _ in range(2):  # closing in the middle changes nothing
        async with repertory.open(catalog, embedder=new) as rep:
            assert await answers(rep) == before
            response = await ask(rep, QUERIES[0])
            assert codes(response) == ["model_changing"]
            assert f"0 of 300 texts have vectors of {MODELS[new]}; {MODELS[old]} answers" in response.diagnostics[0].message
            assert "model_changing" not in codes(await ask(rep, QUERIES[0], strategy=Strategy.BM25))  # words know no model
            assert rep.status()["model"] == MODELS[old]
            assert rep.status()["changing"] == {"from": MODELS[old], "to": MODELS[new], "texts": 300, "left": 300}
            assert await rep.waiting() == 300
            assert await rep.check() == []
    async with repertory.open(catalog, embedder=new) as rep:
        await rep.embed()
        assert await answers(rep) == after
        response = await ask(rep, QUERIES[0])
        assert "model_changing" not in codes(response)
        assert rep.status()["model"] == MODELS[new]
        assert rep.status()["changing"] is None
        assert await rep.check() == []
        await rep.put("late", [LATE])  # written to where it is searched
        assert ids(await ask(rep, "make some coffee", strategy=Strategy.EMBEDDING))[0] == LATE.id
        await rep.put("late", [])
    assert set(models_in(catalog)) == {MODELS[new]}
    assert len(list(catalog.glob("index*"))) == 1
    assert await answers_of(catalog, new) == after


async def test_C07_what_comes_in_meanwhile_is_known_to_the_model_that_answers(tmp_path: Path, made: dict[str, Path]) -> None:
    catalog = Path(shutil.copytree(made["static"], tmp_path / "catalog"))
    first = asyncio.Event()
    async with repertory.open(catalog, embedder="onnx") as rep:
        adding = asyncio.create_task(rep.put("late", [LATE], lambda *_: first.set()))
        await first.wait()
        assert rep.status()["changing"]["left"] == 301 - 256
        assert ids(await ask(rep, "make some espresso", strategy=Strategy.EMBEDDING))[0] == LATE.id
        assert ids(await ask(rep, TOOLS[0].description))[0] == TOOLS[0].id
        await rep.put("tools", TOOLS[1:], embed=False)  # and what leaves is found no more
        assert TOOLS[0].id not in ids(await ask(rep, TOOLS[0].description, limit=50))
        assert (await adding).waiting == 0
        assert rep.status()["model"] == MINILM.name
        assert ids(await ask(rep, "make some espresso", strategy=Strategy.EMBEDDING))[0] == LATE.id
        assert await rep.check() == []


async def test_C07_and_back(tmp_path: Path, made: dict[str, Path]) -> None:
    catalog = Path(shutil.copytree(made["onnx"], tmp_path / "catalog"))
    before = await answers_of(catalog, "onnx")
    async with repertory.open(catalog, embedder="static") as rep:
        await rep.embed()
    async with repertory.open(catalog, embedder="onnx") as rep:
        assert rep.status()["model"] == POTION.name
        await rep.embed()
        assert await answers(rep) == before
    async with repertory.open(catalog, embedder="static") as rep:  # changed one's mind before anything was done
        assert rep.status()["changing"]
    async with repertory.open(catalog, embedder="onnx") as rep:
        assert rep.status()["changing"] is None
        assert await answers(rep) == before


async def test_C07_a_search_never_sees_half_a_change(tmp_path: Path, made: dict[str, Path]) -> None:
    catalog = Path(shutil.copytree(made["onnx"], tmp_path / "catalog"))
    allowed = [await answers_of(made[embedder], embedder) for embedder in MODELS]
    async with repertory.open(catalog, embedder="static", answer_cache=0) as rep:
        embedding = asyncio.create_task(rep.embed())
        seen = []
        while not embedding.done():
            seen.append(await asyncio.gather(*(rep.search(SearchRequest(query, strategy=Strategy.HYBRID)) for query in QUERIES)))
        assert await embedding == 300
    assert len(seen) > 2
    for round_ in seen:
        for position, response in enumerate(round_):
            found = [(result.entity.id, result.score) for result in response.results]
            assert found in [one[2 * position + 1] for one in allowed]


KILLED = """
import asyncio, os, signal, sys
import repertory
from repertory.ingest import change
from repertory.store import Store

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

catalog, moment = sys.argv[1:]
if moment == "built":
    change.remember = die  # the other index is whole, and nobody knows of it
elif moment == "taken over":
    Store.prune_embeddings = die

async def main():
    async with repertory.open(catalog, embedder="onnx") as rep:
        await rep.embed(die if moment == "embedding" else lambda *_: None)

asyncio.run(main())
"""


@pytest.mark.parametrize("moment", ["embedding", "built", "taken over"])
async def test_C07_killed_in_the_middle_the_next_process_goes_on(tmp_path: Path, made: dict[str, Path], moment: str) -> None:
    catalog = Path(shutil.copytree(made["static"], tmp_path / "catalog"))
    before, after = await answers_of(made["static"], "static"), await answers_of(made["onnx"], "onnx")
    killed = await asyncio.create_subprocess_exec(sys.executable, "-c", KILLED, str(catalog), moment)
    assert await killed.wait() == -signal.SIGKILL
    async with repertory.open(catalog, embedder="onnx") as rep:
        assert await rep.check() == []
        if moment == "embedding":
            assert await answers(rep) == before
            assert "256 of 300" in (await ask(rep, QUERIES[0])).diagnostics[0].message
            assert await rep.embed() == 44
        assert await answers(rep) == after
        assert rep.status()["changing"] is None
    assert len(list(catalog.glob("index*"))) == 1


async def test_C07_vectors_that_nothing_needs_go_when_the_index_is_built_anew(tmp_path: Path) -> None:
    async with repertory.open(tmp_path, embedder="static", expansion=True) as rep:
        await rep.put("tools", TOOLS[:40])
        await rep.put("tools", TOOLS[10:40])
        concepts = rep._store.concepts(POTION.name)
        assert len(models_in(tmp_path)) > 30 + len(concepts)
        await rep.rebuild()
        assert len(models_in(tmp_path)) == 30 + len(concepts)
        assert all(vector is not None for vector in rep._store.concepts(POTION.name).values())
        assert await rep.waiting() == 0
        assert await rep.check() == []


async def test_C07_where_the_old_model_is_gone_the_new_one_answers_with_what_it_has(tmp_path: Path) -> None:
    model = tmp_path / "model"
    model.mkdir()
    shutil.copy(MINILM.model_path, model / "model.onnx")
    shutil.copy(MINILM.tokenizer_path, model / "tokenizer.json")
    own: dict[str, Any] = {"embedder_file": model, "embedder_dimensions": 384}
    async with repertory.open(tmp_path / "catalog", **own) as rep:
        await rep.put("tools", TOOLS[:30])
    async with repertory.open(tmp_path / "catalog", embedder="static") as rep:
        assert rep.status()["changing"]["from"].startswith("model/")  # a file can be opened again
    shutil.rmtree(model)
    async with repertory.open(tmp_path / "catalog", embedder="static") as rep:
        assert rep.status()["changing"] is None
        response = await ask(rep, "a song")
        assert response.mode == "lexical-only"
        assert await rep.embed() == 30
        assert (await ask(rep, "a song")).mode != "lexical-only"


async def test_C07_query_and_document_are_embedded_as_the_model_wants_it(tmp_path: Path) -> None:
    prefixes = {"embedder_query_prefix": "query: ", "embedder_document_prefix": "passage: "}
    own: dict[str, Any] = {"embedder_file": MINILM.model_path, "embedder_dimensions": 384, **prefixes}
    async with repertory.open(tmp_path / "plain") as plain, repertory.open(tmp_path / "own", **own) as rep:
        assert plain._embedder is not None
        assert rep._embedder is not None
        asked, read = (await plain._embedder.embed_documents(["query: weather", "passage: weather"])).vectors
        np.testing.assert_allclose((await rep._embedder.embed_query("weather")).vectors[0], asked, atol=1e-5)
        np.testing.assert_allclose((await rep._embedder.embed_documents(["weather"])).vectors[0], read, atol=1e-5)
        assert rep._embedder.model != plain._embedder.model


async def test_C08_indexing_can_skip_embeddings(rep: Repertory, tmp_path: Path) -> None:
    report = await rep.put("tools", TOOLS[:20], embed=False)
    assert (report.embedded, report.waiting, report.excuse) == (0, 20, "")
    response = await ask(rep, "photograph the volcano")
    assert response.mode == "lexical-only"
    assert ids(response)
    (tmp_path / "note.md").write_text("# Espresso\n\nHow to brew it.\n")
    report = await rep.add(tmp_path / "note.md", embed=False)
    assert (report.embedded, report.waiting) == (0, 21)
    report = await rep.add(tmp_path / "note.md")  # the next run embeds all that waits
    assert (report.embedded, report.waiting) == (21, 0)


async def test_C08_a_serving_process_warms_its_model_and_embeds_what_waits(rep: Repertory) -> None:
    await rep.put("tools", TOOLS[:20], embed=False)
    model: Any = rep._embedder
    while hasattr(model, "_embedder"):
        model = model._embedder
    assert not model._loaded
    await rep.warm()
    assert model._loaded
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(rep.keep_embedding(), 5)  # it never ends by itself
    assert await rep.waiting() == 0


async def test_C08_any_quantised_file_can_be_chosen(tmp_path: Path, made: dict[str, Path]) -> None:
    own: dict[str, Any] = {"embedder_file": MINILM.model_path, "embedder_dimensions": 384}
    async with repertory.open(tmp_path / "catalog", **own) as rep:
        await rep.put("tools", TOOLS)
        assert await rep.check() == []
        found = ids(await ask(rep, QUERIES[0], strategy=Strategy.EMBEDDING))
        assert rep.status()["model"].startswith(f"{MINILM.model_path.name}/")
    async with repertory.open(made["onnx"]) as rep:
        assert ids(await ask(rep, QUERIES[0], strategy=Strategy.EMBEDDING)) == found


async def test_F01_a_model_without_calibration_is_not_judged(tmp_path: Path, made: dict[str, Path]) -> None:
    nonsense = "zoning appeal hearing minutes"
    async with repertory.open(made["onnx"]) as rep:
        assert (await ask(rep, nonsense)).confidence is not None
    async with repertory.open(made["static"], embedder="static") as rep:
        response = await ask(rep, nonsense)
        assert response.confidence is None
        assert not response.abstained
        assert all(result.confidence is None for result in response.results)
