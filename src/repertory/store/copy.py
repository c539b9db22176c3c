"""How is a database copied while others use it?

Through SQLite's own backup, which sees one state of it. A copy is one file: no log lies beside it, and it can be read where nothing can be
written.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from repertory.errors import CatalogError
from repertory.store.database import DATABASE, IDENTITY
from repertory.store.schema import audit, calls, facts, keys

_OF_PEOPLE = (keys.name, audit.name, calls.name)  # who may come in, and what everybody did


def copy_database(catalog: Path, target: Path, *, with_keys: bool) -> None:
    """Copy the database of a catalog directory into another directory, API keys and what people did only where they are wanted."""
    try:
        target.mkdir(parents=True, exist_ok=True)
        with (
            closing(sqlite3.connect(f"{(catalog / DATABASE).absolute().as_uri()}?mode=ro", uri=True)) as original,
            closing(sqlite3.connect(target / DATABASE)) as copy,
        ):
            original.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")
            copy.execute(f"DELETE FROM {facts.name} WHERE name = ?", (IDENTITY,))  # noqa: S608 - our own names
            copy.commit()
            if not with_keys:
                for table in _OF_PEOPLE:
                    copy.execute(f"DELETE FROM {table}")  # noqa: S608 - our own names
                copy.commit()
                copy.execute("VACUUM")  # what was deleted must not be found in the file
    except (OSError, sqlite3.Error) as error:
        raise CatalogError(f"The catalog's database in {catalog} cannot be copied: {error}.") from error
