"""How does Repertory answer as an MCP registry?

The read API of the official registry (v0.1): editors can use it as their gallery, another Repertory can read it. What came from a
server.json goes back as it was; other servers get a name in the form that the schema wants.
"""

from __future__ import annotations

import base64
import binascii
import re
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query

from repertory.errors import InvalidRequest, NotFound
from repertory.model import Entity, Filter, Kind, Principal, Status, content_digest
from repertory.rest import answers
from repertory.rest.callers import Caller, Rep
from repertory.rest.health import STARTED
from repertory.rest.references import Reference, decoded
from repertory.sources.inline import shorten
from repertory.sources.registry import KEPT, OFFICIAL

router = APIRouter(tags=["mcp registry"])

SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
LOCAL = "local.repertory"  # the namespace of servers that have none
UNKNOWN = "0.0.0"  # the version of a server that tells none: the schema wants one
MAX_TEXT = 100  # characters of a title or description
LATEST = "latest"

_NAME = re.compile(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+")
_NO_NAME = re.compile(r"[^a-zA-Z0-9._-]+")
_LISTED = Filter(kinds=frozenset({Kind.MCP_SERVER}), statuses=frozenset({Status.ACTIVE, Status.BETA, Status.DEPRECATED}))
_EVERY = 1_000_000  # servers: more than any catalog holds


@router.get("/v0.1/servers", response_model=answers.Registry, response_model_exclude_none=True, responses=answers.problems(400))
async def servers(
    rep: Rep,
    caller: Caller,
    cursor: Annotated[str | None, Query(max_length=500)] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 30,
    search: Annotated[str, Query(max_length=200, description="Part of a name.")] = "",
    updated_since: Annotated[datetime | None, Query(description="RFC 3339. What has no date may have changed.")] = None,
    version: Annotated[str | None, Query(max_length=255, description="latest, or one version.")] = None,
) -> dict[str, Any]:
    """Servers by name, page by page."""
    after = _decode(cursor) if cursor else ""
    named = sorted(((name_of(entity), entity) for entity in await _servers(rep, caller)), key=lambda pair: pair[0])
    since = updated_since.replace(tzinfo=updated_since.tzinfo or UTC) if updated_since else None
    found = [
        record(name, entity)
        for name, entity in named
        if name > after
        and search.casefold() in name.casefold()
        and (since is None or entity.modified is None or entity.modified >= since)
        and version in (None, "", LATEST, version_of(entity))
    ]
    page = found[:limit]
    told: dict[str, Any] = {"count": len(page)}
    if len(found) > limit:
        told["nextCursor"] = base64.urlsafe_b64encode(page[-1]["server"]["name"].encode()).decode()
    return {"servers": page, "metadata": told}


@router.get(
    "/v0.1/servers/{reference}/versions", response_model=answers.Registry, response_model_exclude_none=True, responses=answers.problems(404)
)
async def versions(reference: Reference, rep: Rep, caller: Caller) -> dict[str, Any]:
    """The versions of a server that are known: the latest."""
    return {"servers": [await _named(reference, rep, caller)], "metadata": {"count": 1}}


@router.get(
    "/v0.1/servers/{reference}/versions/{version}",
    response_model=answers.RegistryRecord,
    response_model_exclude_none=True,
    responses=answers.problems(404),
)
async def version(reference: Reference, version: str, rep: Rep, caller: Caller) -> dict[str, Any]:
    """One version of a server, or `latest`."""
    found = await _named(reference, rep, caller)
    if decoded(version) not in (LATEST, found["server"]["version"]):
        raise NotFound(f"Of {reference!r} only the version {found['server']['version']} is known.")
    return found


def name_of(entity: Entity) -> str:
    """The name of a server in a registry."""
    if _NAME.fullmatch(entity.path) and len(entity.path) <= 200:
        return entity.path
    plain = _NO_NAME.sub("-", entity.path).strip("-")[:150]
    return f"{LOCAL}/{plain if plain == entity.path else f'{plain}-{content_digest(entity.path)[:6]}'.lstrip('-')}"


def version_of(entity: Entity) -> str:
    """The version that a server tells."""
    told = str(entity.details.get("version") or "")
    return told if 0 < len(told) <= 255 and told != LATEST else UNKNOWN


def record(name: str, entity: Entity) -> dict[str, Any]:
    """A server as a registry tells of it."""
    title = str(entity.details.get("title") or (entity.name if entity.name != name else ""))
    server = {
        "$schema": SCHEMA,
        "name": name,
        "title": shorten(title, MAX_TEXT) if title else None,
        "description": shorten(" ".join(entity.description.split()) or entity.name, MAX_TEXT),
        "version": version_of(entity),
        **{theirs: entity.details.get(ours) for theirs, ours in KEPT.items()},
    }
    at = entity.modified.astimezone(UTC).isoformat() if entity.modified else STARTED
    status = "deprecated" if entity.status is Status.DEPRECATED else "active"
    told = {"status": status, "publishedAt": at, "updatedAt": at, "isLatest": True}
    return {"server": {key: value for key, value in server.items() if value}, "_meta": {OFFICIAL: told}}


async def _servers(rep: Rep, caller: Principal) -> list[Entity]:
    return (await rep.entries(_LISTED, caller, limit=_EVERY))[0]


async def _named(name: str, rep: Rep, caller: Principal) -> dict[str, Any]:
    for entity in await _servers(rep, caller):
        if name_of(entity) == name:
            return record(name, entity)
    raise NotFound(f"There is no server {name!r}.")


def _decode(cursor: str) -> str:
    try:
        return base64.urlsafe_b64decode(cursor).decode()
    except (binascii.Error, ValueError):
        raise InvalidRequest("The cursor is none that was given out here. Ask without it.") from None
