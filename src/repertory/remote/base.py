"""What do searches and answers expect of the models that help them?"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


class Rewriter(Protocol):
    """Turns a query into a short English one (E06). Failures are `RemoteModelError`s."""

    async def rewrite(self, text: str) -> str | None:
        """The query in English, identifiers verbatim. None: the model made nothing of it."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


class Reranker(Protocol):
    """Reads a query and texts together (B07). Failures are `RemoteModelError`s."""

    async def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """How well each text answers the query, in [0, 1], in the order given."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


DONE, LENGTH, CUT = "stop", "length", "cut"  # endpoints have words of their own besides, such as content_filter


@dataclass(frozen=True, slots=True)
class Ending:
    """How a chat model's answer ended, and what it cost where that was told."""

    reason: str
    usage: Mapping[str, int] | None = None


class ChatModel(Protocol):
    """Answers in a conversation (D07). Failures are `RemoteModelError`s, at any point of an answer."""

    @property
    def model(self) -> str:
        """The name of the model."""
        ...

    def reply(self, messages: Sequence[Mapping[str, str]]) -> AsyncGenerator[str | Ending, None]:
        """Pieces of text as they come, and how it ended, last. Closing it ends the request."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...
