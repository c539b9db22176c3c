from __future__ import annotations

import shutil
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from repertory.embedders.static import POTION, StaticEmbedder
from repertory.errors import EmbedderError

PERSON = "That is a happy person"
EXPECTED = {"That is a happy dog": 0.577, "That is a very happy person": 0.937, "Today is a sunny day": 0.280}  # by hand, row for row


@pytest.fixture
async def embedder() -> AsyncIterator[StaticEmbedder]:
    made = StaticEmbedder()
    yield made
    await made.close()


async def test_gives_what_the_table_says(embedder: StaticEmbedder) -> None:
    person = (await embedder.embed_query(PERSON)).vectors[0]
    vectors = (await embedder.embed_documents(list(EXPECTED))).vectors
    assert (vectors @ person).tolist() == pytest.approx(list(EXPECTED.values()), abs=0.001)


async def test_a_vector_is_the_mean_of_its_rows_wherever_the_text_stands(embedder: StaticEmbedder) -> None:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(POTION.tokenizer_path))
    table = np.load(POTION.table_path)
    texts = ["", "send a message", "Ƣ", "weather", "", *(f"tool number {n} " * n for n in range(600))]
    vectors = (await embedder.embed_documents(texts)).vectors
    for position in (1, 3, 6, 100, 257, 604):
        ids = [one for one in tokenizer.encode(texts[position], add_special_tokens=False).ids if one != tokenizer.token_to_id("[UNK]")][
            :512
        ]
        mean = np.mean(table["q"][ids] * table["s"][ids].astype(np.float32)[:, None], axis=0)
        np.testing.assert_allclose(vectors[position], mean / np.linalg.norm(mean), atol=1e-5)
    assert not vectors[[0, 2, 4]].any()  # nothing, and a letter that no row is for
    np.testing.assert_array_equal((await embedder.embed_documents(texts[::-1])).vectors[::-1], vectors)


async def test_is_quick(embedder: StaticEmbedder) -> None:
    await embedder.embed_query("warm up")
    texts = [f"Create the invoice number {n} for a customer and send it by mail" for n in range(10_000)]
    started = time.process_time()
    await embedder.embed_documents(texts)
    assert time.process_time() - started < 5.0  # 0.5 on a quiet machine


async def test_damaged_files_are_found_out_and_said(tmp_path: Path) -> None:
    damaged = Path(shutil.copy(POTION.table_path, tmp_path / "table.npz"))
    damaged.write_bytes(damaged.read_bytes()[:-100])
    embedder = StaticEmbedder(replace(POTION, table_path=damaged))
    with pytest.raises(EmbedderError, match="damaged or another"):
        await embedder.verify()
    with pytest.raises(EmbedderError, match="did not load"):
        await embedder.embed_query("anything")
    await StaticEmbedder().verify()
