"""How is an entry used from other programs?"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from repertory.errors import NotFound
from repertory.model import Entity, Kind, Principal
from repertory.rest import answers
from repertory.rest.callers import Caller, Rep
from repertory.rest.references import Reference
from repertory.rest.snippets import snippets

router = APIRouter(tags=["entries"])

NOT_TOLD = "The source of this entry does not tell how it is reached: neither an address nor a package is known."


@router.get(
    "/api/entries/{reference:path}/connect",
    response_model=answers.Connect,
    response_model_exclude_unset=True,
    responses=answers.problems(400, 404),
)
async def connect(reference: Reference, rep: Rep, caller: Caller) -> dict[str, Any]:
    """Lines to copy into the configs of common clients. What is to be filled in stays a variable."""
    entity = await rep.show(reference, caller)
    found = [snippet._asdict() for snippet in snippets(await _reached(entity, rep, caller))]
    return {"id": entity.id, "snippets": found} if found else {"id": entity.id, "snippets": [], "reason": NOT_TOLD}


async def _reached(entity: Entity, rep: Rep, caller: Principal) -> Entity:
    """A tool is reached through its server."""
    server = entity.details.get("server") if entity.kind is Kind.TOOL else None
    if not server:
        return entity
    try:
        return await rep.show(f"{Kind.MCP_SERVER.prefix}:{server}", caller)
    except NotFound:
        return entity
