"""How are points and requests said in the words of a Qdrant?"""

from __future__ import annotations

from typing import Any

from qdrant_client import models as qd

from repertory.indexes.base import BM25, GRAMS, KEYWORD, Point, Sparse
from repertory.indexes.points import payload_of
from repertory.indexes.requests import DENSE, OVERSAMPLING, Request


def query_of(request: Request, ef_search: int) -> qd.QueryRequest:
    """A request as a Qdrant takes it."""
    probe = request.probe
    asked: Any = None
    if probe is not None:
        asked = qd.SparseVector(indices=probe.indices, values=probe.values) if isinstance(probe, Sparse) else probe.tolist()
    params = None
    if request.exact is not None:
        quantised = qd.QuantizationSearchParams(ignore=request.exact, rescore=True, oversampling=OVERSAMPLING)
        params = qd.SearchParams(exact=request.exact, hnsw_ef=ef_search, quantization=quantised)
    using = request.using if probe is not None else None
    return qd.QueryRequest(query=asked, using=using, filter=_filter(request), params=params, limit=request.limit)


def _filter(request: Request) -> qd.Filter | None:
    must: list[Any] = []
    if request.name is not None:
        must.append(qd.FieldCondition(key="names", match=qd.MatchValue(value=request.name)))
    if request.buckets is not None:
        match = qd.MatchValue(value=request.buckets[0]) if len(request.buckets) == 1 else qd.MatchAny(any=list(request.buckets))
        must.append(qd.FieldCondition(key="bucket", match=match))
    must += [qd.FieldCondition(key="tags", match=qd.MatchValue(value=tag)) for tag in request.tags]
    if request.among is not None:
        must.append(qd.HasIdCondition(has_id=sorted(request.among)))
    return qd.Filter(must=must) if must else None


def to_engine(point: Point) -> qd.PointStruct:
    """A point as a Qdrant keeps it."""
    vectors: dict[str, Any] = {}
    if point.dense is not None:
        vectors[DENSE] = point.dense.tolist()
    for name, sparse in ((BM25, point.bm25), (GRAMS, point.grams), (KEYWORD, point.keyword)):
        if sparse.indices:
            vectors[name] = qd.SparseVector(indices=sparse.indices, values=sparse.values)
    return qd.PointStruct(id=point.number, vector=vectors, payload=payload_of(point))
