"""What does every embedder need around it?

`Guarded` keeps a broken or slow model from slowing every search (A15); `Cached` keeps a repeated query from being
embedded twice (E09). Both are embedders themselves. `Cached(Guarded(...))` is the useful order: a cached query is
answered while the breaker is open.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace

from repertory.embedders.base import Embedder, Embeddings
from repertory.errors import EmbedderError

Clock = Callable[[], float]


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

    async def embed_documents(self, texts: Sequence[str]) -> Embeddings:
        return await self._embedder.embed_documents(texts)

    async def embed_query(self, text: str) -> Embeddings:
        return await self._embedder.embed_query(text)

    async def close(self) -> None:
        await self._embedder.close()


class Guarded(_Wrapper):
    """A time limit and a circuit breaker.

    A query that fails or times out opens the breaker: calls fail at once, for `pause` seconds. Then one query is let
    through; its success closes the breaker, its failure starts the next pause. Documents are refused during a pause
    too, but do not move the breaker: a text that the model cannot take, or a long run, says nothing about queries.
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
        self._pause = pause
        self._timeout = timeout
        self._document_timeout = document_timeout
        self._clock = clock
        self._retry_at: float | None = None  # None: the breaker is closed
        self._reason = ""

    async def embed_documents(self, texts: Sequence[str]) -> Embeddings:
        self._refuse_while_open()
        try:
            async with asyncio.timeout(self._document_timeout):
                return await self._embedder.embed_documents(texts)
        except TimeoutError:
            raise EmbedderError(
                f"The embedder {self.model} did not finish {len(texts)} documents in {self._document_timeout:g} s: "
                "embed fewer at once, or raise the limit."
            ) from None

    async def embed_query(self, text: str) -> Embeddings:
        self._refuse_while_open()
        started = self._clock()
        trial = self._retry_at is not None
        if trial:
            self._retry_at = started + self._pause  # refuses everyone else until this one is back
        try:
            async with asyncio.timeout(self._timeout):
                answer = await self._embedder.embed_query(text)
        except TimeoutError:
            raise self._open(f"The embedder {self.model} did not answer in {self._timeout:g} s.") from None
        except EmbedderError as error:
            raise self._open(str(error)) from error
        except asyncio.CancelledError:
            if trial:
                self._retry_at = started  # the caller left and nothing was learned: the next query is the trial
            raise
        self._retry_at = None
        return answer

    def _open(self, reason: str) -> EmbedderError:
        self._retry_at = self._clock() + self._pause
        self._reason = reason
        return EmbedderError(f"{reason} It will be tried again in {self._pause:g} s.")

    def _refuse_while_open(self) -> None:
        if self._retry_at is not None and (left := self._retry_at - self._clock()) > 0:
            raise EmbedderError(f"The embedder {self.model} rests after a failure, to be tried again in {left:.1f} s. {self._reason}")


class Cached(_Wrapper):
    """Remembers query vectors: the `size` used last, each for `ttl` seconds. Failures are not remembered.

    Equal queries at the same time cost one call. Only the one that made it reports its tokens, the others 0 (E09).
    """

    def __init__(self, embedder: Embedder, *, size: int = 2048, ttl: float = 900.0, clock: Clock = time.monotonic) -> None:
        super().__init__(embedder)
        self._size = size
        self._ttl = ttl
        self._clock = clock
        self._entries: OrderedDict[str, tuple[float, Embeddings]] = OrderedDict()  # text -> (expiry, answer), oldest use first
        self._flights: dict[str, asyncio.Task[Embeddings]] = {}

    async def embed_query(self, text: str) -> Embeddings:
        if (known := self._known(text)) is not None:
            return known
        if (flight := self._flights.get(text)) is not None:
            return replace(await asyncio.shield(flight), tokens=0)
        # A task of its own, shielded: a caller who leaves must not take the answer from the others.
        flight = self._flights[text] = asyncio.create_task(self._fly(text))
        flight.add_done_callback(lambda task: task.cancelled() or task.exception())  # seen, even when every caller left
        return await asyncio.shield(flight)

    async def close(self) -> None:
        await asyncio.gather(*self._flights.values(), return_exceptions=True)
        self._entries.clear()
        await super().close()

    def _known(self, text: str) -> Embeddings | None:
        if (entry := self._entries.get(text)) is None:
            return None
        expiry, answer = entry
        if self._clock() >= expiry:
            del self._entries[text]
            return None
        self._entries.move_to_end(text)
        return answer

    async def _fly(self, text: str) -> Embeddings:
        try:
            answer = await self._embedder.embed_query(text)
        finally:
            del self._flights[text]
        answer.vectors.flags.writeable = False  # shared from now on
        self._entries[text] = (self._clock() + self._ttl, replace(answer, tokens=0))
        self._entries.move_to_end(text)
        if len(self._entries) > self._size:
            self._entries.popitem(last=False)
        return answer
