"""Where is the truth kept?

In SQL: entities, documents, embeddings, edges, sources, revisions, and an outbox of what the search index has yet to reflect. Nothing here
ranks.
"""

from repertory.store.catalog import Store
from repertory.store.copy import copy_database
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
    "copy_database",
]
