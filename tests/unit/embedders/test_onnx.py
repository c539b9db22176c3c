from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from repertory.embedders.onnx import MINILM, OnnxEmbedder
from repertory.errors import EmbedderError


@pytest.fixture
async def embedder() -> AsyncIterator[OnnxEmbedder]:
    made = OnnxEmbedder()
    yield made
    await made.close()


PERSON = "That is a happy person"
EXPECTED = {"That is a happy dog": 0.695, "That is a very happy person": 0.943, "Today is a sunny day": 0.257}


async def test_queries_agree_with_the_figures_of_the_full_model_as_far_as_int8_goes(embedder: OnnxEmbedder) -> None:
    assert await _query_cosines(embedder) == pytest.approx(list(EXPECTED.values()), abs=0.05)


async def _query_cosines(embedder: OnnxEmbedder) -> list[float]:
    person = (await embedder.embed_query(PERSON)).vectors[0]
    return [float((await embedder.embed_query(text)).vectors[0] @ person) for text in EXPECTED]


async def test_reads_256_tokens_and_no_more(embedder: OnnxEmbedder) -> None:
    words = ["word"] * 300
    assert (await embedder.embed_query(" ".join(words))).tokens == 256
    # The tokenizer's own file says 128: a text that differs only after that must still get a vector of its own.
    plain, other = ["tool"] * 150, ["tool"] * 140 + ["volcano"] * 10
    vectors = (await embedder.embed_documents([" ".join(plain), " ".join(other)])).vectors
    assert float(vectors[0] @ vectors[1]) < 0.98
    past = (await embedder.embed_documents([" ".join(words), " ".join(words[:290] + ["volcano"] * 10)])).vectors
    np.testing.assert_array_equal(past[0], past[1])


async def test_a_vector_depends_on_its_text_alone(embedder: OnnxEmbedder) -> None:
    texts = ["weather", "a much longer text " * 40, *(f"tool number {n}" for n in range(100))]
    together = (await embedder.embed_documents(texts)).vectors
    backwards = (await embedder.embed_documents(texts[::-1])).vectors[::-1]
    np.testing.assert_array_equal(together, backwards)
    np.testing.assert_array_equal((await embedder.embed_query("weather")).vectors[0], together[0])


async def test_an_empty_string_costs_two_tokens(embedder: OnnxEmbedder) -> None:
    assert (await embedder.embed_query("")).tokens == 2


def test_importing_it_loads_neither_onnxruntime_nor_tokenizers() -> None:
    code = "import sys, repertory.embedders.onnx as m; m.OnnxEmbedder(); print({'onnxruntime', 'tokenizers'} & {*sys.modules})"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


async def test_many_first_calls_load_the_model_once(monkeypatch: pytest.MonkeyPatch) -> None:
    import onnxruntime

    made = []
    session = onnxruntime.InferenceSession

    def counting(*args: object, **kwargs: object) -> object:
        made.append(args)
        return session(*args, **kwargs)

    monkeypatch.setattr(onnxruntime, "InferenceSession", counting)
    embedder = OnnxEmbedder()
    assert not made
    answers = await asyncio.gather(*(embedder.embed_query("weather") for _ in range(16)))
    assert len(made) == 1
    assert all((answer.vectors == answers[0].vectors).all() for answer in answers)
    await embedder.close()


async def test_works_again_after_close(embedder: OnnxEmbedder) -> None:
    before = await embedder.embed_query("weather")
    await embedder.close()
    np.testing.assert_array_equal((await embedder.embed_query("weather")).vectors, before.vectors)


async def test_verify_accepts_the_bundled_files(embedder: OnnxEmbedder) -> None:
    await embedder.verify()


async def test_the_readme_beside_the_models_names_their_digests() -> None:
    readme = (MINILM.model_path.parent / "README.md").read_text(encoding="utf-8")
    assert f"`{MINILM.model_sha256}`" in readme
    assert f"`{MINILM.tokenizer_sha256}`" in readme


async def test_another_model_directory_can_be_used_and_verify_names_a_changed_file(tmp_path: Path) -> None:
    copy = replace(
        MINILM,
        name="mine",
        model_path=Path(shutil.copy(MINILM.model_path, tmp_path / "m.onnx")),
        tokenizer_path=Path(shutil.copy(MINILM.tokenizer_path, tmp_path / "t.json")),
        max_tokens=16,
    )
    embedder = OnnxEmbedder(copy, threads=1)
    assert embedder.model == "mine"
    assert (await embedder.embed_query("word " * 50)).tokens == 16
    await embedder.verify()
    with copy.tokenizer_path.open("a") as file:
        file.write("\n")
    with pytest.raises(EmbedderError, match=r"t\.json has sha256 \w+, not be50c3"):
        await embedder.verify()
    await OnnxEmbedder(replace(copy, tokenizer_sha256=None)).verify()
    await embedder.close()


@pytest.mark.parametrize("broken", ["missing", "damaged"])
async def test_a_model_that_does_not_load_says_which_and_can_be_repaired(tmp_path: Path, broken: str) -> None:
    path = tmp_path / "m.onnx"
    if broken == "damaged":
        path.write_bytes(MINILM.model_path.read_bytes()[:5000])
    embedder = OnnxEmbedder(replace(MINILM, model_path=path))
    for _ in range(2):
        with pytest.raises(EmbedderError, match=r"did not load from .*m\.onnx"):
            await embedder.embed_query("weather")
    if broken == "missing":
        with pytest.raises(EmbedderError, match=r"m\.onnx cannot be read"):
            await embedder.verify()
    shutil.copy(MINILM.model_path, path)
    assert (await embedder.embed_query("weather")).vectors.shape == (1, 384)
    await embedder.close()


async def test_wrong_dimensions_are_told_not_believed() -> None:
    embedder = OnnxEmbedder(replace(MINILM, dimensions=512))
    with pytest.raises(EmbedderError, match=r"\(1, 384\), not \(1, 512\)"):
        await embedder.embed_query("weather")
    await embedder.close()
