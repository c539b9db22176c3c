"""How do many rows go through one statement?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

from sqlalchemy import ClauseElement, Connection, Table, delete, insert

CHUNK = 500  # values in one IN list: below every database's limit


def insert_rows(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows into a table."""
    names = [column.name for column in table.columns]
    execute_many(connection, insert(table), names, list(map(itemgetter(*names), rows)))


def execute_many(connection: Connection, statement: ClauseElement, names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
    """One statement for many rows, straight to the driver: SQLAlchemy's way of binding takes longer than writing them."""
    if rows:
        compiled = statement.compile(dialect=connection.dialect)
        bound: Sequence[Any] = rows if connection.dialect.positional else [dict(zip(names, row, strict=True)) for row in rows]
        connection.exec_driver_sql(str(compiled), bound)


def delete_rows(connection: Connection, column: Any, values: Sequence[Any]) -> None:
    """Take out every row that has one of these values."""
    for chunk in chunks(values):
        connection.execute(delete(column.table).where(column.in_(chunk)))


def chunks(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Lists that fit into one IN."""
    for start in range(0, len(items), CHUNK):
        yield items[start : start + CHUNK]
