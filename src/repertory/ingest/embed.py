"""How do documents, and the concepts in them, get their vectors?

Texts without a vector under the current model are embedded in batches, each written and searchable at once. A model that fails leaves them
waiting: they are found by their words, and the next run goes on where this one stopped (A15, A16).
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping

from repertory.embedders.base import Embedder, Vector
from repertory.errors import EmbedderError
from repertory.ingest.report import Progress
from repertory.model import content_digest
from repertory.offload import offload
from repertory.store import Store

_log = logging.getLogger(__name__)

PATIENCE = 2  # batches that may fail in a row: one may hold a text that the model refuses, two are a model that is away

Write = Callable[[Mapping[str, Vector]], Awaitable[None]]


async def embed_pending(store: Store, embedder: Embedder, write: Write, progress: Progress) -> tuple[int, str]:
    """Embed what waits and hand each batch to `write`; answers how many texts that were, and why others still wait."""
    total = await offload(store.count_pending, embedder.model)
    done, last, failures, excuse = 0, 0, 0, ""
    while failures < PATIENCE and (waiting := await offload(store.pending, embedder.model, last, embedder.batch)):
        last = waiting[-1][0]
        texts = {digest: text for _, digest, text in waiting}  # equal texts cost one vector
        try:
            embedded = await embedder.embed_documents(list(texts.values()))
        except EmbedderError as error:
            failures, excuse = failures + 1, str(error)
            _log.warning("%d texts were not embedded: %s", len(texts), error)
            continue
        await write(dict(zip(texts, embedded.vectors, strict=True)))
        done, failures = done + len(texts), 0
        progress("Embedding", done, max(total, done))
    return done, excuse


def pending_concepts(store: Store, model: str) -> list[str]:
    """The words of the concept vocabulary that have no vector under this model yet (B06)."""
    return [word for word, vector in store.concepts(model).items() if vector is None]


async def embed_concepts(store: Store, embedder: Embedder, write: Write, progress: Progress) -> str:
    """Embed the concepts that wait, as `embed_pending` does documents; answers why some still wait."""
    waiting = await offload(pending_concepts, store, embedder.model)
    for start in range(0, len(waiting), embedder.batch):
        batch = waiting[start : start + embedder.batch]
        try:
            embedded = await embedder.embed_documents(batch)
        except EmbedderError as error:
            _log.warning("%d concepts were not embedded: %s", len(waiting) - start, error)
            return str(error)
        await write(dict(zip(map(content_digest, batch), embedded.vectors, strict=True)))
        progress("Embedding concepts", start + len(batch), len(waiting))
    return ""
