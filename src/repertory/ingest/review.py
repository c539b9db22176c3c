"""What is held back, and who lets it in?

F06: whoever looks after the catalog sees what changed, word by word, and approves or rejects it. Both are noted in the audit log, in the
transaction that does it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from repertory import access
from repertory.errors import Forbidden, InvalidRequest, NotFound
from repertory.guard import pins
from repertory.indexes.sync import Sync
from repertory.ingest.run import apply
from repertory.ingest.screen import REJECTED, pinned
from repertory.model import Entity, Principal
from repertory.store import Changes, Event, Pin, Store

EVERYTHING = 2**31  # entries in a list: all of them


@dataclass(frozen=True, slots=True)
class Held:
    """One entry that is held back. Without a pin everything in it is new."""

    entity: Entity
    source: str
    changes: tuple[pins.Change, ...]

    @property
    def is_rejected(self) -> bool:
        """Whether somebody has looked and said no."""
        return self.entity.held == REJECTED

    def as_json(self) -> dict[str, Any]:
        """Plain JSON, the diff in parts, for whoever draws it."""
        return {
            "id": self.entity.id,
            "reason": self.entity.held,
            "source": self.source,
            "findings": [finding.as_json() for finding in self.entity.findings],
            "changes": [change.as_json() for change in self.changes],
            "entry": self.entity.as_json(),
        }


def held_entries(store: Store, principal: Principal) -> list[Held]:
    """What is held back, in registration order; what was rejected last."""
    _allow(principal)
    entities, _ = store.list_entities(access.held_for(principal), limit=EVERYTHING)
    ids = [entity.id for entity in entities]
    accepted, owners = store.pins(ids), store.owners(ids)
    held = [Held(entity, owners.get(entity.id, ""), _changes(entity, accepted.get(entity.id))) for entity in entities]
    return sorted(held, key=lambda one: one.is_rejected)


def _changes(entity: Entity, pin: Pin | None) -> tuple[pins.Change, ...]:
    return tuple(pins.diff(pin.content if pin else {}, pins.content_of(entity)))


def decide(store: Store, sync: Sync, references: Sequence[str], all_of: str | None, principal: Principal, *, approve: bool) -> list[str]:
    """Approve or reject what is held back; answers the ids."""
    chosen = _chosen(held_entries(store, principal), references, all_of)
    verb = "approve" if approve else "reject"
    changes = Changes(f"{verb} {len(chosen)}", "")
    accepted = store.pins([one.entity.id for one in chosen])
    digests: dict[str, str] = {}
    for source in {one.source for one in chosen}:
        digests |= {entity_id: digest for entity_id, (digest, _) in store.digests(source).items()}
    for one in chosen:
        digest = pins.digest_of(pins.content_of(one.entity))
        if approve:
            changes.pins.append(pinned(one.entity, one.source, principal.name))
        else:
            changes.pins.append(replace(accepted.get(one.entity.id) or Pin(one.entity.id, one.source), rejected=digest))
        changes.put_entities.append((replace(one.entity, held="" if approve else REJECTED), digests[one.entity.id]))
        changes.events.append(Event(principal.name, f"entry.{verb}", one.entity.id, {"reason": one.entity.held, "digest": digest}))
    if changes:
        apply(changes, store, sync)
    return [one.entity.id for one in chosen]


def _chosen(held: Sequence[Held], references: Sequence[str], all_of: str | None) -> list[Held]:
    if bool(references) == bool(all_of):
        raise InvalidRequest("Name entries by their ids, or all of a server: one of both.")
    if all_of:
        found = [one for one in held if not one.is_rejected and all_of in (one.source, one.entity.details.get("server"), one.entity.path)]
        if not found:
            raise NotFound(f"Nothing of {all_of!r} is held back. `repertory review` shows what is.")
        return found
    by_name = {name: one for one in held for name in (one.entity.path, one.entity.id)}
    missing = [reference for reference in references if reference not in by_name]
    if missing:
        raise NotFound(f"{missing[0]!r} is not held back. `repertory review` shows what is.")
    return [by_name[reference] for reference in dict.fromkeys(references)]


def _allow(principal: Principal) -> None:
    if not principal.is_admin:
        raise Forbidden("Only administrators review what is held back: it needs the scope 'admin'.")
