"""What does the vector lane look for?

The vector of the query's text, or several: a rewrite and a correction are embedded beside it (E06). A context leans each of them its way
(E07). No vector, for whatever reason, is a sentence that says so, not an error.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np

from repertory.embedders.base import Embedder, Vector
from repertory.errors import EmbedderError
from repertory.indexes.encode import CONTEXT

Vectors = tuple[Vector, ...]


async def look(embedder: Embedder | None, texts: Sequence[str], context: str, *, bare: bool) -> Vectors | str:
    """The vectors of these texts, or why there are none. `bare`: the catalog has documents, but none of them a vector (C05)."""
    if embedder is None:
        return "no embedding model is configured."
    if bare:
        return "nothing in the catalog has a vector yet."
    try:
        found = await _each(embedder, (*texts, *([context] if context else ())))
    except EmbedderError as error:
        return str(error)
    own = found[: len(texts)]
    usable = tuple(vector for vector in own if np.any(vector))
    if not usable:
        return "the model made nothing of this query."  # E05: a vector of zeros points nowhere
    return tuple(_lean(vector, found[-1]) for vector in usable) if context else usable


async def _each(embedder: Embedder, texts: Sequence[str]) -> list[Vector]:
    if len(texts) == 1:  # without a turn of the event loop, where it is remembered
        return [await _embed(embedder, texts[0])]
    return await asyncio.gather(*(_embed(embedder, text) for text in texts))


async def _embed(embedder: Embedder, text: str) -> Vector:
    vector: Vector = (await embedder.embed_query(text)).vectors[0]
    return vector


def _lean(vector: Vector, context: Vector) -> Vector:
    leaning = vector + CONTEXT * context
    return np.asarray(leaning / np.linalg.norm(leaning), dtype=np.float32)
