"""Which API keys are there?

A key that was revoked or has expired stays listed: that it was there once is part of the truth.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from sqlalchemy import insert, select, update

from repertory.store import write
from repertory.store.database import Database
from repertory.store.records import Event, KeyRecord
from repertory.store.schema import keys


class Keys(Database):
    """The part of the store that knows API keys. Every change of them is noted in the audit log, in the same transaction."""

    def put_key(self, record: KeyRecord, by: str) -> None:
        """Keep a new key: its hash, never its secret."""
        lists = {"groups": json.dumps(sorted(record.groups)), "scopes": json.dumps(sorted(record.scopes))}
        row = {name: getattr(record, name) for name in ("id", "name", "hash", "created", "expires", "last_used", "revoked")}
        detail = {"name": record.name, "groups": sorted(record.groups), "scopes": sorted(record.scopes), "expires": record.expires}
        with self._begin() as connection:
            connection.execute(insert(keys).values(row | lists))
            write.note_events(connection, [Event(by, "key.create", record.id, detail)])
            write.tell_others(connection)

    def revoke_key(self, key_id: str, at: str, by: str) -> bool:
        """End a key for good; whether there was one to end."""
        with self._begin() as connection:
            ended = update(keys).where(keys.c.id == key_id, keys.c.revoked.is_(None)).values(revoked=at)
            if not connection.execute(ended).rowcount:
                return False
            write.note_events(connection, [Event(by, "key.revoke", key_id)])
            write.tell_others(connection)
            return True

    def mark_keys(self, used: Mapping[str, str]) -> None:
        """Remember when keys were last used."""
        with self._begin() as connection:
            for key_id, at in used.items():
                connection.execute(update(keys).where(keys.c.id == key_id).values(last_used=at))

    def api_keys(self) -> list[KeyRecord]:
        """Every key, the oldest first."""
        with self._engine.connect() as connection:
            rows = connection.execute(select(keys).order_by(keys.c.created, keys.c.id)).all()
        return [
            KeyRecord(
                id=row.id,
                name=row.name,
                hash=row.hash,
                groups=frozenset(json.loads(row.groups)),
                scopes=frozenset(json.loads(row.scopes)),
                created=row.created,
                expires=row.expires,
                last_used=row.last_used,
                revoked=row.revoked,
            )
            for row in rows
        ]
