"""Who may see what a server offers, as its tools say now?

A tool may be narrower than the servers that offer it: a virtual server puts tools of others together, and an administrator may narrow a
tool after its server was read. So every write notes at each offer what its tool asks for (A18): in the servers that are written, and in
those that offer a tool which is written. They go in with it, in one transaction: no moment tells more than the tool allows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from repertory.model import SERVERS, Bucket, Entity, Kind, offers_of, tool_of
from repertory.model.offer import ACCESS, access_of
from repertory.store import Changes, Store


def guard(changes: Changes, store: Store) -> None:
    """Complete changes that are about to be written."""
    put = {entity.id: (entity, digest) for entity, digest in changes.put_entities}
    written = {entity_id: Bucket.of(entity) for entity_id, (entity, _) in put.items() if entity.kind is Kind.TOOL}
    servers = {entity_id: pair for entity_id, pair in put.items() if pair[0].kind in SERVERS}
    leaving = {*put, *changes.remove_entities}
    servers |= {entity_id: pair for entity_id, pair in store.offering(list(written)).items() if entity_id not in leaving}
    wanted = {tool_of(entity, offer) for entity, _ in servers.values() for offer in offers_of(entity)}
    asked = {**store.buckets(sorted(wanted - written.keys())), **written}
    for entity_id, (entity, digest) in servers.items():
        noted = _noted(entity, asked)
        if entity_id in put or noted != entity:
            put[entity_id] = (noted, digest)
    changes.put_entities[:] = put.values()


def _noted(entity: Entity, asked: Mapping[str, Bucket]) -> Entity:
    """The server with what its tools ask for. Of a tool that the catalog does not have, what is noted stays as it was."""
    offers = offers_of(entity)
    if not offers:
        return entity
    noted = []
    for offer in offers:
        bucket = asked.get(tool_of(entity, offer))
        known = {key: value for key, value in offer.items() if key != ACCESS} if bucket else offer
        noted.append({**known, **(access_of(bucket) if bucket else {})})
    return entity if noted == offers else replace(entity, details={**entity.details, "tools": noted})
