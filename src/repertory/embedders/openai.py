"""How does a remote model turn text into vectors?

Any endpoint that speaks OpenAI's `POST /embeddings`: OpenAI, Ollama, vLLM, Voyage and others. What comes back is
checked before it is believed. An overall time limit, the breaker and the cache are left to `wrappers`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from repertory.embedders.base import Embeddings
from repertory.embedders.files import readable
from repertory.endpoint import Endpoint
from repertory.errors import EmbedderError

if TYPE_CHECKING:
    from pydantic import SecretStr

_BATCH = 64  # far below every provider's limit of texts, and small enough that one answer is a few MB
_LONGEST = 24_000  # characters: about the 8,000 tokens that most models read; a longer text is refused with its whole batch


class OpenAIEmbedder:
    """Embeds through an OpenAI-compatible endpoint.

    Query and document differ where the model wants it (C07): by a prefix to the text, or, with `input_type`, by a field that says which it
    is (Voyage). `dimensions` is what the vectors must have, and is not sent (many endpoints refuse the field). Without it the first
    answer decides, and reading `dimensions` before that is an `EmbedderError`: embed anything once to learn it.
    """

    batch = 256  # four requests

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key: SecretStr | str | None = None,
        dimensions: int | None = None,
        query_prefix: str = "",
        document_prefix: str = "",
        input_type: bool = False,
        timeout: float = 30.0,
    ) -> None:
        self._endpoint = Endpoint(
            f"The embedding endpoint for {model}", base_url.rstrip("/") + "/embeddings", EmbedderError, api_key=api_key, timeout=timeout
        )
        self._model = model
        self._declared = dimensions
        self._dimensions = dimensions
        self._prefixes = query_prefix, document_prefix
        self._input_type = input_type

    @property
    def model(self) -> str:
        # Dimensions and prefixes change the vectors as much as the weights do; the base URL does not, an endpoint may move.
        sized = f"{self._model}/{self._declared}" if self._declared else self._model
        typed = f"{sized} input_type" if self._input_type else sized
        return f"{typed} {self._prefixes}" if any(self._prefixes) else typed

    @property
    def dimensions(self) -> int:
        if self._dimensions is None:
            raise EmbedderError(
                f"The dimensions of {self._model} are not known before its first answer: embed anything once, or give `dimensions`."
            )
        return self._dimensions

    async def embed_documents(self, texts: Sequence[str]) -> Embeddings:
        prefix = self._prefixes[1]
        batches = (texts[start : start + _BATCH] for start in range(0, len(texts), _BATCH))
        parts = [await self._embed([prefix + text for text in batch], "document") for batch in batches]
        if not parts:
            return Embeddings(np.empty((0, self._dimensions or 0), np.float32), 0)
        return Embeddings(np.concatenate([part.vectors for part in parts]), sum(part.tokens for part in parts))

    async def embed_query(self, text: str) -> Embeddings:
        return await self._embed([self._prefixes[0] + text], "query")

    async def close(self) -> None:
        await self._endpoint.close()

    async def _embed(self, texts: list[str], role: str) -> Embeddings:
        inputs = [readable(text[:_LONGEST]) or " " for text in texts]  # OpenAI refuses "" and with it the whole batch
        # Voyage knows no format but "base64" and its default, numbers; whoever takes the one field need not be sent the other.
        kind = {"input_type": role} if self._input_type else {"encoding_format": "float"}
        answer = await self._endpoint.ask({"model": self._model, "input": inputs, **kind})
        vectors = self._vectors(answer, len(texts))
        self._dimensions = vectors.shape[1]
        return Embeddings(vectors, _tokens(answer))

    def _vectors(self, answer: Any, count: int) -> NDArray[np.float32]:
        try:
            items = answer["data"]
            # Some endpoints leave `index` out; then the order is that of the texts.
            by_index = {item.get("index", position): item["embedding"] for position, item in enumerate(items)}
            if len(items) != count or set(by_index) != set(range(count)):
                raise self._endpoint.error(
                    f"answered {len(items)} vectors for {count} texts, or not one for each",
                    "Check that it serves embeddings.",
                )
            vectors = np.array([by_index[index] for index in range(count)], np.float64)
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
            raise self._endpoint.error("answered JSON without a list of vectors", "Check that the model is an embedding model.") from None
        if vectors.ndim != 2 or vectors.shape[1] != (self._dimensions or vectors.shape[1]):
            raise self._endpoint.error(
                f"answered vectors of shape {vectors.shape[1:]}, not ({self._dimensions},)",
                "Correct `dimensions`, or check that the model behind the name has not changed.",
            )
        with np.errstate(over="ignore"):  # an overflow is an infinite length, refused below
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not (np.isfinite(lengths).all() and lengths.all()):
            raise self._endpoint.error("answered a vector that is zero or not finite", "The model is broken or was given nothing to read.")
        return np.asarray(vectors / lengths, np.float32)


def _tokens(answer: dict[str, Any]) -> int:
    """What the endpoint says it read; 0 where it does not say."""
    usage = answer.get("usage")
    if not isinstance(usage, dict):
        return 0
    tokens = usage.get("total_tokens", usage.get("prompt_tokens"))
    return tokens if isinstance(tokens, int) else 0
