"""How is what is held back reviewed over HTTP?

F06: for administrators. The diff comes in parts (`same`, `removed`, `added`), so that whoever shows it need not compute it.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from repertory.rest.callers import Admin, Rep
from repertory.rest.wire import ReviewBody

router = APIRouter(include_in_schema=False)


@router.get("/api/review")
async def review(rep: Rep, caller: Admin) -> dict[str, Any]:
    """What is held back, why, and what changed in it; what was rejected comes last."""
    held = [one.as_json() for one in await rep.held(caller)]
    return {"held": held, "total": len(held)}


@router.post("/api/review/approve")
async def approve_all(body: ReviewBody, rep: Rep, caller: Admin) -> dict[str, Any]:
    """Let several in: by their ids, or all that a server or source brought."""
    return {"approved": await rep.approve(*body.ids, all_of=body.all_of, principal=caller)}


@router.post("/api/review/reject")
async def reject_all(body: ReviewBody, rep: Rep, caller: Admin) -> dict[str, Any]:
    """Keep several out."""
    return {"rejected": await rep.reject(*body.ids, all_of=body.all_of, principal=caller)}


@router.post("/api/review/{entry:path}/approve")
async def approve(entry: str, rep: Rep, caller: Admin) -> dict[str, Any]:
    """Let an entry in, as it is now."""
    return {"approved": await rep.approve(entry, principal=caller)}


@router.post("/api/review/{entry:path}/reject")
async def reject(entry: str, rep: Rep, caller: Admin) -> dict[str, Any]:
    """Keep an entry out, as it is now."""
    return {"rejected": await rep.reject(entry, principal=caller)}
