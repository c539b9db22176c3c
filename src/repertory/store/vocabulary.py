"""Which words does the catalog have, how many documents have each, and how many documents are there?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Column, Connection, delete, select, text

from repertory.store.records import NewDocument
from repertory.store.rows import chunks, execute_many
from repertory.store.schema import documents, grams, short_names, tallies, terms, words


def keep_vocabulary(connection: Connection, removed: Sequence[int], added: Sequence[NewDocument]) -> None:
    """What leaves counts less, what comes counts more."""
    gone = _vocabulary_of(connection, removed)
    by_term = _counted(new.terms for new in added)
    by_term.subtract(_counted(np.frombuffer(row.terms, "<u4") for row in gone))
    by_gram = _counted(new.grams for new in added)
    by_gram.subtract(_counted(np.frombuffer(row.grams, "<u4") for row in gone))
    by_word = Counter(chain.from_iterable(new.words for new in added))
    by_word.subtract(chain.from_iterable(row.words.split() for row in gone))
    by_name = Counter(chain.from_iterable(new.short_names for new in added))
    by_name.subtract(chain.from_iterable(row.short_names.split() for row in gone))
    count(connection, terms.c.dimension, by_term)
    count(connection, grams.c.dimension, by_gram)
    count(connection, words.c.word, by_word)
    count(connection, short_names.c.name, by_name)
    tally(connection, [(new.document.bucket.key, 1, new.length) for new in added] + [(row.bucket, -1, -row.length) for row in gone])


def _vocabulary_of(connection: Connection, numbers: Sequence[int]) -> list[Any]:
    wanted = select(*(documents.c[name] for name in ("terms", "grams", "words", "short_names", "bucket", "length")))
    return [row for chunk in chunks(numbers) for row in connection.execute(wanted.where(documents.c.number.in_(chunk)))]


def _counted(several: Iterable[NDArray[np.uint32]]) -> Counter[int]:
    found, times = np.unique(np.concatenate([np.empty(0, np.uint32), *several]), return_counts=True)
    return Counter(dict(zip(found.tolist(), times.tolist(), strict=True)))


def count(connection: Connection, key: Column[Any], change: Mapping[Any, int]) -> None:
    """Add to the documents of each key; a key that no document has any more is gone."""
    table, name = key.table.name, key.name
    add = f"""INSERT INTO {table} ({name}, documents) VALUES (:key, :by)
              ON CONFLICT ({name}) DO UPDATE SET documents = {table}.documents + excluded.documents"""  # noqa: S608 - names of ours
    execute_many(connection, text(add), ("key", "by"), [(value, by) for value, by in change.items() if by])
    for chunk in chunks([value for value, by in change.items() if by < 0]):
        connection.execute(delete(key.table).where(key.in_(chunk), key.table.c.documents <= 0))


def tally(connection: Connection, changes: Iterable[tuple[str, int, float]]) -> None:
    """Add documents and their lengths to their buckets; a bucket that has no documents any more is gone."""
    sums: dict[str, tuple[int, float]] = {}
    for bucket, number, length in changes:
        numbers, lengths = sums.get(bucket, (0, 0.0))
        sums[bucket] = (numbers + number, lengths + length)
    add = """INSERT INTO tallies (bucket, documents, length) VALUES (:bucket, :documents, :length)
             ON CONFLICT (bucket) DO UPDATE SET
             documents = tallies.documents + excluded.documents, length = tallies.length + excluded.length"""
    execute_many(connection, text(add), ("bucket", "documents", "length"), [(bucket, *both) for bucket, both in sums.items()])
    connection.execute(delete(tallies).where(tallies.c.documents <= 0))
