"""What does every search look up?

Documents and terms by number, straight from the driver. Where one process has the catalog, what was looked up is remembered until it writes
again; where several share it, another may have written at any moment, and the database is asked every time.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from repertory.model import Bucket, Entity, Field
from repertory.store.database import Database
from repertory.store.records import Reference

TERMS = 65_536  # whose document frequencies are remembered: some 8 MB
ENTITIES = 8_000_000  # characters of JSON that remembered entities were made of: some 40 MB

V = TypeVar("V")
Weighed = tuple[V, int]  # a value, and what it counts towards the bound


class Remembered(Generic[V]):
    """Values by number, as of the last write; when they weigh too much together, all are let go."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._weight = 0
        self._values: dict[int, V] = {}
        self._adding = threading.Lock()

    def get(self, numbers: Sequence[int], read: Callable[[Sequence[int]], Mapping[int, Weighed[V]]]) -> dict[int, V]:
        """The values of these numbers; what is not known is read, and what has no value left out."""
        values = self._values  # a write that ends meanwhile puts others in their place: what is read here is then remembered nowhere
        known = {number: values[number] for number in numbers if number in values}
        if len(known) < len(numbers) and (missing := [number for number in numbers if number not in known]):
            found = read(missing)
            known.update((number, value) for number, (value, _) in found.items())
            with self._adding:
                if values is self._values:
                    self._add(found)
        return known

    def _add(self, found: Mapping[int, Weighed[V]]) -> None:
        self._weight += sum(weight for _, weight in found.values())
        if self._weight > self._most:
            self._weight, self._values = 0, {}
        else:
            self._values.update((number, value) for number, (value, _) in found.items())

    def forget(self) -> None:
        """Something was written."""
        with self._adding:
            self._weight, self._values = 0, {}


class Lookups(Database):
    """The part of the store that is on the path of every search."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self._frequencies: Remembered[int] = Remembered(0 if self.shared else TERMS)
        self._entities: Remembered[tuple[str, Entity]] = Remembered(0 if self.shared else ENTITIES)

    def _forget(self) -> None:
        self._frequencies.forget()
        self._entities.forget()

    def references(self, numbers: Sequence[int] | None) -> dict[int, Reference]:
        """What search needs to know of these documents, or of all; numbers that are gone are left out."""
        columns = "SELECT number, id, entity_id, bucket FROM documents"
        if numbers is None:
            with self._engine.connect() as connection:
                rows: Iterable[Any] = connection.exec_driver_sql(columns).all()
        else:
            rows = self._look_up(f"{columns} WHERE number IN", numbers)
        return {number: Reference(document_id, entity_id, Bucket.from_key(bucket)) for number, document_id, entity_id, bucket in rows}

    def frequencies(self, dimensions: Sequence[int]) -> dict[int, int]:
        """How many documents have each of these terms; terms that none has are left out."""
        return {dimension: count for dimension, count in self._frequencies.get(dimensions, self._read_frequencies).items() if count}

    def _read_frequencies(self, dimensions: Sequence[int]) -> dict[int, Weighed[int]]:
        """With those that no document has: that is worth remembering, too."""
        found = dict(self._look_up("SELECT dimension, documents FROM terms WHERE dimension IN", dimensions))
        return {dimension: (found.get(dimension, 0), 1) for dimension in dimensions}

    def gram_frequencies(self, dimensions: Sequence[int]) -> dict[int, int]:
        """The same of grams."""
        return dict(self._look_up("SELECT dimension, documents FROM grams WHERE dimension IN", dimensions))

    def fields(self, numbers: Sequence[int]) -> dict[int, dict[Field, str]]:
        """What documents say, by field."""
        rows = self._look_up("SELECT number, fields FROM documents WHERE number IN", numbers)
        return {number: {Field(name): text for name, text in json.loads(fields).items()} for number, fields in rows}

    def entities_of(self, numbers: Sequence[int]) -> dict[str, Entity]:
        """The entities of these documents, by id."""
        return dict(self._entities.get(numbers, self._read_entities).values())

    def _read_entities(self, numbers: Sequence[int]) -> dict[int, Weighed[tuple[str, Entity]]]:
        joined = "SELECT d.number, e.id, e.data FROM documents d JOIN entities e ON e.id = d.entity_id WHERE d.number IN"
        rows = self._look_up(joined, numbers)
        return {number: ((entity_id, Entity.from_json(json.loads(data))), len(data)) for number, entity_id, data in rows}
