"""How does a bundle get in?

D08: its entries become one source, as they were decided about where the bundle was written, and their vectors are taken from it instead of
being made anew. The bundle itself is only read: what is opened is a copy, which may even be of an older format.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from repertory import access
from repertory.bundle import CATALOG, manifest_at
from repertory.indexes.sync import Sync
from repertory.ingest.report import IngestReport
from repertory.ingest.run import ingest, source_name
from repertory.model import Principal
from repertory.store import Store, copy_database

BATCH = 500  # vectors in one transaction


def bundle_at(path: Path) -> Path | None:
    """The bundle at a path, if that is what is there. Raises `SourceError` for one that cannot be read."""
    try:
        location = path.expanduser().resolve()
        return location if manifest_at(location) else None
    except (OSError, ValueError, RuntimeError):  # a NUL in the name, no home directory: whoever reads the path says so
        return None


def ingest_bundle(location: Path, model: str | None, store: Store, sync: Sync, *, dry_run: bool = False) -> IngestReport:
    """Make the entries of a bundle a source, and keep its vectors of this model."""
    name = source_name(str(location), location.name or "bundle", store)
    with _opened(location) as bundled:
        entities = bundled.every_entity(access.everything_for(Principal()))
        report = ingest(name, str(location), entities, store, sync, dry_run=dry_run)
        if model is not None and not dry_run:
            _keep_vectors(bundled, model, store, sync)
    return report


@contextmanager
def _opened(location: Path) -> Iterator[Store]:
    with tempfile.TemporaryDirectory(prefix="repertory-") as folder:
        copy_database(location / CATALOG, Path(folder), with_keys=False)
        with closing(Store.at(Path(folder))) as bundled:
            yield bundled


def _keep_vectors(bundled: Store, model: str, store: Store, sync: Sync) -> None:
    after = 0
    while waiting := store.pending(model, after, BATCH):
        after = waiting[-1][0]
        vectors = bundled.kept_vectors(model, sorted({digest for _, digest, _ in waiting}))
        if vectors:
            sync.keep_vectors(model, vectors)
