"""How are entries listed and read over HTTP?"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from repertory.model import Entity, Filter, Kind, Principal
from repertory.rest.callers import Caller, Rep

router = APIRouter(tags=["entries"])

OWNERS_ONLY = ("audience", "provenance", "links")  # who else may see an entry, where its file is, what it links to unseen


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
    return {"entries": [_shown(entity, caller) for entity in found], "total": total}


@router.get("/api/entries/{reference:path}")
async def entry(reference: str, rep: Rep, caller: Caller) -> dict[str, Any]:
    """One entry, by id, or by a path or name that only one entry has."""
    entity = await rep.show(reference, caller)
    return {**_shown(entity, caller), "edges": [list(edge) for edge in await rep.edges(entity.id, caller)]}


def _shown(entity: Entity, caller: Principal) -> dict[str, Any]:
    private = () if caller.is_owner else OWNERS_ONLY
    return {name: value for name, value in entity.as_json().items() if name not in private}
