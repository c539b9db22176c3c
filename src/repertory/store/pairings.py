"""Which tool was used after which search (F07)?

Of a search only the dimensions of its terms are kept, which are hashes: its text cannot be read back.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from sqlalchemy import delete, insert, select

from repertory.model import content_digest
from repertory.store.database import Database
from repertory.store.records import Pairing
from repertory.store.rows import chunks
from repertory.store.schema import usage


class Pairings(Database):
    """The part of the store that remembers what searches led to."""

    def pairings(self) -> list[Pairing]:
        """All of them: they are bounded by whoever puts them."""
        with self._engine.connect() as connection:
            rows = connection.execute(select(usage)).all()
        return [Pairing(frozenset(np.frombuffer(row.terms, dtype="<u4").tolist()), row.entity_id, row.weight, row.at) for row in rows]

    def put_pairings(self, put: Collection[Pairing], gone: Collection[Pairing] = ()) -> None:
        """Write some, each in place of what was there, and remove others."""
        replaced = [_key(pairing) for pairing in (*gone, *put)]
        with self._begin() as connection:
            for chunk in chunks(replaced):
                connection.execute(delete(usage).where(usage.c.key.in_(chunk)))
            if put:
                connection.execute(insert(usage), [_row(pairing) for pairing in put])


def _key(pairing: Pairing) -> str:
    return content_digest(f"{sorted(pairing.terms)} {pairing.entity_id}")


def _row(pairing: Pairing) -> dict[str, object]:
    packed = np.array(sorted(pairing.terms), dtype="<u4").tobytes()
    return {"key": _key(pairing), "terms": packed, "entity_id": pairing.entity_id, "weight": pairing.weight, "at": pairing.at}
