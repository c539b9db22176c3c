"""How does the index of a catalog move to another engine?

It is filled there from the truth: words are read again, vectors come from the store, no text is embedded. What the other place has already
is compared and kept, so a move that was stopped goes on where it was; at the end everything is compared once more. Which index answers is
the operator's choice, in the settings: until they name the other one, nothing has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from repertory.embedders.base import Embedder
from repertory.embedders.choose import make_embedder
from repertory.errors import CatalogError, InvalidRequest
from repertory.indexes.base import FORMAT, Index, Point, Standing
from repertory.indexes.choose import make_index
from repertory.indexes.compare import BATCH, differing, encoded, paired, same
from repertory.indexes.encode import pivot
from repertory.indexes.sync import MIXED
from repertory.ingest import change
from repertory.offload import offload
from repertory.owner import Ownership
from repertory.settings import Settings, with_index
from repertory.store import Store, open_store

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Moved:
    """What a move did."""

    documents: int
    put: int
    removed: int  # that the other place had and the catalog has not


async def migrate(settings: Settings, to: str, progress: Progress = lambda *_: None) -> Moved:
    """Fill the index at another place, and answer when it is equal to the truth. Nobody may write meanwhile."""
    there = with_index(settings, to)
    if there.index == settings.index:
        raise InvalidRequest(f"The index is at {to!r} already, as the settings say. `repertory doctor` compares it with the catalog.")
    ownership = await offload(Ownership, settings.catalog)
    try:
        store = await offload(open_store, settings)
        made = await offload(make_embedder, there)
        try:
            under_way = await offload(change.under_way, store, made, there)
            return await offload(_fill, store, there, under_way.old if under_way else made, progress)
        finally:
            if made is not None:
                await made.close()
            store.close()
    finally:
        ownership.release()


def _fill(store: Store, settings: Settings, embedder: Embedder | None, progress: Progress) -> Moved:
    index = make_index(settings, store, change.recall(store).folder)
    try:
        with store.turn():
            return fill(store, index, embedder.model if embedder else "", embedder.dimensions if embedder else 0, progress)
    finally:
        index.close()


def fill(store: Store, index: Index, model: str, dimensions: int, progress: Progress) -> Moved:
    """Make an index equal to the truth, with as little as is needed for it."""
    snapshot = store.snapshot()
    total = sum(snapshot.counts.values())
    length = pivot(snapshot.mean_length)
    unfinished = Standing(FORMAT, 0, model, dimensions, MIXED)
    standing = index.standing()
    if standing is None or (standing.format, standing.model, standing.dimensions) != (FORMAT, model, dimensions):
        index.create(dimensions)
    index.checkpoint(unfinished)  # so that the next attempt finds it, and nobody takes it for whole

    def expected(stage: str) -> Iterator[Point]:
        points = chain.from_iterable(encoded(store.documents(model), length))
        for done, point in enumerate(points, 1):
            if done % BATCH == 0 or done == total:
                progress(stage, done, total)
            yield point

    put, removed = _mend(index, paired(expected("Moving"), index.points()))
    wrong = sum(1 for _ in differing(expected("Comparing"), index.points()))
    if wrong or index.count() != total:
        raise CatalogError(f"The index that was filled is not equal to the catalog: {wrong} of {total} documents differ. Move it again.")
    index.optimize()
    index.checkpoint(Standing(FORMAT, snapshot.position, model, dimensions, length))
    return Moved(total, put, removed)


def _mend(index: Index, pairs: Iterable[tuple[Point | None, Point | None]]) -> tuple[int, int]:
    """Put what is missing or different, remove what should not be there. Always behind where `points` reads."""
    put, removed = 0, 0
    missing: list[Point] = []
    for wanted, there in pairs:
        if wanted is None and there is not None:
            index.remove([there.number])
            removed += 1
        elif wanted is not None and (there is None or not same(wanted, there)):
            missing.append(wanted)
            put += 1
        if len(missing) == BATCH:
            index.put(missing)
            missing = []
    index.put(missing)
    return put, removed
