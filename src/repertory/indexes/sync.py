"""How does the index follow the truth?

The outbox says which documents came and went; applying a line twice does no harm, so an index that was killed simply applies again what
came after its last checkpoint. An index that is missing, corrupt, of another format or of another model is built anew. One that cannot be
reached is left behind: the outbox keeps what it has yet to hear of, and whoever calls `catch_up` next tries again.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from types import MappingProxyType

from repertory.embedders.base import Vector
from repertory.errors import IndexUnavailable
from repertory.indexes.base import FORMAT, Index, Point, Scope, Standing
from repertory.indexes.compare import BATCH, differing, encoded
from repertory.indexes.encode import encode, pivot
from repertory.indexes.read import Reading
from repertory.model import Document, Filter
from repertory.store import DocumentRecord, Snapshot, Store

_log = logging.getLogger(__name__)

MIXED = 0.0  # no mean length gives this pivot: points are of more than one
STALE = 0.2  # share of removed points that may still count in IDF; it is then less than .2 off, of about 5
LARGE = 5_000  # vectors: from here on an index over them is worth building, and so many more can be looked at one by one
CHECKPOINT_EVERY = 20_000  # lines of the outbox: what a killed process replays at most

Written = Mapping[str, tuple[Document, Reading]]  # by the documents' ids
_NOTHING: Written = MappingProxyType({})


class Sync:
    """Keeps one index equal to one store. Calls block and are not concurrent; readers use `snapshot`, `vectors` and `scope` freely."""

    def __init__(self, store: Store, index: Index, *, model: str | None, dimensions: int) -> None:
        self._store = store
        self._index = index
        self._model = model or ""
        self._dimensions = dimensions
        self._adopts = model is None  # without a model of its own, whatever vectors there are are kept
        self._position = 0
        self._checkpointed = 0
        self._pivot = MIXED
        self._removed = 0  # since the engine last forgot removed points
        self._came = LARGE  # since it was last asked to build what makes it quick: at first nobody knows
        self._opened = False
        self.behind = ""  # why the index has not heard of everything; empty where it has
        self.snapshot: Snapshot = store.snapshot()
        self.revision = self.snapshot.revision  # of the truth, as far as the index has heard of it
        self.vectors = 0  # documents that have one

    @property
    def model(self) -> str:
        """The model whose vectors the index has."""
        return self._model

    def open(self) -> None:
        """Bring the index up to date, or build it anew. One that cannot be reached is left behind."""
        self.catch_up()

    def _open(self) -> None:
        standing = self._index.standing()
        if standing is not None and self._adopts:
            self._model, self._dimensions = standing.model, standing.dimensions
        reason = self._unusable(standing)
        if standing is None or reason:
            _log.info("Building the search index: %s", reason)
            self._rebuild()
            return
        self._position = self._checkpointed = standing.position
        self._pivot = standing.pivot
        self._catch_up(_NOTHING)
        if self._index.count() != sum(self.snapshot.counts.values()):
            _log.warning("The search index does not hold what the catalog holds; building it anew")
            self._rebuild()

    def _unusable(self, standing: Standing | None) -> str | None:
        if standing is None:
            return "there is none"
        if standing.format != FORMAT:
            return f"it has format {standing.format}, not {FORMAT}"
        if (standing.model, standing.dimensions) != (self._model, self._dimensions):
            return f"it holds vectors of {standing.model!r}, not {self._model!r}"
        oldest, last = self._store.oldest_outbox(), self._store.snapshot().position
        if standing.position > last or (oldest is not None and oldest > standing.position + 1):
            return "it belongs to another state of the catalog"
        if oldest is None and standing.position < last:
            return "the catalog has moved on without it"
        return None

    def catch_up(self, written: Written = _NOTHING) -> None:
        """Apply what the outbox holds. Afterwards a search finds what was written before (A14).

        `written` spares reading documents again that were just written. Where the index cannot be reached, `behind` says so.
        """
        try:
            if self._opened:
                self._catch_up(written)
            else:
                self._open()
                self._opened = True
        except IndexUnavailable as error:
            self._leave_behind(error)
        else:
            self.behind = ""

    def _leave_behind(self, error: IndexUnavailable) -> None:
        """Until it is opened again, from what it then says of itself: it may come back with less than it had."""
        _log.warning("The search index is left behind: %s", error)
        self._opened, self.behind = False, str(error)
        self.snapshot = self._store.snapshot()  # what is known already must not be answered from memory once it has changed (E09)

    def doubt(self, error: IndexUnavailable) -> None:
        """Somebody could not search: whoever follows shall look what is the matter."""
        self.behind = self.behind or str(error)

    def _catch_up(self, written: Written) -> None:
        if not self.snapshot.counts:
            self.snapshot = self._store.snapshot()  # the first documents are encoded for their own mean length, not for none
            self._pivot = pivot(self.snapshot.mean_length)
        heard = self._position
        while lines := self._store.outbox(self._position, BATCH):
            removed = {number: gone for _, number, gone in lines}
            self._apply([number for number, gone in removed.items() if not gone], written)
            gone_now = [number for number, gone in removed.items() if gone]
            self._index.remove(gone_now)
            self._removed += len(gone_now)
            self._came += len(removed) - len(gone_now)
            self._position = lines[-1][0]
        self._look()
        self._follow_lengths()
        if self._position != heard:
            self._tell_others()
        if self._position - self._checkpointed >= CHECKPOINT_EVERY:
            self.checkpoint()

    def _apply(self, numbers: Sequence[int], written: Written) -> None:
        """Put what is in the catalog under these numbers."""
        by = self._pivot or pivot(self.snapshot.mean_length)
        known = [row for row in self._store.vectors(self._model, numbers) if row[1] in written] if written else []
        self._index.put(encode([(number, *written[document_id], vector) for number, document_id, vector in known], by))
        others = sorted({*numbers} - {number for number, _, _ in known})
        self._put(self._store.documents(self._model, others), by)

    def keep_vectors(self, model: str, vectors: Mapping[str, Vector]) -> None:
        """Keep the vectors of texts, by digest. Documents get theirs without being read again; another model's are for later (C07)."""
        if model != self._model:
            self._store.add_embeddings(model, vectors, announce=False)
            return
        self.catch_up()  # from here to the end of the outbox there is nothing but what is put here
        having = self._store.add_embeddings(model, vectors)
        if self.behind:
            return  # the outbox has them
        try:
            self._index.put_vectors(having)
            self._came += len(having)
            self._look()
            self._tell_others()
        except IndexUnavailable as error:
            self._leave_behind(error)
            return
        self._position = self.snapshot.position
        if self._position - self._checkpointed >= CHECKPOINT_EVERY:
            self.checkpoint()

    def move(self, index: Index, *, model: str, dimensions: int) -> None:
        """Build another index beside this one, for another model, and follow that one from here on (C07).

        Who searches the old one meanwhile is not disturbed; when building fails, nothing has happened.
        """
        beside = Sync(self._store, index, model=model, dimensions=dimensions)
        beside.rebuild()
        vars(self).update(vars(beside))

    def _look(self) -> None:
        self.snapshot = self._store.snapshot()
        self.revision = self.snapshot.revision
        self.vectors = self._index.count(with_vector=True)

    def _tell_others(self) -> None:
        """What other processes answered while the index was on its way is of a revision that is over now."""
        if self._store.shared:
            self.revision = self._store.tell_indexed()
            self.snapshot = replace(self.snapshot, revision=self.revision)

    def follow(self) -> None:
        """Another process has written, and lets the index hear of it: see what is there now."""
        try:
            standing = self._index.standing()  # it may be another one
            if standing is not None and self._adopts:
                self._model, self._dimensions = standing.model, standing.dimensions
            if standing is not None and (standing.format, standing.model, standing.dimensions) != (FORMAT, self._model, self._dimensions):
                raise IndexUnavailable(
                    f"The index holds vectors of {standing.model!r}, in format {standing.format}: not what is asked here."
                )
            self.vectors = self._index.count(with_vector=True)
        except IndexUnavailable as error:
            self.doubt(error)
        self.snapshot = self._store.snapshot()  # whatever the index says: what was answered before may be hidden now
        self.revision = self.snapshot.revision

    def reopen(self) -> None:
        """Other processes have written: begin where they ended."""
        self._opened = False
        self.catch_up()

    def _follow_lengths(self) -> None:
        """Encode everything anew when documents have become much longer or shorter on the mean."""
        wanted = pivot(self.snapshot.mean_length)
        if wanted != self._pivot:
            self._pivot = MIXED  # until all is done: whoever opens the index after a failure must not take it for whole
            self._put(self._store.documents(self._model), wanted)
            self._pivot = wanted
            self.checkpoint()

    def rebuild(self) -> None:
        """Build the index from the truth alone. Raises `IndexUnavailable`."""
        self._opened = False  # half an index is none
        self._rebuild()
        self._opened, self.behind = True, ""

    def _rebuild(self) -> None:
        self.snapshot = self._store.snapshot()
        self._index.create(self._dimensions)
        self._pivot = pivot(self.snapshot.mean_length)
        self._put(self._store.documents(self._model), self._pivot)
        self._position = self.snapshot.position
        self._look()
        self._index.optimize()
        self._removed = self._came = 0
        self.checkpoint()
        self._tell_others()

    def settle(self) -> None:
        """After a run of writes: let the engine build what makes it quick and forget what was removed, where it is worth the seconds."""
        total = sum(self.snapshot.counts.values())
        if self.behind:
            return
        if self._removed > STALE * total or (self.vectors > LARGE and self._came >= LARGE):
            self._index.optimize()
            self._removed = self._came = 0

    def checkpoint(self) -> None:
        """Make the index durable up to here and let the outbox forget it."""
        standing = Standing(FORMAT, self._position, self._model, self._dimensions, self._pivot)
        self._index.checkpoint(standing)
        self._checkpointed = standing.position
        self._store.trim_outbox(standing.position)

    def close(self) -> None:
        """Checkpoint if anything is new. An index that cannot be reached hears of it again when it is opened."""
        if self._opened and self._position != self._checkpointed:
            try:
                self.checkpoint()
            except IndexUnavailable as error:
                _log.warning("The search index could not be told that all is well: %s", error)

    def scope(self, filter: Filter) -> Scope:
        """A filter in the terms of the engine."""
        counts = self.snapshot.counts
        admitted = {bucket: count for bucket, count in counts.items() if filter.admits(bucket)}
        return Scope(admitted, filter.tags, everything=len(admitted) == len(counts), documents=sum(counts.values()))

    def differences(self) -> list[str]:
        """Where the index is not what the truth says: empty when all is well. Raises `IndexUnavailable`."""
        if self.behind:
            raise IndexUnavailable(self.behind)
        expected = chain.from_iterable(encoded(self._store.documents(self._model), self._pivot))
        return [_told(*pair) for pair in differing(expected, self._index.points())]

    def _put(self, records: Iterable[DocumentRecord], pivot: float) -> None:
        for points in encoded(records, pivot):
            self._index.put(points)


def _told(expected: Point | None, found: Point | None) -> str:
    if expected is not None and found is not None:
        return f"document {expected.number} differs"
    return f"document {(expected or found).number} is only in one of catalog and index"  # type: ignore[union-attr] # one is there
