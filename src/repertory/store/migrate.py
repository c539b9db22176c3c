"""How does a catalog of an older format become one of today's?

In place, when it is opened: each step reads what the format before it kept, and the new format is written last, in the same transaction. A
step that was killed is simply done again, so adding a column must bear that it is already there.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any
from zlib import crc32

import numpy as np
from sqlalchemy import Column, Connection, DefaultClause, bindparam, delete, inspect, literal, select, text, update

from repertory.model import Entity
from repertory.store.schema import documents, edges, entities, facts, grams, short_names, sources, tallies, words
from repertory.store.vocabulary import count, tally
from repertory.store.write import put_edges
from repertory.text.tokens import grams as grams_of
from repertory.text.tokens import plain_words
from repertory.text.tokens import words as words_of

NAMING = ("path", "name", "title")  # as in `indexes/read`: in these a short word is a name
AT_ONCE = 1_000  # documents: a large catalog does not fit into memory


def migrate(connection: Connection, found: str, wanted: str) -> str:
    """Take the steps from one format to another, as far as there are any, and answer the format reached."""
    while found != wanted and found in STEPS:
        found = STEPS[found](connection)
        connection.execute(update(facts).where(facts.c.name == "format").values(value=found))
    return found


def _words_and_dates(connection: Connection) -> str:
    """2 to 3: the plain words of each document and how many documents have them; the edges and the date of each entity."""
    _add_column(connection, documents.c.words)
    _add_column(connection, entities.c.modified)
    connection.execute(delete(words))
    spelled: Counter[str] = Counter()
    for number, fields in connection.execute(select(documents.c.number, documents.c.fields)).all():
        found = set().union(*map(plain_words, json.loads(fields).values()))
        spelled.update(found)
        connection.execute(update(documents).where(documents.c.number == number).values(words=" ".join(sorted(found))))
    count(connection, words.c.word, spelled)
    connection.execute(delete(edges))
    for entity_id, data in connection.execute(select(entities.c.id, entities.c.data)).all():
        entity = Entity.from_json(json.loads(data))
        put_edges(connection, [entity], {})
        if entity.modified:
            connection.execute(update(entities).where(entities.c.id == entity_id).values(modified=entity.modified.isoformat()))
    return "3"


def _states(connection: Connection) -> str:
    """3 to 4: how it went when a source was last read. `scanned` was when that last went well."""
    for column in (sources.c.live, sources.c.state, sources.c.error, sources.c.attempted, sources.c.succeeded):
        _add_column(connection, column)
    if "scanned" in _columns(connection, "sources"):
        connection.execute(text("UPDATE sources SET state = 'ok', attempted = scanned, succeeded = scanned WHERE scanned IS NOT NULL"))
        connection.execute(text("ALTER TABLE sources DROP COLUMN scanned"))
    return "4"


def _count_grams(connection: Connection) -> None:
    """How many documents have each gram, for an index that does not count them itself."""
    _add_column(connection, documents.c.grams)
    connection.execute(delete(grams))
    counted: Counter[int] = Counter()
    here = select(documents.c.number, documents.c.fields).order_by(documents.c.number).limit(AT_ONCE)
    kept = update(documents).where(documents.c.number == bindparam("of")).values(grams=bindparam("packed"))
    last = -1
    while portion := connection.execute(here.where(documents.c.number > last)).all():
        rows = []
        for number, fields in portion:
            told = (words_of(text, naming=field in NAMING) for field, text in json.loads(fields).items())
            found = sorted({crc32(gram.encode()) for gram in grams_of(chain.from_iterable(told))})
            counted.update(found)
            rows.append({"of": number, "packed": np.array(found, "<u4").tobytes()})
        connection.execute(kept, rows)
        last = portion[-1][0]
    count(connection, grams.c.dimension, counted)


def _grams(connection: Connection) -> str:
    """4 to 5: grams were not counted."""
    _count_grams(connection)
    return "5"


def _tallies(connection: Connection) -> str:
    """5 to 6: how many documents each bucket has, and which short names there are: both were looked for in every document."""
    connection.execute(delete(tallies))
    connection.execute(delete(short_names))
    tally(connection, connection.execute(select(documents.c.bucket, literal(1), documents.c.length)).tuples())
    joined = connection.execute(select(documents.c.short_names)).scalars()
    count(connection, short_names.c.name, Counter(chain.from_iterable(map(str.split, joined))))
    connection.execute(text("DROP INDEX IF EXISTS documents_by_short_names"))
    return "6"


def _longer_grams(connection: Connection) -> str:
    """6 to 7: grams had three characters."""
    _count_grams(connection)
    return "7"


def _columns(connection: Connection, table: str) -> set[str]:
    return {known["name"] for known in inspect(connection).get_columns(table)}


def _add_column(connection: Connection, column: Column[Any]) -> None:
    table = column.table.name
    if column.name not in _columns(connection, table):
        kind = column.type.compile(connection.dialect)
        initial = column.server_default.arg if isinstance(column.server_default, DefaultClause) else ""
        default = "" if column.nullable else f" NOT NULL DEFAULT '{initial}'"
        connection.execute(text(f"ALTER TABLE {table} ADD COLUMN {column.name} {kind}{default}"))


# By the format that they leave.
STEPS: Mapping[str, Callable[[Connection], str]] = {"2": _words_and_dates, "3": _states, "4": _grams, "5": _tallies, "6": _longer_grams}
