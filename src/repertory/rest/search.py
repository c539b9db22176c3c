"""How is a search asked over HTTP?"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query

from repertory.graph.draw import Format
from repertory.model.request import MAX_QUERY_LENGTH
from repertory.rest.callers import Caller, Rep
from repertory.rest.wire import SearchBody

router = APIRouter(tags=["search"])


@router.post("/api/search")
async def search(body: SearchBody, rep: Rep, caller: Caller) -> dict[str, Any]:
    """Find entries of every kind, in one ranked list."""
    response = await rep.search(body.to_request(), caller)
    return response.as_json(explain=body.explain)


@router.get("/api/classify")
async def classify(query: Annotated[str, Query(max_length=MAX_QUERY_LENGTH)], rep: Rep, _: Caller) -> dict[str, Any]:
    """What kind of query this is, how one would search for it, and why."""
    return asdict(rep.classify(query))


@router.get("/api/categories")
async def categories(query: Annotated[str, Query(max_length=MAX_QUERY_LENGTH)], rep: Rep, caller: Caller) -> dict[str, Any]:
    """The best categories for a query, each with its best tools."""
    return {"categories": [asdict(category) for category in await rep.categories(query, caller)]}


@router.get("/api/graph")
async def graph(
    rep: Rep,
    caller: Caller,
    entry: Annotated[str | None, Query(description="Only this entry and what is around it: an id, or a path or name.")] = None,
    format: Annotated[Format, Query()] = Format.MERMAID,
    nodes: Annotated[bool, Query(description="Also the words, categories, values and names that entries share.")] = False,
) -> dict[str, Any]:
    """How entries are related, drawn; `cut` says that there is more than is shown."""
    return (await rep.graph(entry, format, nodes=nodes, principal=caller)).as_json()
