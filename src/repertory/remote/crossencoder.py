"""How does a cross-encoder on this machine judge texts?

B07. An ONNX graph that reads a query and a text together (`input_ids`, `attention_mask` and, where it wants them, `token_type_ids`) and
answers one logit, or two of which the second means "relevant". The breaker is left to `wrappers`.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from repertory.errors import RemoteModelError
from repertory.offload import offload

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

_TOKENS = 512  # what cross-encoders were trained to read; of a longer pair the longer part is cut


@dataclass(frozen=True, slots=True)
class _Loaded:
    tokenizer: Tokenizer
    session: Any  # onnxruntime.InferenceSession, which has no types
    inputs: frozenset[str]


class OnnxReranker:
    """Re-ranks on this machine's CPU. The first call loads the model."""

    def __init__(self, path: Path, *, threads: int = min(4, os.cpu_count() or 1), timeout: float = 5.0) -> None:
        self._model = path / "model.onnx" if path.is_dir() else path
        self._threads = threads
        self._timeout = timeout
        self._loaded: _Loaded | None = None
        self._loading = threading.Lock()

    async def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """One pair per run, as many runs side by side as there are threads.

        A batch would be padded to its longest pair, and took four times as long; in a model quantised on the fly, a pair in a batch would
        feel its neighbours, too.
        """
        if not texts:
            return []
        until = time.monotonic() + self._timeout
        pairs = await offload(self._read, query, texts)
        turns = asyncio.Semaphore(self._threads)

        async def judge(pair: Encoding) -> float:
            async with turns:
                return await offload(self._judge, pair, until)

        return list(await asyncio.gather(*map(judge, pairs)))

    async def close(self) -> None:
        self._loaded = None

    def _read(self, query: str, texts: Sequence[str]) -> list[Encoding]:
        tokenizer = self._load().tokenizer
        return list(tokenizer.encode_batch([(_readable(query), _readable(text)) for text in texts]))

    def _judge(self, pair: Encoding, until: float) -> float:
        if time.monotonic() > until:  # nobody waits for it any more, and a thread cannot be stopped
            raise RemoteModelError(f"The re-ranker did not read everything in {self._timeout:g} s. Use a smaller model.")
        loaded = self._load()
        given = {"input_ids": pair.ids, "attention_mask": pair.attention_mask, "token_type_ids": pair.type_ids}
        try:
            answer = loaded.session.run(None, {name: np.array([given[name]], np.int64) for name in loaded.inputs})[0]
        except Exception as error:  # onnxruntime has an unrelated class per status code
            raise RemoteModelError(f"The re-ranker {self._model} failed on {len(pair.ids)} tokens: {error}. Check its files.") from error
        logits = np.asarray(answer, np.float64).ravel()
        if logits.size not in (1, 2) or not np.isfinite(logits).all():
            raise RemoteModelError(
                f"The re-ranker {self._model} answered {logits.size} numbers, or none that count. Is it a cross-encoder?"
            )
        logit = float(logits[-1] - (logits[0] if logits.size == 2 else 0))  # of two, the softmax of the second
        return 0.5 + 0.5 * float(np.tanh(logit / 2))  # the sigmoid, without overflow

    def _load(self) -> _Loaded:
        if (loaded := self._loaded) is None:
            with self._loading:
                if (loaded := self._loaded) is None:
                    loaded = self._loaded = _load(self._model)
        return loaded


def _readable(text: str) -> str:
    """A lone surrogate, legal in a Python str and in JSON, is refused by tokenizers: it becomes "?"."""
    return text.encode("utf-8", "replace").decode()


def _load(model: Path) -> _Loaded:
    tokenizer_path = model.with_name("tokenizer.json")
    try:
        # Imported here because they take a fifth of a second, which only those who re-rank should spend.
        import onnxruntime
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(tokenizer_path))
        tokenizer.enable_truncation(_TOKENS)
        tokenizer.no_padding()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1  # `rerank` brings the threads
        session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        return _Loaded(tokenizer, session, frozenset(one.name for one in session.get_inputs()))
    except Exception as error:  # tokenizers raises bare Exception, onnxruntime a class per status code
        raise RemoteModelError(f"The re-ranker did not load from {model} and {tokenizer_path}: {error}. Correct reranker_file.") from error
