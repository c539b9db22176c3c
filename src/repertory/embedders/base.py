"""What does the rest of the house expect of an embedder?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Embeddings:
    """Unit vectors, one row per text, and how many tokens the model read for them. Zeros: the model knows nothing of the text (E05)."""

    vectors: NDArray[np.float32]  # shape (texts, dimensions)
    tokens: int


class Embedder(Protocol):
    """Turns text into unit vectors. Query and document may be embedded differently (C07). Failures are `EmbedderError`s."""

    @property
    def model(self) -> str:
        """Names the model and everything that changes its vectors; stored beside them."""
        ...

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        ...

    @property
    def batch(self) -> int:
        """How many documents are best given at once: enough to be quick, few enough to lose little when stopped."""
        ...

    async def embed_documents(self, texts: Sequence[str]) -> Embeddings:
        """Vectors for texts to be found, in the order given."""
        ...

    async def embed_query(self, text: str) -> Embeddings:
        """One vector for a question."""
        ...

    async def close(self) -> None:
        """Let go of connections and threads."""
        ...
