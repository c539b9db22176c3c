"""How is a database copied while others use it?

Through SQLite's own backup, which sees one state of it; a PostgreSQL is read table by table in one transaction, which does, too. A copy is
one SQLite file: no log lies beside it, and it can be read where nothing can be written.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection, delete, select

from repertory.errors import CatalogError
from repertory.store.catalog import Store
from repertory.store.database import DATABASE, IDENTITY
from repertory.store.rows import insert_rows
from repertory.store.schema import audit, calls, facts, keys, metadata
from repertory.store.turns import HOLDER

PORTION = 1000  # rows written at once
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


def copy_store(store: Store, target: Path, *, with_keys: bool) -> None:
    """Copy an open database of either kind."""
    with store.reading() as original:
        if original.dialect.name == "sqlite":
            copy_database(Path(str(original.engine.url.database)).parent, target, with_keys=with_keys)
        else:
            _copy_tables(original, target, with_keys=with_keys)


def _copy_tables(original: Connection, target: Path, *, with_keys: bool) -> None:
    target.mkdir(parents=True, exist_ok=True)
    with closing(Store.at(target)) as copied, copied._begin() as copy:
        copy.execute(delete(facts))  # its own
        for table in metadata.sorted_tables:
            if with_keys or table.name not in _OF_PEOPLE:
                for portion in original.execution_options(yield_per=PORTION).execute(select(table)).mappings().partitions():
                    insert_rows(copy, table, list(map(dict, portion)))
        copy.execute(delete(facts).where(facts.c.name.in_([IDENTITY, HOLDER])))
    with closing(sqlite3.connect(target / DATABASE)) as alone:
        alone.execute("PRAGMA journal_mode=DELETE")
