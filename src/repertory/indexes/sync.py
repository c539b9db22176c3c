"""How does the index follow the truth?

The outbox says which documents came and went; applying a line twice does no harm, so an index that was killed simply applies again what
came after its last checkpoint. An index that is missing, corrupt, of another format or of another model is built anew.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from repertory.indexes.base import FORMAT, Index, Point, Scope, Standing
from repertory.indexes.encode import encode, pivot
from repertory.model import Filter
from repertory.store import DocumentRecord, Snapshot, Store

_log = logging.getLogger(__name__)

BATCH = 1000
CHECKPOINT_EVERY = 20_000  # lines of the outbox: what a killed process replays at most

Progress = Callable[[int, int], None]


class Sync:
    """Keeps one index equal to one store. Calls block and are not concurrent; readers use `snapshot` and `scope` freely."""

    def __init__(self, store: Store, index: Index, *, model: str, dimensions: int) -> None:
        self._store = store
        self._index = index
        self._model = model
        self._dimensions = dimensions
        self._position = 0
        self._checkpointed = 0
        self._pivot = pivot(0)
        self.snapshot: Snapshot = store.snapshot()

    def open(self, progress: Progress | None = None) -> bool:
        """Bring the index up to date; True when it had to be rebuilt."""
        standing = self._index.standing()
        reason = self._unusable(standing)
        if standing is None or reason:
            _log.info("Building the search index: %s", reason)
            self.rebuild(progress)
            return True
        self._position = self._checkpointed = standing.position
        self._pivot = standing.pivot
        self.catch_up()
        if self._index.count() != sum(self.snapshot.counts.values()):
            _log.warning("The search index does not hold what the catalog holds; building it anew")
            self.rebuild(progress)
            return True
        return False

    def _unusable(self, standing: Standing | None) -> str | None:
        if standing is None:
            return "there is none"
        if standing.format != FORMAT:
            return f"it has format {standing.format}, not {FORMAT}"
        if (standing.model, standing.dimensions) != (self._model, self._dimensions):
            return f"it holds vectors of {standing.model!r}, not {self._model!r}"
        oldest = self._store.oldest_outbox()
        if standing.position > self.snapshot.position or (oldest is not None and oldest > standing.position + 1):
            return "it belongs to another state of the catalog"
        if oldest is None and standing.position < self.snapshot.position:
            return "the catalog has moved on without it"
        return None

    def catch_up(self) -> None:
        """Apply what the outbox holds. Afterwards a search finds what was written before (A14)."""
        while lines := self._store.outbox(self._position, BATCH):
            last_state = {number: removed for _, number, removed in lines}
            self._index.remove([number for number, removed in last_state.items() if removed])
            self._put(self._store.documents(self._model, [number for number, removed in last_state.items() if not removed]))
            self._position = lines[-1][0]
        self.snapshot = self._store.snapshot()
        self._follow_lengths()
        if self._position - self._checkpointed >= CHECKPOINT_EVERY:
            self.checkpoint()

    def _follow_lengths(self) -> None:
        """Encode everything anew when documents have become much longer or shorter on the mean."""
        wanted = pivot(self.snapshot.mean_length)
        if wanted != self._pivot:
            self._pivot = wanted
            self._put(self._store.documents(self._model))

    def rebuild(self, progress: Progress | None = None) -> None:
        """Build the index from the truth alone."""
        self.snapshot = self._store.snapshot()
        self._index.create(self._dimensions)
        self._pivot = pivot(self.snapshot.mean_length)
        total = sum(self.snapshot.counts.values())
        done = 0
        for batch in _batched(self._store.documents(self._model)):
            self._put(batch)
            done += len(batch)
            if progress:
                progress(done, total)
        self._position = self.snapshot.position
        self._index.optimize()
        self.checkpoint()

    def checkpoint(self) -> None:
        """Make the index durable up to here and let the outbox forget it."""
        standing = Standing(FORMAT, self._position, self._model, self._dimensions, self._pivot)
        self._index.checkpoint(standing)
        self._checkpointed = self._position
        self._store.trim_outbox(self._position)

    def close(self) -> None:
        """Checkpoint if anything is new."""
        if self._position != self._checkpointed:
            self.checkpoint()

    def scope(self, filter: Filter) -> Scope:
        """A filter in the terms of the engine."""
        counts = self.snapshot.counts
        admitted = {bucket: count for bucket, count in counts.items() if filter.admits(bucket)}
        return Scope(admitted, filter.tags, everything=len(admitted) == len(counts))

    def differences(self) -> list[str]:
        """Where the index is not what the truth says: empty when all is well."""
        expected = (self._encode(record) for record in self._store.documents(self._model))
        return list(_compare(expected, self._index.points()))

    def _put(self, records: Iterable[DocumentRecord]) -> None:
        for batch in _batched(records):
            self._index.put([self._encode(record) for record in batch])

    def _encode(self, record: DocumentRecord) -> Point:
        document = record.document
        return encode(record.number, document.bucket, document.tags, document.fields, record.vector, self._pivot)


def _batched(records: Iterable[DocumentRecord]) -> Iterator[list[DocumentRecord]]:
    batch: list[DocumentRecord] = []
    for record in records:
        batch.append(record)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _compare(expected: Iterator[Point], found: Iterator[Point]) -> Iterator[str]:
    have = {point.number: point for point in found}
    for point in expected:
        other = have.pop(point.number, None)
        if other is None:
            yield f"document {point.number} is missing"
        elif not _same(point, other):
            yield f"document {point.number} differs"
    yield from (f"document {number} is not in the catalog" for number in have)


def _same(one: Point, other: Point) -> bool:
    if (one.bucket, one.tags, one.names) != (other.bucket, other.tags, other.names):
        return False
    if (one.dense is None) != (other.dense is None):
        return False
    pairs = [(one.bm25, other.bm25), (one.keyword, other.keyword)]
    if any(a.indices != b.indices or not np.allclose(a.values, b.values, rtol=1e-5) for a, b in pairs):
        return False
    return one.dense is None or other.dense is None or bool(np.allclose(one.dense, other.dense, atol=1e-5))
