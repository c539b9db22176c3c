"""What has an administrator decided about entries, and what do their sources say of them?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import select

from repertory.model import Entity
from repertory.store.database import WANTED, Database
from repertory.store.schema import edges, entities, overrides


class Overrides(Database):
    """The part of the store that keeps decisions apart from what sources bring."""

    def overrides(self) -> dict[str, dict[str, Any]]:
        """Every decision, by the id of its entry."""
        wanted = select(overrides.c.entity_id, overrides.c.changes).where(overrides.c.changes != "{}")
        with self._engine.connect() as connection:
            return {row.entity_id: json.loads(row.changes) for row in connection.execute(wanted)}

    def originals(self, ids: Sequence[str]) -> dict[str, Entity]:
        """These entries as their sources brought them, where a decision makes them something else."""
        wanted = select(overrides.c.entity_id, overrides.c.original).where(overrides.c.entity_id.in_(WANTED), overrides.c.original != "")
        return {row.entity_id: Entity.from_json(json.loads(row.original)) for row in self._select(wanted, ids)}

    def members(self, server: str) -> list[str]:
        """The ids of a server's own tools, in registration order."""
        wanted = (
            select(entities.c.id)
            .join(edges, edges.c.origin == entities.c.id)
            .where(edges.c.target == server, edges.c.relation == "part_of")
            .order_by(entities.c.position)
        )
        with self._engine.connect() as connection:
            return list(connection.execute(wanted).scalars())
