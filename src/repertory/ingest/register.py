"""How are entries registered, changed and taken out, one by one?

Registered entries are a source of their own; each registration (an entry and what comes with it: a server's tools) is written, replaced and
removed as a whole, through the same readers and the same run as a file. Of entries from any source an administrator may decide the status,
who finds it, and its tags: see `override`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from repertory import access
from repertory.errors import Changed, Conflict, NotFound, SourceError
from repertory.indexes.sync import Sync
from repertory.ingest.intake import Intake
from repertory.ingest.override import decide
from repertory.ingest.run import ingest, rewrite, source_name
from repertory.ingest.screen import Policy
from repertory.model import Entity, Kind, Principal
from repertory.offload import offload
from repertory.sources import definition
from repertory.sources.attributes import Invalid
from repertory.sources.base import Gone
from repertory.sources.content import Unreadable
from repertory.sources.toolfile import PART_OF
from repertory.store import Changes, Event, Override, Store

REGISTERED = "registered"
LOCATION = "registry:"  # also opens the provenance of a registered entry, before the id of its registration
EMBEDDING = 5.0  # seconds that a change waits for its vectors; after that they follow behind the requests
ANYTHING = replace(access.everything_for(Principal()), held=None)

Definition = Mapping[str, Any]


class Author(NamedTuple):
    """Who changes an entry, and which state of it they mean: None where any will do."""

    who: str
    state: str | None = None


class Registry(Intake):
    """All that changes single entries of one open catalog."""

    async def register(self, kind: Kind, described: Definition, who: str = "owner") -> Entity:
        """Take in a new entry. Raises `Conflict` where it is there already, `SourceError` for what no file could say either."""
        return await self._changed(await self._write(_register, kind, described, Author(who), self._store, self._sync, self._policy))

    async def replace(self, entity_id: str, kind: Kind, described: Definition, state: str | None = None, who: str = "owner") -> Entity:
        """Make a registered entry what a definition says. Raises `Changed` where it is no longer in the state that is meant."""
        author = Author(who, state)
        return await self._changed(await self._write(_replace, entity_id, kind, described, author, self._store, self._sync, self._policy))

    async def override(self, entity_id: str, changes: Mapping[str, Any], state: str | None = None, who: str = "owner") -> Entity:
        """Decide about an entry of any source: status, enabled, audience, scopes, tags. None takes a decision back."""
        return await self._changed(
            await self._write(_override, entity_id, changes, Author(who, state), self._store, self._sync, self._policy)
        )

    async def unregister(self, entity_id: str, state: str | None = None, who: str = "owner") -> None:
        """Remove an entry that was registered here, with all that came with it."""
        await self._write(_unregister, entity_id, Author(who, state), self._store, self._sync, self._policy)

    async def _changed(self, entity_id: str) -> Entity:
        """Words find it already; its vectors come at once where the model is free."""
        embedding = asyncio.create_task(self.embed())
        embedding.add_done_callback(lambda task: task.cancelled() or task.exception())  # what fails stays waiting: see `keep_embedding`
        await asyncio.wait({embedding}, timeout=EMBEDDING)
        return await offload(_current, entity_id, None, self._store)


def _register(kind: Kind, described: Definition, author: Author, store: Store, sync: Sync, policy: Policy) -> str:
    entities = _read(kind, described)
    if owners := store.owners([entity.id for entity in entities]):
        taken, source = min(owners.items())
        raise Conflict(f"There is already an entry {taken}, from the source {source!r}.")
    return _put(entities, (), Event(author.who, "entry.register", entities[0].id), store, sync, policy)


def _replace(entity_id: str, kind: Kind, described: Definition, author: Author, store: Store, sync: Sync, policy: Policy) -> str:
    _current(entity_id, author.state, store)
    before = _registration(entity_id, store)
    entities = _read(kind, described)
    if entities[0].id != entity_id:
        raise Conflict(f"The definition describes {entities[0].id}, not {entity_id}. An entry keeps its kind and name; register another.")
    if owners := store.owners([entity.id for entity in entities if entity.id not in before]):
        raise Conflict(f"{min(owners)} is already there and is no part of {entity_id}.")
    gone = [Gone(one) for one in before if one not in {entity.id for entity in entities}]
    return _put(entities, gone, Event(author.who, "entry.replace", entity_id), store, sync, policy)


def _unregister(entity_id: str, author: Author, store: Store, sync: Sync, policy: Policy) -> str:
    _current(entity_id, author.state, store)
    parts = _registration(entity_id, store)
    source = _put((), [Gone(one) for one in parts], Event(author.who, "entry.remove", entity_id), store, sync, policy)
    if forgotten := [Override(one, {}, None) for one in parts if one in store.overrides() or store.originals([one])]:
        rewrite(Changes(f"forget {entity_id}", source, put_overrides=forgotten), (), store, sync, policy)  # another of its name starts anew
    return entity_id


def _override(entity_id: str, wished: Mapping[str, Any], author: Author, store: Store, sync: Sync, policy: Policy) -> str:
    entity = _current(entity_id, author.state, store)
    family = _family(entity, store)
    stored, originals, overrides = store.entities(family, ANYTHING), store.originals(family), store.overrides()
    merged = {**overrides.get(entity_id, {}), **wished}
    overrides[entity_id] = {name: value for name, value in merged.items() if value is not None}
    decided = decide((originals.get(one) or stored[one] for one in family if one in stored), overrides)
    changes = Changes(f"decide about {entity_id}", store.owners([entity_id])[entity_id])
    for one, (after, before) in decided.items():
        if one == entity_id or one in originals or after != before:
            changes.put_overrides.append(Override(one, overrides.get(one, {}), before if after != before else None))
    changes.events.append(Event(author.who, "entry.decide", entity_id, dict(wished)))
    rewrite(changes, [after for after, _ in decided.values()], store, sync, policy)
    return entity_id


def _read(kind: Kind, described: Definition) -> list[Entity]:
    try:
        entities = definition.read(kind, described)
    except (Invalid, Unreadable) as error:
        raise SourceError(f"The entry cannot be registered: {error}.") from None
    return [replace(entity, provenance=f"{LOCATION}{entities[0].id}") for entity in entities]


def _put(entities: Sequence[Entity], gone: Sequence[Gone], event: Event, store: Store, sync: Sync, policy: Policy) -> str:
    name = source_name(LOCATION, REGISTERED, store)
    ingest(name, LOCATION, [*entities, *gone], store, sync, policy=policy, complete=False, events=[event])
    return event.target


def _current(entity_id: str, state: str | None, store: Store) -> Entity:
    entity = store.entities([entity_id], ANYTHING).get(entity_id)
    if entity is None:
        raise NotFound(f"There is no entry {entity_id!r}.")
    if state is not None and state != entity.etag:
        raise Changed(f"{entity_id} has changed since it was read. Read it again, and decide again.")
    return entity


def _registration(entity_id: str, store: Store) -> list[str]:
    """The ids of what was registered together under this id."""
    (source,) = store.owners([entity_id]).values()
    together = store.digests(source)
    provenance = together[entity_id][1]
    if not provenance.startswith(LOCATION):
        raise Conflict(
            f"{entity_id} comes from the source {source!r}, which would bring it back. Disable it instead, or change its source."
        )
    if provenance != f"{LOCATION}{entity_id}":
        raise Conflict(f"{entity_id} was registered with {provenance.removeprefix(LOCATION)}. Change that.")
    return [one for one, (_, where) in together.items() if where == provenance]


def _family(entity: Entity, store: Store) -> list[str]:
    """A server with its tools; for a tool, those of its server; anything else stands alone."""
    servers = [link.target for link in entity.links if link.relation == PART_OF] if entity.kind is Kind.TOOL else []
    head = servers[0] if servers else entity.id
    return list(dict.fromkeys((head, *store.members(head), entity.id)))
