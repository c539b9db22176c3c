"""How are entries listed and read over HTTP?"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from repertory import access
from repertory.model import Entity, Filter, Kind, Principal, Status
from repertory.model.request import MAX_QUERY_LENGTH
from repertory.rest import answers
from repertory.rest.callers import Caller, Rep
from repertory.rest.content import content_of
from repertory.rest.references import Reference

router = APIRouter(tags=["entries"])

ETAG = {"headers": {"ETag": {"schema": {"type": "string"}, "description": "To be sent back as If-Match."}}}


@router.get("/api/entries", response_model=answers.Entries, response_model_exclude_unset=True)
async def entries(
    rep: Rep,
    caller: Caller,
    kind: Annotated[list[Kind] | None, Query()] = None,
    status: Annotated[list[Status] | None, Query(description="Active and beta when absent.")] = None,
    tag: Annotated[list[str] | None, Query(description="Only entries that have all of these.")] = None,
    query: Annotated[str, Query(max_length=MAX_QUERY_LENGTH, description="Only entries that hold this text as it is written.")] = "",
    include_disabled: Annotated[bool, Query()] = False,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
) -> dict[str, Any]:
    """Entries in registration order."""
    wanted = Filter(
        kinds=frozenset(kind) if kind else None,
        statuses=frozenset(status) if status else Filter().statuses,
        include_disabled=include_disabled,
        tags=frozenset(tag or ()),
    )
    found, total = await rep.entries(wanted, caller, query=query, limit=limit, offset=offset)
    return {"entries": [shown(entity, caller) for entity in found], "total": total}


@router.get("/api/entries/{reference:path}/content", response_model=answers.Content, responses=answers.problems(400, 404))
async def content(reference: Reference, rep: Rep, caller: Caller) -> dict[str, Any]:
    """What an entry says, to be read: a document or skill as text, a tool with its schemas."""
    return content_of(await rep.show(reference, caller))


@router.get(
    "/api/entries/{reference:path}",
    response_model=answers.EntryWithEdges,
    response_model_exclude_unset=True,
    responses={200: ETAG, **answers.problems(400, 404)},
)
async def entry(reference: Reference, rep: Rep, caller: Caller, response: Response) -> dict[str, Any]:
    """One entry, by id, or by a path or name that only one entry has."""
    entity = await rep.show(reference, caller)
    response.headers["ETag"] = quoted(entity)
    return {**shown(entity, caller), "edges": [list(edge) for edge in await rep.edges(entity.id, caller)]}


def shown(entity: Entity, caller: Principal) -> dict[str, Any]:
    """An entry as this caller sees it, with its state."""
    return {**access.shown(entity, caller), "etag": entity.etag}


def quoted(entity: Entity) -> str:
    """The state of an entry as an HTTP header has it."""
    return f'"{entity.etag}"'
