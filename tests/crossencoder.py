"""A cross-encoder that can be read: its logit grows with the tokens that query and text share.

A real ONNX graph for the real runtime, and a real tokenizer, a few kilobytes each. The graph is written as the bytes of its protobuf,
because the package that could build it is larger than what it would be used for.
"""

from __future__ import annotations

import struct
from pathlib import Path

from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

FLOAT, INT64 = 1, 7  # ONNX's numbers for types
SPECIAL = {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2}
WORDS = "list delete open close issues branches a repository the all send letter".split()


def write(folder: Path, *, labels: int = 1, scale: float = 2.0) -> Path:
    """Write `model.onnx` and `tokenizer.json` into a new folder."""
    folder.mkdir()
    tokenizer = Tokenizer(WordLevel({**SPECIAL, **{word: number for number, word in enumerate(WORDS, len(SPECIAL))}}, unk_token="[UNK]"))  # noqa: S106
    tokenizer.normalizer = Lowercase()
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "model.onnx").write_bytes(_model(labels, scale))
    return folder


def _model(labels: int, scale: float) -> bytes:
    """scale * (sum over i, j of query_i * (id_i == id_j) * text_j) - 2 * scale: the last [SEP] always meets the first."""
    nodes = [
        _node("Unsqueeze", ["input_ids", "two"], "down"),
        _node("Unsqueeze", ["input_ids", "one"], "across"),
        _node("Equal", ["down", "across"], "same"),
        _node("Cast", ["same"], "matrix", to=FLOAT),
        _node("Mul", ["token_type_ids", "attention_mask"], "second"),
        _node("Sub", ["attention_mask", "second"], "first"),
        _node("Cast", ["first"], "query", to=FLOAT),
        _node("Cast", ["second"], "text", to=FLOAT),
        _node("Unsqueeze", ["query", "one"], "row"),
        _node("Unsqueeze", ["text", "two"], "column"),
        _node("MatMul", ["row", "matrix"], "shared"),
        _node("MatMul", ["shared", "column"], "total"),
        _node("Squeeze", ["total", "two"], "sum"),
        _node("Mul", ["sum", "scale"], "scaled"),
        _node("Sub", ["scaled", "offset"], "logit"),
        _node("Mul", ["logit", "weights"], "logits"),
    ]
    weights = [0.0] * (labels - 1) + [1.0]
    constants = [
        _tensor("one", INT64, [1], struct.pack("<q", 1)),
        _tensor("two", INT64, [1], struct.pack("<q", 2)),
        _tensor("scale", FLOAT, [1], struct.pack("<f", scale)),
        _tensor("offset", FLOAT, [1], struct.pack("<f", 2 * scale)),
        _tensor("weights", FLOAT, [labels], struct.pack(f"<{labels}f", *weights)),
    ]
    inputs = [_value(name, INT64, ["batch", "tokens"]) for name in ("input_ids", "attention_mask", "token_type_ids")]
    graph = b"".join(
        [
            *(_field(1, node) for node in nodes),
            _field(2, b"overlap"),
            *(_field(5, constant) for constant in constants),
            *(_field(11, value) for value in inputs),
            _field(12, _value("logits", FLOAT, ["batch", labels])),
        ]
    )
    return _number(1, 8) + _field(7, graph) + _field(8, _number(2, 17))  # IR version, graph, operator set


def _node(operator: str, inputs: list[str], output: str, to: int | None = None) -> bytes:
    attribute = _field(5, _field(1, b"to") + _number(3, to) + _number(20, 2)) if to is not None else b""
    return b"".join(_field(1, name.encode()) for name in inputs) + _field(2, output.encode()) + _field(4, operator.encode()) + attribute


def _tensor(name: str, kind: int, shape: list[int], raw: bytes) -> bytes:
    return b"".join(_number(1, size) for size in shape) + _number(2, kind) + _field(8, name.encode()) + _field(9, raw)


def _value(name: str, kind: int, shape: list[str | int]) -> bytes:
    sizes = b"".join(_field(1, _number(1, size) if isinstance(size, int) else _field(2, size.encode())) for size in shape)
    return _field(1, name.encode()) + _field(2, _field(1, _number(1, kind) + _field(2, sizes)))


def _field(tag: int, content: bytes) -> bytes:
    return _varint(tag << 3 | 2) + _varint(len(content)) + content


def _number(tag: int, value: int) -> bytes:
    return _varint(tag << 3) + _varint(value)


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])
