"""How does the embedded engine hold and rank points?

qdrant-edge, in process, one shard in one directory. Filtering costs: a keyword condition is cheap, a boolean or integer one reads payloads
(fifty times slower at 10,000 points), and none at all is cheapest. So the attributes that a filter looks at are one keyword, the bucket,
and a scope that holds every bucket is asked without a condition.

Memory: points that come in are held in it, some 9 kB each, until `optimize` makes a segment of them. A segment lies in files that are
mapped, so it takes as much memory as searches touch of it, and the system can have that back. So whoever fills a large index makes a
segment now and then, and segments are merged up to a size only: merging needs memory for all that is merged.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import logging
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import qdrant_edge as edge

from repertory.embedders.base import Vector
from repertory.errors import CatalogError
from repertory.indexes.base import BM25, GRAMS, KEYWORD, LaneQuery, Point, Scope, Sparse, Standing
from repertory.indexes.points import payload_of, point_of
from repertory.indexes.requests import DENSE, EF_CONSTRUCT, KEYWORD_FIELDS, OVERSAMPLING, QUANTILE, Quantisation, Request, answer
from repertory.model import Hit

_log = logging.getLogger(__name__)

SEAL_EVERY = 50_000  # points that are held in memory at most, some 450 MB
SEGMENT_KB = 100_000  # of one kind of vector, to which segments are merged: some 65,000 documents, and 1 GB while it is done
INDEX_ABOVE_KB = 7_500  # of dense vectors in a segment: about `requests.EXACT_BELOW` of them; then `optimize` builds HNSW
DELETED = 0.1  # share of removed points at which `optimize` lets them go: when it is called, it shall
BLOCK = 64 * 1024  # bytes: an empty one is not written when files are copied

QUANTISATIONS: Mapping[Quantisation, edge.ScalarQuantizationConfig | edge.BinaryQuantizationConfig | None] = {
    "none": None,
    "int8": edge.ScalarQuantizationConfig(edge.ScalarType.Int8, quantile=QUANTILE, memory=edge.Memory.Pinned),
    "binary": edge.BinaryQuantizationConfig(memory=edge.Memory.Pinned),
}

# Two hundred for a search: past a named tuple's own constructor, which takes twice as long. Ids of ours are numbers.
_hit: Callable[[tuple[Any, float]], Hit] = partial(tuple.__new__, Hit)


class EdgeIndex:
    """The index of a catalog directory. Calls block; one process owns the directory."""

    alone = True

    def __init__(self, directory: Path, *, ef_search: int = 100, quantisation: Quantisation = "none") -> None:
        self._shard_path = directory / "shard"
        self._standing_path = directory / "standing.json"
        self._ef_search = ef_search
        self._quantisation: Quantisation = quantisation
        self._loose = 0  # points that came in since a segment was made
        self._shard: edge.EdgeShard | None = None

    def create(self, dimensions: int) -> None:
        self.close()
        self._standing_path.unlink(missing_ok=True)  # first: a half-made shard must not look finished
        shutil.rmtree(self._shard_path, ignore_errors=True)
        self._shard_path.mkdir(parents=True)
        self._shard = edge.EdgeShard.create(str(self._shard_path), self._config(dimensions))
        for field in KEYWORD_FIELDS:
            params = edge.KeywordIndexParams(memory=edge.Memory.Cold)
            self._shard.update(edge.UpdateOperation.create_field_index(field, params))

    def _config(self, dimensions: int) -> edge.EdgeConfig:
        """How points are kept; how many threads search is chosen anew whenever the index is opened."""
        cold = edge.Memory.Cold
        small = QUANTISATIONS[self._quantisation]
        return edge.EdgeConfig(
            vectors={DENSE: edge.EdgeVectorParams(max(dimensions, 1), edge.Distance.Cosine, quantization_config=small, memory=cold)},
            sparse_vectors={
                BM25: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf, memory=cold),
                GRAMS: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf, memory=cold),
                KEYWORD: edge.EdgeSparseVectorParams(memory=cold),
            },
            optimizers=edge.EdgeOptimizersConfig(
                indexing_threshold=INDEX_ABOVE_KB,
                deleted_threshold=DELETED,
                vacuum_min_vector_number=1,
                default_segment_number=1,  # merge: every segment costs at opening and in every query
                max_segment_size=SEGMENT_KB,
            ),
            hnsw_config=edge.HnswIndexConfig(m=16, ef_construct=EF_CONSTRUCT, full_scan_threshold=INDEX_ABOVE_KB),
            max_search_threads=self._threads(),
        )

    def _threads(self) -> int:
        """A segment is searched by one thread; more threads than segments only wake each other."""
        segments = sum(1 for _ in self._shard_path.glob("segments/*/")) - 1  # one is for what comes next
        return max(1, min(segments, os.cpu_count() or 1))

    def standing(self) -> Standing | None:
        try:
            standing = Standing(**json.loads(self._standing_path.read_text()))
            if self._shard is None:
                self._shard = edge.EdgeShard.load(str(self._shard_path), self._config(standing.dimensions))
        except FileNotFoundError:
            return None
        except BaseException as error:  # the engine answers damage with a Rust panic, which is no Exception
            if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError):
                raise
            _log.warning("The search index cannot be opened and will be rebuilt: %s", error)
            return None
        return standing

    def checkpoint(self, standing: Standing) -> None:
        self._open.flush()
        partial = self._standing_path.with_suffix(".partial")
        with partial.open("w") as file:
            json.dump(asdict(standing), file)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(self._standing_path)

    def put(self, points: Sequence[Point]) -> None:
        if points:
            self._open.update(edge.UpdateOperation.upsert_points([_to_engine(point) for point in points]))
            self._seal(len(points))

    def put_vectors(self, vectors: Mapping[int, Vector]) -> None:
        if vectors:
            given = [edge.PointVectors(number, {DENSE: vector.tolist()}) for number, vector in vectors.items()]
            self._open.update(edge.UpdateOperation.update_vectors(given))
            self._seal(len(vectors))

    def _seal(self, came: int) -> None:
        """Make a segment of what has come in, when it is enough."""
        self._loose += came
        if self._loose >= SEAL_EVERY:
            self.optimize()

    def remove(self, numbers: Sequence[int]) -> None:
        if numbers:
            self._open.update(edge.UpdateOperation.delete_points(list(numbers)))

    def search(self, queries: Sequence[LaneQuery], scope: Scope) -> list[tuple[Hit, ...]]:
        return answer(queries, scope, self._ask)

    def _ask(self, asked: Sequence[Request]) -> list[list[Hit]]:
        answers = self._run([self._query(request) for request in asked])
        return [[_hit((point.id, point.score)) for point in points] for points in answers]

    def _run(self, requests: list[edge.QueryRequest]) -> list[list[edge.ScoredPoint]]:
        return self._open.query_batch(edge.QueryBatchRequest(requests))

    def _query(self, request: Request) -> edge.QueryRequest:
        probe = request.probe
        nearest = None
        if probe is not None:
            nearest = edge.Query.Nearest(edge.SparseVector(*probe) if isinstance(probe, Sparse) else probe.tolist(), request.using)
        params = None
        if request.exact is not None:
            quantised = edge.QuantizationSearchParams(ignore=request.exact, rescore=True, oversampling=OVERSAMPLING)
            params = edge.SearchParams(exact=request.exact, hnsw_ef=self._ef_search, quantization=quantised)
        return edge.QueryRequest(limit=request.limit, query=nearest, filter=_filter(request), params=params)

    def points(self) -> Iterator[Point]:
        offset: Any = None
        while True:
            request = edge.ScrollRequest(offset=offset, limit=256, with_payload=True, with_vector=True)
            records, offset = self._open.scroll(request)
            yield from (point_of(record) for record in records)
            if offset is None:
                return

    def count(self, *, with_vector: bool = False) -> int:
        having = edge.Filter(must=[edge.HasVectorCondition(DENSE)]) if with_vector else None
        return self._open.count(edge.CountRequest(exact=True, filter=having))

    def optimize(self) -> None:
        self._open.optimize()
        self._open.flush()  # only then does the engine let go of what was merged
        self._loose = 0
        _give_back()

    def copy(self, directory: Path) -> None:
        shutil.copytree(self._shard_path.parent, directory, copy_function=_copy_with_holes)

    def discard(self) -> None:
        self.close()
        shutil.rmtree(self._shard_path.parent, ignore_errors=True)

    def close(self) -> None:
        if self._shard is not None:
            shard, self._shard = self._shard, None
            with contextlib.suppress(Exception):  # closing a damaged shard fails, and it is going away anyway
                shard.close()

    @property
    def _open(self) -> edge.EdgeShard:
        if self._shard is None:
            raise CatalogError("The search index is closed. Open the catalog again.")
        return self._shard


def _give_back() -> None:
    """What was needed for merging is free, but glibc keeps it: more than a catalog needs to be searched."""
    with contextlib.suppress(AttributeError, OSError, TypeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)


def _copy_with_holes(source: str, target: str) -> None:
    """The engine's files are set out at their full size, and mostly empty: 260 MB, of which a small catalog fills ten."""
    with Path(source).open("rb") as whole, Path(target).open("wb") as copy:
        while piece := whole.read(BLOCK):
            if piece.count(0) == len(piece):
                copy.seek(len(piece), os.SEEK_CUR)
            else:
                copy.write(piece)
        copy.truncate()


def _filter(request: Request) -> edge.Filter | None:
    must: list[Any] = []
    if request.name is not None:
        must.append(edge.FieldCondition("names", match=edge.MatchValue(request.name)))
    if request.buckets is not None:
        match = edge.MatchValue(request.buckets[0]) if len(request.buckets) == 1 else edge.MatchAny(list(request.buckets))
        must.append(edge.FieldCondition("bucket", match=match))
    must += [edge.FieldCondition("tags", match=edge.MatchValue(tag)) for tag in request.tags]
    if request.among is not None:
        must.append(edge.HasIdCondition(set(request.among)))
    return edge.Filter(must=must) if must else None


def _to_engine(point: Point) -> edge.Point:
    vectors: dict[str, Any] = {}
    if point.dense is not None:
        vectors[DENSE] = point.dense.tolist()
    for name, sparse in ((BM25, point.bm25), (GRAMS, point.grams), (KEYWORD, point.keyword)):
        if sparse.indices:
            vectors[name] = edge.SparseVector(*sparse)
    return edge.Point(point.number, vectors, payload_of(point))
