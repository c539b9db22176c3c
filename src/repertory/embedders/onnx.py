"""How does a local model turn text into vectors, without a network or torch?

An ONNX graph that takes `input_ids` and `attention_mask` and answers `sentence_embedding`, pooled and normalised inside
the graph; the bundled one is `MINILM`. Timeouts, retries after a failed load and caching are left to `wrappers`.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from repertory.embedders.base import Embeddings
from repertory.errors import EmbedderError
from repertory.offload import offload

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_CHUNK = 32  # texts between two looks at the event loop
_MODELS = Path(__file__).parent / "models"


@dataclass(frozen=True, slots=True)
class OnnxModel:
    """The two files of a model and what must be known about them. A digest that is None is not checked."""

    name: str
    model_path: Path
    tokenizer_path: Path
    dimensions: int
    max_tokens: int
    model_sha256: str | None = None
    tokenizer_sha256: str | None = None


MINILM = OnnxModel(
    name="all-MiniLM-L6-v2/int8dyn",
    model_path=_MODELS / "all-MiniLM-L6-v2.int8dyn.onnx",
    tokenizer_path=_MODELS / "all-MiniLM-L6-v2.tokenizer.json",
    dimensions=384,
    max_tokens=256,
    model_sha256="2ff9130b00ce54ea2bfde4a22b75c7da8cbeb64512b205e3ada039ca6451fd42",
    tokenizer_sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)


@dataclass(frozen=True, slots=True)
class _Loaded:
    tokenizer: Tokenizer
    session: Any  # onnxruntime.InferenceSession, which has no types


class OnnxEmbedder:
    """Embeds on this machine's CPU. The first call that needs the model loads it; embed anything to warm it (C08)."""

    def __init__(self, model: OnnxModel = MINILM, *, threads: int = min(4, os.cpu_count() or 1)) -> None:
        self._model = model
        self._threads = threads
        self._loaded: _Loaded | None = None
        self._loading = threading.Lock()

    @property
    def model(self) -> str:
        return self._model.name

    @property
    def dimensions(self) -> int:
        return self._model.dimensions

    async def embed_documents(self, texts: Sequence[str]) -> Embeddings:
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        turns = asyncio.Semaphore(self._threads)

        async def embed(start: int) -> int:
            async with turns:
                return await offload(self._embed, texts[start : start + _CHUNK], vectors[start : start + _CHUNK])

        tokens = await asyncio.gather(*(embed(start) for start in range(0, len(texts), _CHUNK)))
        return Embeddings(vectors, sum(tokens))

    async def embed_query(self, text: str) -> Embeddings:
        vectors = np.empty((1, self.dimensions), np.float32)
        return Embeddings(vectors, await offload(self._embed, [text], vectors))

    async def verify(self) -> None:
        """Raise `EmbedderError` unless the files have their recorded digests. Reads them whole: for `doctor`."""
        model = self._model
        for path, digest in ((model.model_path, model.model_sha256), (model.tokenizer_path, model.tokenizer_sha256)):
            await offload(_check_digest, path, digest)

    async def close(self) -> None:
        self._loaded = None

    def _embed(self, texts: Sequence[str], into: NDArray[np.float32]) -> int:
        """Fill in the vectors of some texts and answer how many tokens they have.

        One text per run: quantised on the fly, a text in a batch would feel its neighbours (cosine down to .97), and its vector
        would depend on the order of indexing. It costs nothing: as many runs as threads go side by side, without padding.
        """
        loaded = self._load()
        total = 0
        for position, text in enumerate(texts):
            # A lone surrogate, legal in a Python str and in JSON, is refused by the tokenizer: it becomes "?".
            ids = loaded.tokenizer.encode(text.encode("utf-8", "replace").decode()).ids
            into[position] = self._infer(loaded.session, np.array([ids], np.int64))
            total += len(ids)
        return total

    def _infer(self, session: Any, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        try:
            vectors: NDArray[np.float32]
            (vectors,) = session.run(["sentence_embedding"], {"input_ids": ids, "attention_mask": np.ones_like(ids)})
        except Exception as error:  # onnxruntime has an unrelated class per status code
            raise EmbedderError(
                f"The model {self.model} failed on a text of {ids.shape[1]} tokens: {error}. Check its files with `repertory doctor`."
            ) from error
        if vectors.shape != (expected := (1, self.dimensions)):
            raise EmbedderError(
                f"The model {self.model} answered vectors of shape {vectors.shape}, not {expected}: "
                "correct its `dimensions`, or export it with pooling in the graph."
            )
        return vectors

    def _load(self) -> _Loaded:
        if (loaded := self._loaded) is None:
            with self._loading:
                if (loaded := self._loaded) is None:
                    loaded = self._loaded = _load(self._model)
        return loaded


def _load(model: OnnxModel) -> _Loaded:
    try:
        # Imported here because they take a fifth of a second, which `repertory --help` should not.
        import onnxruntime
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(model.tokenizer_path))
        # The file may carry settings of its own (MiniLM's truncates and pads to 128); ours hold.
        tokenizer.enable_truncation(model.max_tokens)
        tokenizer.no_padding()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1  # `embed_documents` brings the threads
        session = onnxruntime.InferenceSession(str(model.model_path), options, providers=["CPUExecutionProvider"])
        return _Loaded(tokenizer, session)
    except Exception as error:  # tokenizers raises bare Exception, onnxruntime a class per status code
        raise EmbedderError(
            f"The model {model.name} did not load from {model.model_path} and {model.tokenizer_path}: {error}. "
            "Check the files with `repertory doctor`, or reinstall."
        ) from error


def _check_digest(path: Path, expected: str | None) -> None:
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise EmbedderError(f"The model file {path} cannot be read: {error}. Reinstall, or correct the path.") from error
    if expected is not None and found != expected:
        raise EmbedderError(f"The model file {path} has sha256 {found}, not {expected}: it is damaged or another. Reinstall.")
