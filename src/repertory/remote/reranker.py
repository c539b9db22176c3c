"""How does a remote cross-encoder judge texts?

B07. Any endpoint with `POST /rerank`. Cohere, Jina, Voyage, vLLM, llama.cpp and those that follow them take {model, query, documents}; text
embeddings inference (TEI) takes {query, texts}. Answers are lists of {index, relevance_score} or {index, score}, bare or under `results` or
`data`: all are understood.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from repertory.endpoint import Endpoint
from repertory.errors import RemoteModelError

if TYPE_CHECKING:
    from pydantic import SecretStr

_LONGEST = 2_000  # characters: about the 512 tokens that cross-encoders read
_LISTS = ("results", "data")  # Cohere's word and OpenAI's, which Voyage took
_SCORES = ("relevance_score", "score")
_ROUNDING = 0.01  # how far a probability may stray from [0, 1]; what strays farther is a logit

Api = Literal["cohere", "tei"]

# All of the texts are answered where nobody asks for fewer, so `top_n` or `top_k` need not be said.
_BODIES: Mapping[Api, Callable[[str, str, list[str]], dict[str, Any]]] = {
    "cohere": lambda model, query, texts: {"model": model, "query": query, "documents": texts},
    "tei": lambda _, query, texts: {"query": query, "texts": texts, "truncate": True},
}


class HttpReranker:
    """Re-ranks through an endpoint."""

    def __init__(
        self, base_url: str, model: str, *, api: Api = "cohere", api_key: SecretStr | str | None = None, timeout: float = 5.0
    ) -> None:
        self._endpoint = Endpoint(
            f"The re-ranking endpoint for {model}", base_url.rstrip("/") + "/rerank", RemoteModelError, api_key=api_key, timeout=timeout
        )
        self._model = model
        self._body = _BODIES[api]

    async def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        if not texts:
            return []
        documents = [text[:_LONGEST] or " " for text in texts]  # some endpoints refuse "" and with it the whole call
        answer = await self._endpoint.ask(self._body(self._model, query, documents))
        return _as_shares(self._scores(answer, len(documents)))

    async def close(self) -> None:
        await self._endpoint.close()

    def _scores(self, answer: Any, count: int) -> list[float]:
        try:
            items = answer if isinstance(answer, list) else next(answer[name] for name in _LISTS if name in answer)
            by_index = {item["index"]: float(next(item[name] for name in _SCORES if name in item)) for item in items}
        except (KeyError, TypeError, ValueError, OverflowError, StopIteration, RuntimeError):
            raise self._endpoint.error("answered JSON without scores", "Check that the model is a re-ranker, and reranker_api.") from None
        if len(items) != count or set(by_index) != set(range(count)):
            raise self._endpoint.error(
                f"answered {len(items)} scores for {count} texts, or not one for each", "Check that it answers them all."
            )
        if not all(math.isfinite(score) for score in by_index.values()):
            raise self._endpoint.error("answered a score that is not finite", "The model is broken or was given nothing to read.")
        return [by_index[index] for index in range(count)]


def _as_shares(scores: list[float]) -> list[float]:
    """Probabilities as they are, logits through a sigmoid: all of one answer alike, so that its order stays."""
    if min(scores) < -_ROUNDING or max(scores) > 1 + _ROUNDING:
        return [0.5 + 0.5 * math.tanh(score / 2) for score in scores]  # the sigmoid, without overflow
    return [min(1.0, max(0.0, score)) for score in scores]
