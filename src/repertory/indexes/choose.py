"""Which index do the settings mean?"""

from __future__ import annotations

from repertory.errors import SettingsError
from repertory.indexes.base import BM25, GRAMS, Index
from repertory.indexes.edge import EdgeIndex
from repertory.settings import EMBEDDED, SECURE, Settings, nodes_of
from repertory.store import Store


def make_index(settings: Settings, store: Store, folder: str) -> Index:
    """The index of a catalog; `folder` tells the one that answers from its successor."""
    if settings.index == EMBEDDED:
        return EdgeIndex(settings.catalog / folder, ef_search=settings.ef_search, quantisation=settings.index_quantisation)
    try:
        from repertory.indexes.nodes import Nodes  # only who has a Qdrant needs its client
        from repertory.indexes.qdrant import Layout, QdrantIndex
    except ImportError as error:
        raise SettingsError(f"index = {settings.index!r} needs the package qdrant-client: pip install 'repertory[qdrant]'.") from error
    key = settings.index_key.get_secret_value() if settings.index_key else None
    name = f"repertory-{store.identity()}"
    return QdrantIndex(
        Nodes(nodes_of(settings.index), tls=settings.index.startswith(SECURE), key=key),
        name,
        f"{name}-{folder}",
        {BM25: store.frequencies, GRAMS: store.gram_frequencies},
        layout=Layout(settings.index_shards, settings.index_replicas, settings.index_consistency, settings.index_quantisation),
        ef_search=settings.ef_search,
        timeout=settings.index_timeout,
    )
