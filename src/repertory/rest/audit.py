"""How is it read over HTTP who did what, and who used what?"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from repertory.rest import answers
from repertory.rest.callers import Admin, Rep

router = APIRouter(tags=["audit"], responses=answers.problems(403))


@router.get("/api/audit", response_model=answers.Events)
async def audit(
    rep: Rep,
    _: Admin,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    before: Annotated[int | None, Query(ge=0, le=2**62, description="Only events before this id: the last one of the page before.")] = None,
    who: Annotated[str | None, Query(description="Only what this caller did.")] = None,
    target: Annotated[str | None, Query(description="Only what was done to this: an entry's id, a key's id, a source.")] = None,
) -> dict[str, Any]:
    """Who did what, the newest first."""
    return {"events": [event.as_json() for event in await rep.audit(limit=limit, before=before, who=who, target=target)]}


@router.get("/api/calls", response_model=answers.Calls, response_model_exclude_unset=True)
async def calls(
    rep: Rep,
    _: Admin,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    before: Annotated[int | None, Query(ge=0, le=2**62, description="Only calls before this id: the last one of the page before.")] = None,
    who: Annotated[str | None, Query(description="Only what this caller used.")] = None,
    tool: Annotated[str | None, Query(description="Only this tool or agent, by its id; `search` for the searches of agents.")] = None,
) -> dict[str, Any]:
    """Who used what, the newest first: never with which arguments, nor what came back."""
    return {"calls": [call.as_json() for call in await rep.calls(limit=limit, before=before, who=who, tool=tool)]}
