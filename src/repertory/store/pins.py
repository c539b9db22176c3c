"""What was accepted of an entry, and which entries look like it?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, Select, select

from repertory.guard.company import Look
from repertory.store.database import WANTED, Database
from repertory.store.records import Pin
from repertory.store.schema import looks, pins

_LOOKS = select(looks.c.entity_id, looks.c.server, looks.c.name, looks.c.likeness, looks.c.words)


class Pins(Database):
    """The part of the store that the guard asks."""

    def pins(self, ids: Sequence[str]) -> dict[str, Pin]:
        """What was accepted of these entries."""
        return {row.entity_id: _pin(row) for row in self._select(select(pins).where(pins.c.entity_id.in_(WANTED)), ids)}

    def pins_like(self, source: str, bodies: Sequence[str]) -> dict[str, list[str]]:
        """The entries of a source of which these bodies were accepted, whatever their names."""
        wanted: Select[Any] = select(pins.c.body, pins.c.entity_id).where(pins.c.source == source, pins.c.body.in_(WANTED))
        found: dict[str, list[str]] = {}
        for row in self._select(wanted, bodies):
            found.setdefault(row.body, []).append(row.entity_id)
        return found

    def looks(self, names: Sequence[str], likenesses: Sequence[str]) -> list[Look]:
        """The tools with one of these names, and those that say the same."""
        by_name = self._select(_LOOKS.where(looks.c.name.in_(WANTED)), names)
        by_likeness = self._select(_LOOKS.where(looks.c.likeness.in_(WANTED)), likenesses)
        return list(dict.fromkeys(Look._make(row) for row in (*by_name, *by_likeness)))


def _pin(row: Row[Any]) -> Pin:
    return Pin(row.entity_id, row.source, row.digest, row.body, json.loads(row.content), row.approved_by, row.rejected)
