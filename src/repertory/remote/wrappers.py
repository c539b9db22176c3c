"""What does every remote model need around it?

A breaker, so that a dead one does not slow every search, and for rewrites a cache (E09). `CachedRewriter(GuardedRewriter(...))` is the
useful order: a known query is rewritten while the breaker is open.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping, Sequence

from repertory.breaker import Breaker
from repertory.cache import Clock, TimedCache
from repertory.errors import RemoteModelError
from repertory.remote.base import ChatModel, Ending, Reranker, Rewriter

PAUSE = 30.0  # seconds: as long as a failed embedder rests
WHOLE = 10  # times the wait for a word: as long as a whole answer of a chat model may take
REWRITE_TTL = 1800.0  # E09
REWRITES = 2048  # as many as query vectors: the same queries


class GuardedRewriter:
    """A time limit and a breaker around a rewriter."""

    def __init__(self, rewriter: Rewriter, *, pause: float = PAUSE, timeout: float = 5.0, clock: Clock = time.monotonic) -> None:
        self._rewriter = rewriter
        self._breaker = Breaker("The rewriter", RemoteModelError, pause=pause, timeout=timeout, clock=clock)

    async def rewrite(self, text: str) -> str | None:
        return await self._breaker.call(lambda: self._rewriter.rewrite(text))

    async def close(self) -> None:
        await self._rewriter.close()


class CachedRewriter:
    """Remembers rewrites, and that there is none."""

    def __init__(self, rewriter: Rewriter, *, size: int = REWRITES, ttl: float = REWRITE_TTL, clock: Clock = time.monotonic) -> None:
        self._rewriter = rewriter
        self._cache: TimedCache[str, str | None] = TimedCache(size=size, ttl=ttl, clock=clock)

    async def rewrite(self, text: str) -> str | None:
        return (await self._cache.get(text, lambda: self._rewriter.rewrite(text))).value

    async def close(self) -> None:
        await self._cache.close()
        await self._rewriter.close()


class GuardedReranker:
    """A time limit and a breaker around a re-ranker."""

    def __init__(self, reranker: Reranker, *, pause: float = PAUSE, timeout: float = 5.0, clock: Clock = time.monotonic) -> None:
        self._reranker = reranker
        self._breaker = Breaker("The re-ranker", RemoteModelError, pause=pause, timeout=timeout, clock=clock)

    async def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        return await self._breaker.call(lambda: self._reranker.rerank(query, texts))

    async def close(self) -> None:
        await self._reranker.close()


class GuardedChatModel:
    """A time limit for the first word and for the whole answer, and a breaker that opens when the first word does not come."""

    def __init__(self, model: ChatModel, *, pause: float = PAUSE, timeout: float = 60.0, clock: Clock = time.monotonic) -> None:
        self._model = model
        self._timeout = timeout
        self._breaker = Breaker("The chat model", RemoteModelError, pause=pause, timeout=timeout, clock=clock)

    @property
    def model(self) -> str:
        return self._model.model

    async def reply(self, messages: Sequence[Mapping[str, str]]) -> AsyncGenerator[str | Ending, None]:
        pieces = self._model.reply(messages)
        ends = asyncio.get_running_loop().time() + WHOLE * self._timeout
        try:
            piece = await self._breaker.call(lambda: anext(pieces, None))
            while piece is not None:
                yield piece
                async with asyncio.timeout_at(ends):
                    piece = await anext(pieces, None)
        except TimeoutError:
            raise RemoteModelError(f"The chat model did not come to an end in {WHOLE * self._timeout:g} s.") from None
        finally:
            await pieces.aclose()

    async def close(self) -> None:
        await self._model.close()
