"""What does a catalog hold, in a form in which two can be compared?"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from repertory.app import Repertory
from repertory.model import SearchRequest, Strategy
from repertory.model.request import MAX_LIMIT

LANES = (Strategy.BM25, Strategy.KEYWORD, Strategy.EMBEDDING, Strategy.GRAPH)

# Numbers, positions and revisions tell how a catalog came about, not what it holds. So do the guard's findings: of two tools that say the
# same, the one that came later is the copy.
_HELD = {
    "sources": "SELECT name, location, live, state, error FROM sources",
    "entities": "SELECT id, kind, name, bucket, source, provenance, digest, json_remove(data, '$.findings'), modified FROM entities",
    "documents": "SELECT id, entity_id, bucket, digest, signature, anchor, length, short_names, terms, words FROM documents",
    "vectors": "SELECT d.id, e.model, e.vector FROM documents d LEFT JOIN embeddings e ON e.digest = d.digest",
    "edges": "SELECT * FROM edges",
    "statements": "SELECT * FROM statements",
    "terms": "SELECT * FROM terms",
    "words": "SELECT * FROM words",
}


def held(catalog: Path) -> dict[str, list[Any]]:
    """Everything that a closed catalog holds."""
    with contextlib.closing(sqlite3.connect(catalog / "catalog.db")) as connection:
        return {name: sorted(connection.execute(statement), key=repr) for name, statement in _HELD.items()}


async def answered(rep: Repertory, queries: Iterable[str]) -> dict[tuple[str, str], list[tuple[float, str]]]:
    """What every lane answers: who is found and how well. Among equals the older is first, and at the end of a full answer stays alone:
    that is no part of it."""
    found = {}
    for query in queries:
        for lane in LANES:
            response = await rep.search(SearchRequest(query, strategy=lane, limit=MAX_LIMIT, min_confidence=0.0))
            results = sorted((-round(result.score, 4), result.entity.id) for result in response.results)
            last = results[-1][0] if len(results) == MAX_LIMIT else None
            found[query, lane.value] = [result for result in results if result[0] != last]
    return found
