"""What does a search expect of the models that help it?"""

from __future__ import annotations

from collections.abc import Sequence
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
