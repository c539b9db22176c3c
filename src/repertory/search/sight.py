"""What does the vector lane look for?

The vector of the query's text, or several: a rewrite and a correction are embedded beside it (E06). A context leans each of them its way
(E07). No vector, for whatever reason, is a sentence that says so, not an error.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from repertory.embedders.base import Embedder, Embeddings, Vector
from repertory.errors import EmbedderError
from repertory.indexes.encode import CONTEXT

Vectors = tuple[Vector, ...]

_UNCONFIGURED, _BARE = "no embedding model is configured.", "nothing in the catalog has a vector yet."


@runtime_checkable
class Remembering(Protocol):
    """An embedder that remembers."""

    def remembered(self, text: str) -> Embeddings | None:
        """What it would answer at once."""
        ...


def at_once(embedder: Embedder | None, texts: Sequence[str], context: str, *, bare: bool) -> Vectors | str | None:
    """What `look` would answer without waiting, for the query that most are: one text, and no context; None where it must be asked."""
    if embedder is None or bare:
        return _UNCONFIGURED if embedder is None else _BARE
    if context or len(texts) > 1 or not isinstance(embedder, Remembering):
        return None
    known = embedder.remembered(texts[0])
    return None if known is None else _usable([known.vectors[0]])


async def look(embedder: Embedder | None, texts: Sequence[str], context: str, *, bare: bool) -> Vectors | str:
    """The vectors of these texts, or why there are none. `bare`: the catalog has documents, but none of them a vector (C05)."""
    if embedder is None or bare:
        return _UNCONFIGURED if embedder is None else _BARE
    try:
        found = await _each(embedder, (*texts, *([context] if context else ())))
    except EmbedderError as error:
        return str(error)
    usable = _usable(found[: len(texts)])
    return tuple(_lean(vector, found[-1]) for vector in usable) if context and not isinstance(usable, str) else usable


def _usable(vectors: Sequence[Vector]) -> Vectors | str:
    return tuple(vector for vector in vectors if np.any(vector)) or "the model made nothing of this query."  # E05: zeros point nowhere


async def _each(embedder: Embedder, texts: Sequence[str]) -> list[Vector]:
    if len(texts) == 1:
        return [await _embed(embedder, texts[0])]
    return await asyncio.gather(*(_embed(embedder, text) for text in texts))


async def _embed(embedder: Embedder, text: str) -> Vector:
    vector: Vector = (await embedder.embed_query(text)).vectors[0]
    return vector


def _lean(vector: Vector, context: Vector) -> Vector:
    leaning = vector + CONTEXT * context
    return np.asarray(leaning / np.linalg.norm(leaning), dtype=np.float32)
