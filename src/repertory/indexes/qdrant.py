"""How does a Qdrant server or cluster hold and rank points?

As the embedded engine does: the same vectors, conditions and requests. Two things differ. A collection of several shards counts IDF in each
shard alone, so IDF is folded into the query here, from the counts of the catalog: exact on any number of shards. And a collection is built
beside the one that answers; an alias moves over at the checkpoint, so that nobody searches half an index.
"""

from __future__ import annotations

import contextlib
import json
import logging
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from qdrant_client import QdrantClient
from qdrant_client import models as qd

from repertory.embedders.base import Vector
from repertory.errors import CatalogError, IndexUnavailable
from repertory.indexes.base import BM25, GRAMS, KEYWORD, LaneQuery, Point, Scope, Sparse, Standing
from repertory.indexes.edge import EdgeIndex
from repertory.indexes.messages import query_of, to_engine
from repertory.indexes.nodes import Nodes
from repertory.indexes.points import point_of
from repertory.indexes.requests import DENSE, EF_CONSTRUCT, KEYWORD_FIELDS, QUANTILE, Quantisation, Request, answer
from repertory.model import Hit

_log = logging.getLogger(__name__)

T = TypeVar("T")
Frequencies = Callable[[Sequence[int]], Mapping[int, int]]  # how many documents have each of these dimensions

PORTION = 200  # points in one message: some 3 MB, where a server takes 32
PAGE = 256  # points read at once
INDEX_ABOVE_KB = 10_000  # of dense vectors in a segment, then HNSW is built: Qdrant's own default
CONSENSUS = 30  # seconds for what all nodes must agree on
NOTE = "repertory"  # under this key the metadata of a collection say what it reflects

QUANTISATIONS: Mapping[Quantisation, qd.QuantizationConfig | None] = {
    "none": None,
    "int8": qd.ScalarQuantization(scalar=qd.ScalarQuantizationConfig(type=qd.ScalarType.INT8, quantile=QUANTILE, always_ram=True)),
    "binary": qd.BinaryQuantization(binary=qd.BinaryQuantizationConfig(always_ram=True)),
}


@dataclass(frozen=True, slots=True)
class Layout:
    """How a collection is spread over nodes. What is there already keeps its own until it is built anew."""

    shards: int = 1
    replicas: int = 1
    consistency: int = 1  # replicas that must have a write before it counts
    quantisation: Quantisation = "none"


ON_ONE_NODE = Layout()


class QdrantIndex:
    """The index of one catalog on a server or cluster. Calls block; one process writes, any number may search."""

    alone = False

    def __init__(
        self,
        nodes: Nodes,
        name: str,
        alias: str,
        frequencies: Mapping[str, Frequencies],
        *,
        layout: Layout = ON_ONE_NODE,
        ef_search: int = 100,
        timeout: int = 5,
    ) -> None:
        self._nodes = nodes
        self._name = name  # its collections are called like this, and a number
        self._alias = alias
        self._frequencies = frequencies  # of the lanes with IDF
        self._layout = layout
        self._ef_search = ef_search
        self._timeout = timeout
        self._reads: str | None = None  # the collection that answers
        self._writes: str | None = None  # the one that is built; usually the same
        self._closed = False

    def create(self, dimensions: int) -> None:
        layout = self._layout

        def make(client: QdrantClient) -> str:
            name = f"{self._name}-{1 + max(self._numbers(client), default=0)}"  # here: what an attempt left half made keeps its number
            client.create_collection(
                name,
                vectors_config={
                    DENSE: qd.VectorParams(
                        size=max(dimensions, 1), distance=qd.Distance.COSINE, quantization_config=QUANTISATIONS[layout.quantisation]
                    )
                },
                sparse_vectors_config={lane: qd.SparseVectorParams() for lane in (BM25, GRAMS, KEYWORD)},
                shard_number=layout.shards,
                replication_factor=layout.replicas,
                write_consistency_factor=layout.consistency,
                hnsw_config=qd.HnswConfigDiff(ef_construct=EF_CONSTRUCT),
                optimizers_config=qd.OptimizersConfigDiff(indexing_threshold=INDEX_ABOVE_KB),
                timeout=CONSENSUS,
            )
            for field in KEYWORD_FIELDS:
                client.create_payload_index(name, field, qd.PayloadSchemaType.KEYWORD, wait=True)
            return name

        self._writes = self._ask(make)

    def standing(self) -> Standing | None:
        name = self._ask(self._leads_to)
        if name is None:
            return None
        metadata = self._ask(lambda client: client.get_collection(name)).config.metadata or {}
        try:
            standing = Standing(**json.loads(metadata[NOTE]))
        except (KeyError, TypeError, ValueError):
            _log.warning("The collection %s does not say what it holds and will be built anew", name)
            return None
        self._reads = self._writes = name
        return standing

    def checkpoint(self, standing: Standing) -> None:
        name = self._writing
        note = {NOTE: json.dumps(asdict(standing))}  # with the collection, so that it cannot speak for another one
        self._ask(lambda client: client.update_collection(name, metadata=note, timeout=CONSENSUS))
        if self._reads != name:
            self._ask(lambda client: self._switch(client, name))
            self._reads = name
            self._ask(self._clear)

    def put(self, points: Sequence[Point]) -> None:
        name = self._writing
        for start in range(0, len(points), PORTION):
            portion = [to_engine(point) for point in points[start : start + PORTION]]
            self._ask(lambda client, portion=portion: client.upsert(name, portion, wait=True))  # type: ignore[misc]

    def put_vectors(self, vectors: Mapping[int, Vector]) -> None:
        name, given = self._writing, [qd.PointVectors(id=number, vector={DENSE: vector.tolist()}) for number, vector in vectors.items()]
        for start in range(0, len(given), PORTION):
            portion = given[start : start + PORTION]
            self._ask(lambda client, portion=portion: client.update_vectors(name, portion, wait=True))  # type: ignore[misc]

    def remove(self, numbers: Sequence[int]) -> None:
        if numbers:
            name, gone = self._writing, qd.PointIdsList(points=list(numbers))
            self._ask(lambda client: client.delete(name, gone, wait=True))

    def search(self, queries: Sequence[LaneQuery], scope: Scope) -> list[tuple[Hit, ...]]:
        return answer(self._weighed(queries, scope.documents), scope, self._query)

    def _weighed(self, queries: Sequence[LaneQuery], documents: int) -> list[LaneQuery]:
        """C02: the queries with IDF in their weights. A dimension that no document has finds nothing and is left out."""
        weights: dict[str, dict[int, float]] = {}
        for lane, count in self._frequencies.items():
            probes = [query.probe for query in queries if query.lane == lane and isinstance(query.probe, Sparse)]
            counts = count(sorted({dimension for probe in probes for dimension in probe.indices})) if probes else {}
            weights[lane] = {dimension: _inverse_frequency(found, documents) for dimension, found in counts.items() if found > 0}
        return [replace(query, probe=_times(query.probe, weights[query.lane])) if query.lane in weights else query for query in queries]

    def _query(self, asked: Sequence[Request]) -> list[list[Hit]]:
        wanted = [query_of(request, self._ef_search) for request in asked]
        while True:
            name = self._reading
            try:
                answers = self._ask(lambda client: client.query_batch_points(name, wanted, timeout=self._timeout))  # noqa: B023 - asked now
            except IndexUnavailable as error:
                if name == self._reading and not (error.gone and self._led_elsewhere(name)):
                    raise
                continue  # another collection has taken over meanwhile, and the old one is gone
            return [[Hit(int(point.id), point.score) for point in found.points] for found in answers]

    def _led_elsewhere(self, name: str) -> bool:
        """Whether another process has built another collection, and let it answer."""
        leads_to = self._ask(self._leads_to)
        if leads_to in (None, name) or self._writes != name:
            return False
        self._reads = self._writes = leads_to
        return True

    def points(self) -> Iterator[Point]:
        name, offset = self._writing, None
        while True:
            records, offset = self._ask(
                lambda client, offset=offset: client.scroll(  # type: ignore[misc]
                    name, limit=PAGE, offset=offset, with_payload=True, with_vectors=True
                )
            )
            yield from map(point_of, records)
            if offset is None:
                return

    def count(self, *, with_vector: bool = False) -> int:
        name = self._writing
        having = qd.Filter(must=[qd.HasVectorCondition(has_vector=DENSE)]) if with_vector else None
        return self._ask(lambda client: client.count(name, count_filter=having, exact=True)).count

    def optimize(self) -> None:
        """Nothing: a server does it by itself, and goes on answering."""

    def copy(self, directory: Path) -> None:
        standing = self.standing()
        if standing is None:
            raise IndexUnavailable(
                "The search index is not on the Qdrant any more. It is built anew, from the catalog; try again in a moment."
            )
        with contextlib.closing(EdgeIndex(directory)) as copied:
            copied.create(standing.dimensions)
            points = self.points()
            while batch := list(islice(points, PAGE)):
                copied.put(batch)
            copied.optimize()
            copied.checkpoint(standing)

    def discard(self) -> None:
        self._ask(lambda client: self._switch(client, None))
        self._reads = self._writes = None
        self._ask(self._clear)

    def close(self) -> None:
        self._closed = True
        self._nodes.close()

    def _leads_to(self, client: QdrantClient) -> str | None:
        """The collection behind the alias."""
        return next((one.collection_name for one in client.get_aliases().aliases if one.alias_name == self._alias), None)

    def _switch(self, client: QdrantClient, name: str | None) -> None:
        """Let the alias lead to a collection, or to none, in one step."""
        steps: list[Any] = []
        if self._leads_to(client) is not None:
            steps.append(qd.DeleteAliasOperation(delete_alias=qd.DeleteAlias(alias_name=self._alias)))
        if name is not None:
            steps.append(qd.CreateAliasOperation(create_alias=qd.CreateAlias(collection_name=name, alias_name=self._alias)))
        if steps:
            client.update_collection_aliases(steps, timeout=CONSENSUS)

    def _clear(self, client: QdrantClient) -> None:
        """Remove the collections of this catalog to which no alias leads: the one before, and what was killed while it was built."""
        led = {one.collection_name for one in client.get_aliases().aliases}
        for number in self._numbers(client):
            name = f"{self._name}-{number}"
            if name not in led and name != self._writes:
                client.delete_collection(name, timeout=CONSENSUS)

    def _numbers(self, client: QdrantClient) -> list[int]:
        names = (one.name.removeprefix(f"{self._name}-") for one in client.get_collections().collections)
        return [int(name) for name in names if name.isdecimal()]

    def _ask(self, work: Callable[[QdrantClient], T]) -> T:
        if self._closed:
            raise CatalogError("The search index is closed. Open the catalog again.")
        return self._nodes.ask(work)

    @property
    def _reading(self) -> str:
        return self._reads or self._writing

    @property
    def _writing(self) -> str:
        if self._closed:
            raise CatalogError("The search index is closed. Open the catalog again.")
        if self._writes is None:
            raise IndexUnavailable("The search index could not be opened yet. What was written is kept; try again in a moment.")
        return self._writes


def _inverse_frequency(frequency: int, documents: int) -> float:
    """As the engines have it (C02)."""
    return math.log(1 + max(documents - frequency + 0.5, 0.5) / (frequency + 0.5))


def _times(probe: object, weights: Mapping[int, float]) -> Sparse:
    assert isinstance(probe, Sparse)  # noqa: S101 - of these lanes every probe is
    kept = [(index, value * weights[index]) for index, value in zip(*probe, strict=True) if index in weights]
    return Sparse([index for index, _ in kept], [value for _, value in kept])
