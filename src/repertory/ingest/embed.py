"""How do documents get their vectors?

Texts without a vector under the current model are embedded in batches, each written and searchable at once. A model that fails leaves them
waiting: they are found by their words, and the next run goes on where this one stopped (A15, A16).
"""

from __future__ import annotations

from repertory.embedders.base import Embedder, Vector
from repertory.indexes.sync import Sync
from repertory.ingest.run import Progress
from repertory.offload import offload
from repertory.store import Store

BATCH = 256  # texts: enough to fill the model, few enough to lose little when stopped


async def embed_pending(store: Store, sync: Sync, embedder: Embedder, progress: Progress) -> int:
    """Embed what waits; answers how many texts that were. Raises `EmbedderError` when the model gives up."""
    total = await offload(store.count_pending, embedder.model)
    done, last = 0, 0
    while waiting := await offload(store.pending, embedder.model, last, BATCH):
        texts = {digest: text for _, digest, text in waiting}  # equal texts cost one vector
        embedded = await embedder.embed_documents(list(texts.values()))
        await offload(_write, store, sync, embedder.model, dict(zip(texts, embedded.vectors, strict=True)))
        done += len(texts)
        last = waiting[-1][0]
        progress("Embedding", done, max(total, done))
    return done


def _write(store: Store, sync: Sync, model: str, vectors: dict[str, Vector]) -> None:
    store.add_embeddings(model, vectors)
    sync.catch_up()
