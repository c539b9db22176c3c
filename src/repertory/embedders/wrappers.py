"""What does every embedder need around it?

`Counted` tells how many tokens it reads (E12); `Guarded` keeps a broken or slow model from slowing every search (A15); `Cached` keeps a
repeated query from being embedded twice (E09). All are embedders themselves. `Cached(Guarded(Counted(...)))` is the useful order: a cached
query is answered while the breaker is open, and is not counted.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace

from repertory.breaker import Breaker
from repertory.cache import Clock, TimedCache
from repertory.embedders.base import Embedder, Embeddings
from repertory.errors import EmbedderError
from repertory.telemetry import count_tokens


class _Wrapper:
    """Passes everything on."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def model(self) -> str:
        return self._embedder.model

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    @property
    def batch(self) -> int:
        return self._embedder.batch

    async def embed_documents(self, texts: Sequence[str]) -> Embeddings:
        return await self._embedder.embed_documents(texts)

    async def embed_query(self, text: str) -> Embeddings:
        return await self._embedder.embed_query(text)

    async def close(self) -> None:
        await self._embedder.close()


class Counted(_Wrapper):
    """Tells how many tokens the model reads."""

    async def embed_documents(self, texts: Sequence[str]) -> Embeddings:
        answer = await self._embedder.embed_documents(texts)
        count_tokens(answer.tokens, "document")
        return answer

    async def embed_query(self, text: str) -> Embeddings:
        answer = await self._embedder.embed_query(text)
        count_tokens(answer.tokens, "query")
        return answer


class Guarded(_Wrapper):
    """A time limit and a breaker.

    A query that fails or times out opens the breaker. Documents are refused during a pause too, but do not move the breaker: a text that
    the model cannot take, or a long run, says nothing about queries.
    """

    def __init__(
        self,
        embedder: Embedder,
        *,
        pause: float = 30.0,
        timeout: float = 10.0,
        document_timeout: float = 600.0,  # a whole indexing run may be one call
        clock: Clock = time.monotonic,
    ) -> None:
        super().__init__(embedder)
        self._breaker = Breaker(f"The embedder {embedder.model}", EmbedderError, pause=pause, timeout=timeout, clock=clock)
        self._document_timeout = document_timeout

    async def embed_documents(self, texts: Sequence[str]) -> Embeddings:
        self._breaker.refuse_while_open()
        try:
            async with asyncio.timeout(self._document_timeout):
                return await self._embedder.embed_documents(texts)
        except TimeoutError:
            raise EmbedderError(
                f"The embedder {self.model} did not finish {len(texts)} documents in {self._document_timeout:g} s: "
                "embed fewer at once, or raise the limit."
            ) from None

    async def embed_query(self, text: str) -> Embeddings:
        return await self._breaker.call(lambda: self._embedder.embed_query(text))


class Cached(_Wrapper):
    """Remembers query vectors. Of equal queries only the one that was embedded reports its tokens, the others 0 (E09)."""

    def __init__(self, embedder: Embedder, *, size: int = 2048, ttl: float = 900.0, clock: Clock = time.monotonic) -> None:
        super().__init__(embedder)
        self._cache: TimedCache[str, Embeddings] = TimedCache(size=size, ttl=ttl, clock=clock)

    def remembered(self, text: str) -> Embeddings | None:
        """What `embed_query` would answer at once."""
        answer = self._cache.known(text)
        return None if answer is None else replace(answer, tokens=0)

    async def embed_query(self, text: str) -> Embeddings:
        answer, made = await self._cache.get(text, lambda: self._shared(text))
        return answer if made else replace(answer, tokens=0)

    async def close(self) -> None:
        await self._cache.close()
        await super().close()

    async def _shared(self, text: str) -> Embeddings:
        answer = await self._embedder.embed_query(text)
        answer.vectors.flags.writeable = False  # for everyone who asks the same
        return answer
