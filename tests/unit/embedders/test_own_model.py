"""Does any ONNX model do, whatever its graph leaves to us?"""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from repertory.embedders.onnx import MINILM, OnnxEmbedder, Pooling, own_model
from repertory.errors import EmbedderError

ROWS, WIDTH = 30_522, 4
TABLE = np.random.default_rng(5).standard_normal((ROWS, WIDTH)).astype(np.float32)


def varint(number: int) -> bytes:
    return bytes([number]) if number < 128 else bytes([number % 128 + 128]) + varint(number // 128)


def part(field: int, value: int | str | bytes) -> bytes:
    """One field of a protocol buffer, which is what an ONNX file is."""
    if isinstance(value, int):
        return varint(field << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(data)) + data


def tensor_info(name: str, kind: int, *axes: str) -> bytes:
    shape = b"".join(part(1, part(2, axis)) for axis in axes)
    return part(1, name) + part(2, part(1, part(1, kind) + part(2, shape)))


def write_graph(path: Path) -> None:
    """A graph of one node: each token's row of a table, not pooled, not normalised, without an attention mask."""
    look_up = part(1, "table") + part(1, "input_ids") + part(2, "last_hidden_state") + part(4, "Gather")
    table = part(1, ROWS) + part(1, WIDTH) + part(2, 1) + part(8, "table") + part(9, TABLE.tobytes())
    graph = part(1, look_up) + part(2, "g") + part(5, table)
    graph += part(11, tensor_info("input_ids", 7, "texts", "tokens")) + part(
        12, tensor_info("last_hidden_state", 1, "texts", "tokens", "w")
    )
    path.write_bytes(part(1, 8) + part(7, graph) + part(8, part(2, 13)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "tiny-model"
    made.mkdir()
    write_graph(made / "model.onnx")
    shutil.copy(MINILM.tokenizer_path, made / "tokenizer.json")
    return made


@pytest.mark.parametrize("pooling", ["mean", "first"])
async def test_token_vectors_are_pooled_and_normalised_here(folder: Path, pooling: Pooling) -> None:
    from tokenizers import Tokenizer

    embedder = OnnxEmbedder(own_model(folder, WIDTH, pooling=pooling))
    ids = Tokenizer.from_file(str(folder / "tokenizer.json")).encode("send a message").ids
    rows = TABLE[[one for one in ids if one]]  # the file pads
    expected = rows.mean(axis=0) if pooling == "mean" else rows[0]
    np.testing.assert_allclose((await embedder.embed_query("send a message")).vectors[0], expected / np.linalg.norm(expected), atol=1e-5)


def test_another_file_under_the_same_name_is_another_model(folder: Path) -> None:
    before = own_model(folder, WIDTH)
    assert before.name == own_model(folder, WIDTH).name
    TABLE[0] += 1
    write_graph(folder / "model.onnx")
    assert own_model(folder, WIDTH).name != before.name
    assert (
        len(
            {own_model(folder, WIDTH, pooling=pooling, query_prefix=prefix).name for pooling in ("mean", "first") for prefix in ("", "q: ")}
        )
        == 4
    )


async def test_wrong_dimensions_are_said(folder: Path) -> None:
    with pytest.raises(EmbedderError, match=r"shape \(1, 4\), not \(1, 5\): correct its dimensions"):
        await OnnxEmbedder(own_model(folder, 5)).embed_query("anything")


async def test_no_tokenizer_is_said(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    with pytest.raises(EmbedderError, match=r"did not load from .*model\.onnx and .*tokenizer\.json"):
        await OnnxEmbedder(own_model(folder, WIDTH)).embed_query("anything")
