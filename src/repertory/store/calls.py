"""Who called what?

A history, not an audit: it says that a tool was used, by whom, how long it took and how it ended, and never what was said. It is bounded
by age (`forget_calls`) and by number.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, func, insert, select

from repertory.store.database import Database
from repertory.store.records import Call
from repertory.store.schema import calls

MOST = 500_000  # calls that are kept, whatever their age: some 50 MB


class Calls(Database):
    """The part of the store that remembers calls."""

    def note_calls(self, noted: Sequence[Call]) -> None:
        """Write calls together: one transaction costs more than hundreds of lines."""
        rows = [{name: getattr(call, name) for name in ("at", "who", "tool", "ms", "outcome", "exposed", "withheld")} for call in noted]
        with self._begin() as connection:
            connection.execute(insert(calls), rows)
            newest = connection.execute(select(func.max(calls.c.id))).scalar() or 0
            connection.execute(delete(calls).where(calls.c.id <= newest - MOST))

    def calls(self, *, limit: int, before: int | None = None, who: str | None = None, tool: str | None = None) -> list[Call]:
        """The newest calls first; `before` is the id where the page before ended."""
        wanted = select(calls).order_by(calls.c.id.desc()).limit(limit)
        for column, value in ((calls.c.who, who), (calls.c.tool, tool)):
            if value is not None:
                wanted = wanted.where(column == value)
        if before is not None:
            wanted = wanted.where(calls.c.id < before)
        with self._engine.connect() as connection:
            return [Call(**row._mapping) for row in connection.execute(wanted)]

    def forget_calls(self, before: datetime) -> int:
        """Remove what is older, and answer how many calls that were."""
        with self._begin() as connection:
            return connection.execute(delete(calls).where(calls.c.at < before.isoformat(timespec="milliseconds"))).rowcount
