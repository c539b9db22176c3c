"""How is what was found used over HTTP?"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from repertory.rest import answers
from repertory.rest.callers import Caller, Rep
from repertory.rest.wire import CallBody

router = APIRouter(tags=["use"])


@router.post("/api/call", responses=answers.problems(400, 404, 502))
async def call(body: CallBody, rep: Rep, caller: Caller) -> dict[str, Any]:
    """Use a tool; the answer is its server's own."""
    return await rep.call(body.id, body.arguments, caller)
