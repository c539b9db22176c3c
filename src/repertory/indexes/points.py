"""How does what an engine keeps become a point again?

Engines of one family keep records of one shape: named vectors and a payload.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from repertory.indexes.base import BM25, GRAMS, KEYWORD, Point, Sparse
from repertory.indexes.requests import DENSE


def payload_of(point: Point) -> dict[str, Any]:
    """What a point is filtered by."""
    return {"bucket": point.bucket, "tags": list(point.tags), "names": list(point.names)}


def point_of(record: Any) -> Point:
    """A point as we know it, of any engine's record."""
    vectors: Mapping[str, Any] = record.vector if isinstance(record.vector, dict) else {}
    payload = record.payload or {}
    dense = vectors.get(DENSE)
    return Point(
        number=int(record.id),
        bucket=payload["bucket"],
        tags=tuple(payload["tags"]),
        names=tuple(payload["names"]),
        bm25=_sparse(vectors.get(BM25)),
        grams=_sparse(vectors.get(GRAMS)),
        keyword=_sparse(vectors.get(KEYWORD)),
        dense=np.asarray(dense, dtype=np.float32) if dense is not None else None,
    )


def _sparse(vector: Any) -> Sparse:
    return Sparse(list(vector.indices), list(vector.values)) if vector is not None else Sparse([], [])
