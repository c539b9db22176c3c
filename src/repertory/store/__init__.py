"""Where is the truth kept?

In SQL: entities, documents, embeddings, edges, sources, revisions, and an outbox of what the search index has yet to reflect. Nothing here
ranks.
"""

from repertory.store.catalog import Store
from repertory.store.choose import open_store
from repertory.store.copy import copy_database, copy_store
from repertory.store.records import (
    Call,
    Changes,
    DocumentRecord,
    Event,
    KeyRecord,
    NewDocument,
    Override,
    Pairing,
    Pin,
    Reference,
    Snapshot,
    SourceRecord,
    SourceState,
)
from repertory.store.turns import Turn

__all__ = [
    "Call",
    "Changes",
    "DocumentRecord",
    "Event",
    "KeyRecord",
    "NewDocument",
    "Override",
    "Pairing",
    "Pin",
    "Reference",
    "Snapshot",
    "SourceRecord",
    "SourceState",
    "Store",
    "Turn",
    "copy_database",
    "copy_store",
    "open_store",
]
