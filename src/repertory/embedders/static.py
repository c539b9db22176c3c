"""How do texts get vectors in no time at all?

A static model is a table: each piece of a word has one vector, whatever stands around it, and a text is the mean of its pieces. It is
some fifty times quicker than a model that reads sentences, and weaker (docs/models.md). The bundled one is `POTION`.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from repertory.embedders.base import Embeddings
from repertory.embedders.files import MODELS, check_digest, readable
from repertory.errors import EmbedderError
from repertory.offload import offload

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_CHUNK = 256  # texts: the rows of their pieces are held at once, 256 kB a text at most
_UNKNOWN = "[UNK]"


@dataclass(frozen=True, slots=True)
class StaticModel:
    """The two files of a table: rows `q` of eight bits with a scale `s` each, and the tokenizer that names them."""

    name: str
    table_path: Path
    tokenizer_path: Path
    dimensions: int
    max_tokens: int
    table_sha256: str
    tokenizer_sha256: str


POTION = StaticModel(
    name="potion-base-8M/int8",
    table_path=MODELS / "potion-base-8M.int8.npz",
    tokenizer_path=MODELS / "potion-base-8M.tokenizer.json",
    dimensions=256,
    max_tokens=512,
    table_sha256="df3fddd0f97b6bbca01a2dba25ed7fb804095ecda70c4724542deabf9f81334e",
    tokenizer_sha256="e67e803f624fb4d67dea1c730d06e1067e1b14d830e2c2202569e3ef0f70bb50",
)


@dataclass(frozen=True, slots=True)
class _Loaded:
    tokenizer: Tokenizer
    rows: NDArray[np.float32]
    unknown: int | None


class StaticEmbedder:
    """Looks vectors up. The first call that needs the table loads it. A text of which it knows no piece gets a vector of zeros (E05)."""

    batch = 2048  # so quick that what is written at once decides

    def __init__(self, model: StaticModel = POTION) -> None:
        self._model = model
        self._loaded: _Loaded | None = None
        self._loading = threading.Lock()

    @property
    def model(self) -> str:
        return self._model.name

    @property
    def dimensions(self) -> int:
        return self._model.dimensions

    async def embed_documents(self, texts: Sequence[str]) -> Embeddings:
        return await offload(self._embed, texts)

    async def embed_query(self, text: str) -> Embeddings:
        return await offload(self._embed, [text])

    async def verify(self) -> None:
        """Raise `EmbedderError` unless the files have their recorded digests. Reads them whole: for `doctor`."""
        await offload(check_digest, self._model.table_path, self._model.table_sha256)
        await offload(check_digest, self._model.tokenizer_path, self._model.tokenizer_sha256)

    async def close(self) -> None:
        self._loaded = None

    def _embed(self, texts: Sequence[str]) -> Embeddings:
        loaded = self._load()
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        tokens = 0
        for start in range(0, len(texts), _CHUNK):
            chunk = [readable(text) for text in texts[start : start + _CHUNK]]
            pieces = [encoding.ids for encoding in loaded.tokenizer.encode_batch_fast(chunk, add_special_tokens=False)]
            tokens += sum(map(len, pieces))
            _sum([[piece for piece in ids if piece != loaded.unknown] for ids in pieces], loaded.rows, vectors[start : start + _CHUNK])
        return Embeddings(vectors, tokens)

    def _load(self) -> _Loaded:
        if (loaded := self._loaded) is None:
            with self._loading:
                if (loaded := self._loaded) is None:
                    loaded = self._loaded = _load(self._model)
        return loaded


def _sum(pieces: Sequence[Sequence[int]], rows: NDArray[np.float32], into: NDArray[np.float32]) -> None:
    """Unit vectors along the sums of rows, which point where the means do. A text without pieces keeps its zeros."""
    filled = [position for position, ids in enumerate(pieces) if ids]
    if filled:
        starts = np.cumsum([0, *(len(pieces[position]) for position in filled[:-1])])
        sums = np.add.reduceat(rows[np.fromiter(chain.from_iterable(pieces), np.intp)], starts)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        into[filled] = sums / np.maximum(lengths, np.finfo(np.float32).tiny)


def _load(model: StaticModel) -> _Loaded:
    try:
        from tokenizers import Tokenizer  # here, because `repertory --help` should not wait for it

        tokenizer = Tokenizer.from_file(str(model.tokenizer_path))
        tokenizer.enable_truncation(model.max_tokens)
        tokenizer.no_padding()
        with (
            model.table_path.open("rb") as file,
            np.load(file) as table,
        ):  # numbers only: numpy refuses pickled objects unless told otherwise
            rows = table["q"].astype(np.float32) * table["s"].astype(np.float32)[:, None]
        return _Loaded(tokenizer, rows, tokenizer.token_to_id(_UNKNOWN))
    except Exception as error:  # tokenizers raises bare Exception, a damaged archive many kinds
        raise EmbedderError(
            f"The model {model.name} did not load from {model.table_path} and {model.tokenizer_path}: {error}. "
            "Check the files with `repertory doctor`, or reinstall."
        ) from error
