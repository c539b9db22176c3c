"""Who did what, and when?

The audit log: a change is noted in the transaction that makes it (`Changes.events`); what changes nothing is noted by `record`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import delete, select

from repertory.store import write
from repertory.store.database import Database
from repertory.store.records import Event
from repertory.store.schema import audit


class Audit(Database):
    """The part of the store that remembers who did what."""

    def record(self, who: str, action: str, target: str, detail: Mapping[str, Any] | None = None) -> None:
        """Note one event."""
        with self._begin() as connection:
            write.note_events(connection, [Event(who, action, target, detail or {})])

    def events(self, *, limit: int, before: int | None = None, who: str | None = None, target: str | None = None) -> list[Event]:
        """The newest events first; `before` is the id where the page before ended."""
        wanted = select(audit).order_by(audit.c.id.desc()).limit(limit)
        for column, value in ((audit.c.who, who), (audit.c.target, target)):
            if value is not None:
                wanted = wanted.where(column == value)
        if before is not None:
            wanted = wanted.where(audit.c.id < before)
        with self._engine.connect() as connection:
            rows = connection.execute(wanted).all()
        return [Event(row.who, row.action, row.target, json.loads(row.detail), row.id, row.at) for row in rows]

    def forget_events(self, before: datetime) -> int:
        """Remove what is older, and answer how many events that were."""
        with self._begin() as connection:
            return connection.execute(delete(audit).where(audit.c.at < before.isoformat(timespec="seconds"))).rowcount
