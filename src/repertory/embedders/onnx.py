"""How does a local model turn text into vectors, without a network or torch?

An ONNX graph that takes `input_ids` and `attention_mask` and answers `sentence_embedding`, pooled inside the graph, or one vector per
token, pooled here. The bundled one is `MINILM`; `own_model` takes any other (C08). Timeouts, retries after a failed load and caching are
left to `wrappers`.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from repertory.embedders.base import Embeddings
from repertory.embedders.files import MODELS, check_digest, digest_of, readable
from repertory.errors import EmbedderError
from repertory.offload import offload

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_CHUNK = 32  # texts between two looks at the event loop
_POOLED = "sentence_embedding"
_OWN_TOKENS = 512  # what nearly all models were trained to read; more is cut off

Pooling = Literal["mean", "first"]


@dataclass(frozen=True, slots=True)
class OnnxModel:
    """The two files of a model and what must be known about them. A digest that is None is not checked.

    Some models want to be told what they read ("query: ", "passage: "), and pooled where their graph does not do it (C07).
    """

    name: str
    model_path: Path
    tokenizer_path: Path
    dimensions: int
    max_tokens: int
    model_sha256: str | None = None
    tokenizer_sha256: str | None = None
    query_prefix: str = ""
    document_prefix: str = ""
    pooling: Pooling = "mean"


MINILM = OnnxModel(
    name="all-MiniLM-L6-v2/int8dyn",
    model_path=MODELS / "all-MiniLM-L6-v2.int8dyn.onnx",
    tokenizer_path=MODELS / "all-MiniLM-L6-v2.tokenizer.json",
    dimensions=384,
    max_tokens=256,
    model_sha256="2ff9130b00ce54ea2bfde4a22b75c7da8cbeb64512b205e3ada039ca6451fd42",
    tokenizer_sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)


def own_model(path: Path, dimensions: int, *, query_prefix: str = "", document_prefix: str = "", pooling: Pooling = "mean") -> OnnxModel:
    """A model of the operator's: an ONNX file with its tokenizer beside it, or a folder with `model.onnx` and `tokenizer.json`.

    Its name holds the digest of the file and all else that changes its vectors: exchanged for another, it is another model.
    """
    model = path / "model.onnx" if path.is_dir() else path
    beside = model.with_name("tokenizer.json"), model.with_name(f"{model.name.split('.')[0]}.tokenizer.json")
    tokenizer = next((file for file in beside if file.is_file()), beside[0])
    name = f"{path.name}/{digest_of(model)[:12]}/{dimensions}"
    if query_prefix or document_prefix or pooling != "mean":
        name += f" {(query_prefix, document_prefix, pooling)}"
    return OnnxModel(
        name, model, tokenizer, dimensions, _OWN_TOKENS, query_prefix=query_prefix, document_prefix=document_prefix, pooling=pooling
    )


@dataclass(frozen=True, slots=True)
class _Loaded:
    tokenizer: Tokenizer
    session: Any  # onnxruntime.InferenceSession, which has no types
    inputs: frozenset[str]
    output: str


class OnnxEmbedder:
    """Embeds on this machine's CPU. The first call that needs the model loads it; embed anything to warm it (C08)."""

    batch = 256  # a second or so

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
                prefix, chunk = self._model.document_prefix, texts[start : start + _CHUNK]
                return await offload(self._embed, [prefix + text for text in chunk], vectors[start : start + _CHUNK])

        tokens = await asyncio.gather(*(embed(start) for start in range(0, len(texts), _CHUNK)))
        return Embeddings(vectors, sum(tokens))

    async def embed_query(self, text: str) -> Embeddings:
        vectors = np.empty((1, self.dimensions), np.float32)
        return Embeddings(vectors, await offload(self._embed, [self._model.query_prefix + text], vectors))

    async def verify(self) -> None:
        """Raise `EmbedderError` unless the files have their recorded digests. Reads them whole: for `doctor`."""
        model = self._model
        for path, digest in ((model.model_path, model.model_sha256), (model.tokenizer_path, model.tokenizer_sha256)):
            await offload(check_digest, path, digest)

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
            ids = loaded.tokenizer.encode(readable(text)).ids
            into[position] = self._infer(loaded, np.array([ids], np.int64))
            total += len(ids)
        return total

    def _infer(self, loaded: _Loaded, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        try:
            vectors: NDArray[np.float32]
            (vectors,) = loaded.session.run([loaded.output], {name: given[name] for name in loaded.inputs})
        except Exception as error:  # onnxruntime has an unrelated class per status code
            raise EmbedderError(
                f"The model {self.model} failed on a text of {ids.shape[1]} tokens: {error}. Check its files with `repertory doctor`."
            ) from error
        if vectors.ndim == 3:  # one per token, and one text a run: there is no padding to leave out
            vectors = vectors.mean(axis=1) if self._model.pooling == "mean" else vectors[:, 0]
        if vectors.shape != (expected := (1, self.dimensions)):
            raise EmbedderError(
                f"The model {self.model} answered vectors of shape {vectors.shape}, not {expected}: correct its dimensions."
            )
        length = np.linalg.norm(vectors)
        if not 0 < length < np.inf:
            raise EmbedderError(f"The model {self.model} answered a vector that is zero or not finite. Check its files.")
        return np.asarray(vectors / length, np.float32)

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
        inputs = frozenset(one.name for one in session.get_inputs())
        outputs = [one.name for one in session.get_outputs()]
        return _Loaded(tokenizer, session, inputs, _POOLED if _POOLED in outputs else outputs[0])
    except Exception as error:  # tokenizers raises bare Exception, onnxruntime a class per status code
        raise EmbedderError(
            f"The model {model.name} did not load from {model.model_path} and {model.tokenizer_path}: {error}. "
            "Check the files with `repertory doctor`, or reinstall."
        ) from error
