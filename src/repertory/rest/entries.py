"""How are entries listed and read over HTTP?"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from repertory import access
from repertory.model import Filter, Kind
from repertory.rest.callers import Caller, Rep

router = APIRouter(tags=["entries"])


@router.get("/api/entries")
async def entries(
    rep: Rep,
    caller: Caller,
    kind: Annotated[list[Kind] | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    offset: Annotated[int, Query(ge=0)] = 0,
) -> dict[str, Any]:
    """Entries in registration order."""
    found, total = await rep.entries(Filter(kinds=frozenset(kind) if kind else None), caller, limit=limit, offset=offset)
    return {"entries": [access.shown(entity, caller) for entity in found], "total": total}


@router.get("/api/entries/{reference:path}")
async def entry(reference: str, rep: Rep, caller: Caller) -> dict[str, Any]:
    """One entry, by id, or by a path or name that only one entry has."""
    entity = await rep.show(reference, caller)
    return {**access.shown(entity, caller), "edges": [list(edge) for edge in await rep.edges(entity.id, caller)]}
