"""What does a server offer, and to whom?

A server or virtual server lists tools in `details["tools"]`. An offer is open to whoever sees its server, unless it asks for more: by its
own `audience` and `scopes`, or by those of the tool it comes from, which ingestion notes under `access`. Then it is *guarded*.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from repertory.model.entity import PUBLIC, Entity, Kind
from repertory.model.filter import Bucket

SERVERS = (Kind.MCP_SERVER, Kind.VIRTUAL_SERVER)
ACCESS = "access"  # of an offer: the audience and scopes of its tool, where they are not everybody's
PRIVATE = ("audience", "scopes", ACCESS)  # what an offer says for administrators only

Offer = Mapping[str, Any]


def offers_of(entity: Entity) -> list[Offer]:
    """The tools that a server lists; none for any other kind."""
    listed = entity.details.get("tools") if entity.kind in SERVERS else None
    return [offer for offer in listed if isinstance(offer, Mapping)] if isinstance(listed, list | tuple) else []


def tool_of(entity: Entity, offer: Offer) -> str:
    """The id of the tool that an offer comes from."""
    path = offer.get("from") or f"{entity.path}/{offer.get('name', '')}"
    return f"{Kind.TOOL.prefix}:{path}"


def bucket_of(entity: Entity, offer: Offer) -> Bucket:
    """Who sees an offer: whoever sees its server, and has what the offer and its tool ask for.

    One list of groups cannot say "one of these and one of those". Where two lists are neither everybody's nor one within the other, only
    the groups in both count: that keeps an offer from some who might see it, and tells nobody who may not.
    """
    if offer.keys().isdisjoint(PRIVATE):  # nearly every one
        return Bucket.of(entity)
    audience, scopes = entity.audience, entity.scopes
    noted = offer.get(ACCESS)
    for wish in (offer, noted if isinstance(noted, Mapping) else {}):
        if wish.get("audience") is not None:
            audience = _both(audience, _texts(wish["audience"]))
        scopes = scopes | _texts(wish.get("scopes"))
    held = bool(entity.held) or (isinstance(noted, Mapping) and noted.get("held") is True)
    return Bucket(entity.kind, entity.status, entity.enabled, audience, scopes, held)


def is_guarded(entity: Entity, offer: Offer) -> bool:
    """Whether not everybody who sees the server may see this offer."""
    return bucket_of(entity, offer) != Bucket.of(entity)


def access_of(tool: Bucket) -> dict[str, Any]:
    """What an offer notes of its tool: nothing where the tool is everybody's."""
    asked = {"audience": sorted(tool.audience) if PUBLIC not in tool.audience else None, "scopes": sorted(tool.scopes), "held": tool.held}
    noted = {key: value for key, value in asked.items() if value or (key == "audience" and value is not None)}
    return {ACCESS: noted} if noted else {}


def _both(one: frozenset[str], other: frozenset[str]) -> frozenset[str]:
    return other if PUBLIC in one else one if PUBLIC in other else one & other


def _texts(value: Any) -> frozenset[str]:
    return (
        frozenset({value})
        if isinstance(value, str)
        else frozenset(map(str, value))
        if isinstance(value, list | tuple | set)
        else frozenset()
    )
