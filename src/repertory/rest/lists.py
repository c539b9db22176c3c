"""How does a client of an MCP registry list entries of one kind?

Rule A12: by the letters of a query, whatever their case; no index and no model is asked.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from repertory.model import Filter, Kind
from repertory.model.request import MAX_QUERY_LENGTH
from repertory.rest import answers
from repertory.rest.callers import Caller, Rep
from repertory.rest.entries import shown

router = APIRouter(tags=["lists"])

Text = Annotated[str, Query(max_length=MAX_QUERY_LENGTH, description="Only what holds this text: in name, description, tags, metadata.")]
Limit = Annotated[int, Query(ge=1, le=1000)]
Offset = Annotated[int, Query(ge=0, le=10_000_000)]

LISTS = {
    "servers": Kind.MCP_SERVER,
    "agents": Kind.A2A_AGENT,
    "skills": Kind.SKILL,
    "virtual-servers": Kind.VIRTUAL_SERVER,
    "tools": Kind.TOOL,
}


def _list(word: str, kind: Kind) -> None:
    field = word.replace("-", "_")

    @router.get(f"/api/{word}", name=word, response_model=answers.LISTS[field], response_model_exclude_unset=True)
    async def listed(rep: Rep, caller: Caller, query: Text = "", limit: Limit = 50, offset: Offset = 0) -> dict[str, Any]:
        """Entries of one kind in registration order."""
        found, total = await rep.entries(Filter(kinds=frozenset({kind})), caller, query=query, limit=limit, offset=offset)
        return {field: [shown(entity, caller) for entity in found], "total": total}


for _word, _kind in LISTS.items():
    _list(_word, _kind)


@router.get("/api/skills/search", response_model=answers.ScoredSkills, response_model_exclude_unset=True)
async def skills(rep: Rep, caller: Caller, q: Text = "", limit: Limit = 50, offset: Offset = 0) -> dict[str, Any]:
    """Skills that hold a text, scored: 0.5 for the name, 0.3 for the description, 0.1 each for tags and metadata."""
    found = await rep.listed(q, Filter(kinds=frozenset({Kind.SKILL})), caller)
    page = found[offset : offset + limit]
    return {"skills": [{**shown(entity, caller), "score": score} for entity, score in page], "total": len(found)}
