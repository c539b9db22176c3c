"""How does a remote model turn text into vectors?

Any endpoint that speaks OpenAI's `POST /embeddings`: OpenAI, Ollama, vLLM, Voyage and others. What comes back is
checked before it is believed. An overall time limit, the breaker and the cache are left to `wrappers`.

No message quotes the endpoint's answer or the library's exception, and none is chained: both may repeat the key or the
texts.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from repertory.embedders.base import Embeddings
from repertory.errors import EmbedderError

if TYPE_CHECKING:
    import httpx2
    from pydantic import SecretStr

_BATCH = 64  # far below every provider's limit of texts, and small enough that one answer is a few MB
_LONGEST = 24_000  # characters: about the 8,000 tokens that most models read; a longer text is refused with its whole batch
_RETRY_WAIT = 0.5  # seconds, when the endpoint does not say
_RETRY_WAIT_MAX = 5.0  # a search can wait no longer; asked for more, we fail at once and the breaker pauses

_HINTS = {
    400: "Check the model's name, and that texts fit its context.",
    401: "Check the API key.",
    403: "Check the API key and what it may use.",
    404: "Check the base URL (it usually ends in /v1) and the model's name.",
    413: "Texts are too long for it: index in smaller pieces.",
    429: "It limits the rate or the quota is spent: try later.",
}


class OpenAIEmbedder:
    """Embeds through an OpenAI-compatible endpoint.

    `dimensions` is what the vectors must have, and is not sent (many endpoints refuse the field). Without it the first
    answer decides, and reading `dimensions` before that is an `EmbedderError`: embed anything once to learn it.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key: SecretStr | str | None = None,
        dimensions: int | None = None,
        query_prefix: str = "",
        document_prefix: str = "",
        timeout: float = 30.0,
    ) -> None:
        self._url = base_url.rstrip("/") + "/embeddings"
        self._model = model
        self._key = api_key if isinstance(api_key, str) or api_key is None else api_key.get_secret_value()
        self._declared = dimensions
        self._dimensions = dimensions
        self._prefixes = query_prefix, document_prefix
        self._timeout = timeout
        self._client: httpx2.AsyncClient | None = None

    @property
    def model(self) -> str:
        # Dimensions and prefixes change the vectors as much as the weights do; the base URL does not, an endpoint may move.
        sized = f"{self._model}/{self._declared}" if self._declared else self._model
        return f"{sized} {self._prefixes}" if any(self._prefixes) else sized

    @property
    def dimensions(self) -> int:
        if self._dimensions is None:
            raise EmbedderError(
                f"The dimensions of {self._model} are not known before its first answer: embed anything once, or give `dimensions`."
            )
        return self._dimensions

    async def embed_documents(self, texts: Sequence[str]) -> Embeddings:
        prefix = self._prefixes[1]
        parts = [await self._embed([prefix + text for text in texts[start : start + _BATCH]]) for start in range(0, len(texts), _BATCH)]
        if not parts:
            return Embeddings(np.empty((0, self._dimensions or 0), np.float32), 0)
        return Embeddings(np.concatenate([part.vectors for part in parts]), sum(part.tokens for part in parts))

    async def embed_query(self, text: str) -> Embeddings:
        return await self._embed([self._prefixes[0] + text])

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def _embed(self, texts: list[str]) -> Embeddings:
        # OpenAI refuses "" and with it the whole batch; a lone surrogate cannot be sent as UTF-8 and becomes "?".
        inputs = [text[:_LONGEST].encode("utf-8", "replace").decode() or " " for text in texts]
        response = await self._post({"model": self._model, "input": inputs, "encoding_format": "float"})
        try:
            answer = response.json()
        except (ValueError, RecursionError):
            raise self._fault("answered something that is not JSON", _HINTS[404]) from None
        vectors = self._vectors(answer, len(texts))
        self._dimensions = vectors.shape[1]
        return Embeddings(vectors, _tokens(answer))

    async def _post(self, body: dict[str, Any]) -> httpx2.Response:
        """The answer with status 2xx, after one more try where that can help."""
        response = await self._send(body)
        if response.status_code == 429 or response.status_code >= 500:
            wait = _retry_after(response.headers.get("retry-after"))
            if wait <= _RETRY_WAIT_MAX:
                await asyncio.sleep(wait)
                response = await self._send(body)
        if response.is_success:
            return response
        hint = _HINTS.get(response.status_code, "Try later." if response.is_server_error else "Check the base URL.")
        raise self._fault(f"answered HTTP {response.status_code}", hint)

    async def _send(self, body: dict[str, Any]) -> httpx2.Response:
        import httpx2  # takes an eighth of a second, which only those who use it should spend

        try:
            if self._client is None:
                headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
                self._client = httpx2.AsyncClient(headers=headers, timeout=self._timeout)
            return await self._client.post(self._url, json=body)
        except httpx2.TimeoutException:
            raise self._fault(f"did not answer in {self._timeout:g} s", "Check that it runs, or raise the timeout.") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError) as error:  # UnicodeError: a key that is not ASCII
            hint = "Check that it runs, the base URL and the characters of the API key."
            raise self._fault(f"could not be asked ({type(error).__name__})", hint) from None

    def _vectors(self, answer: Any, count: int) -> NDArray[np.float32]:
        try:
            items = answer["data"]
            # Some endpoints leave `index` out; then the order is that of the texts.
            by_index = {item.get("index", position): item["embedding"] for position, item in enumerate(items)}
            if len(items) != count or set(by_index) != set(range(count)):
                raise self._fault(
                    f"answered {len(items)} vectors for {count} texts, or not one for each",
                    "Check that it serves embeddings.",
                )
            vectors = np.array([by_index[index] for index in range(count)], np.float64)
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
            raise self._fault("answered JSON without a list of vectors", "Check that the model is an embedding model.") from None
        if vectors.ndim != 2 or vectors.shape[1] != (self._dimensions or vectors.shape[1]):
            raise self._fault(
                f"answered vectors of shape {vectors.shape[1:]}, not ({self._dimensions},)",
                "Correct `dimensions`, or check that the model behind the name has not changed.",
            )
        with np.errstate(over="ignore"):  # an overflow is an infinite length, refused below
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not (np.isfinite(lengths).all() and lengths.all()):
            raise self._fault("answered a vector that is zero or not finite", "The model is broken or was given nothing to read.")
        return np.asarray(vectors / lengths, np.float32)

    def _fault(self, what: str, hint: str) -> EmbedderError:
        return EmbedderError(f"The embedding endpoint for {self._model} {what}. {hint}")


def _retry_after(header: str | None) -> float:
    """Seconds to wait, from a header that may hold seconds, a date, or nonsense."""
    if header is None:
        return _RETRY_WAIT
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(header).astimezone(UTC) - datetime.now(UTC)).total_seconds()
        except ValueError:
            return _RETRY_WAIT
    return max(0.0, seconds) if math.isfinite(seconds) else _RETRY_WAIT


def _tokens(answer: dict[str, Any]) -> int:
    """What the endpoint says it read; 0 where it does not say."""
    usage = answer.get("usage")
    if not isinstance(usage, dict):
        return 0
    tokens = usage.get("total_tokens", usage.get("prompt_tokens"))
    return tokens if isinstance(tokens, int) else 0
