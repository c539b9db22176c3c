"""How is a search asked over HTTP?"""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse

from repertory.graph.draw import Format
from repertory.model import Filter, Kind
from repertory.model.request import MAX_QUERY_LENGTH
from repertory.rest import answers
from repertory.rest.callers import Caller, Rep
from repertory.rest.entries import shown
from repertory.rest.pages import page
from repertory.rest.wire import Detail, SearchBody

router = APIRouter(tags=["search"])

FULL = ("metadata", "details", "status", "enabled", "modified")  # of an entry, beside what every result says


@router.post("/api/search", response_model=answers.SearchAnswer, responses=answers.problems(400, 503))
async def search(body: SearchBody, rep: Rep, caller: Caller) -> JSONResponse:
    """Find entries of every kind, in one ranked list, page by page."""
    response, cursor = await page(body.to_request(), body.cursor, partial(rep.search, principal=caller))
    answer = response.as_json(explain=body.explain)
    if body.detail is Detail.FULL:
        for one, result in zip(answer["results"], response.results, strict=True):
            one |= {name: value for name, value in shown(result.entity, caller).items() if name in FULL}
    return JSONResponse({**answer, "cursor": cursor})


@router.get("/api/classify", response_model=answers.Classification)
async def classify(query: Annotated[str, Query(max_length=MAX_QUERY_LENGTH)], rep: Rep, _: Caller) -> dict[str, Any]:
    """What kind of query this is, how one would search for it, and why."""
    return asdict(rep.classify(query))


@router.get("/api/categories", response_model=answers.Categories, responses=answers.problems(400, 503))
async def categories(query: Annotated[str, Query(max_length=MAX_QUERY_LENGTH)], rep: Rep, caller: Caller) -> dict[str, Any]:
    """The best categories for a query, each with its best tools."""
    return {"categories": [asdict(category) for category in await rep.categories(query, caller)]}


@router.get("/api/graph", response_model=answers.Drawing, response_model_exclude_unset=True, responses=answers.problems(400, 404))
async def graph(
    rep: Rep,
    caller: Caller,
    entry: Annotated[str | None, Query(description="Only this entry and what is around it: an id, or a path or name.")] = None,
    format: Annotated[Format, Query()] = Format.MERMAID,
    nodes: Annotated[bool, Query(description="Also the words, categories, values and names that entries share.")] = False,
) -> dict[str, Any]:
    """How entries are related, drawn; `cut` says that there is more than is shown."""
    drawing = (await rep.graph(entry, format, nodes=nodes, principal=caller)).as_json()
    return {**drawing, "text": "", "graph": json.loads(drawing["text"])} if format is Format.JSON else drawing


@router.get("/api/search/tags", response_model=answers.Tags)
async def tags(
    rep: Rep,
    caller: Caller,
    kind: Annotated[list[Kind] | None, Query()] = None,
    prefix: Annotated[str, Query(max_length=100, description="Only tags that begin so, whatever their case.")] = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> dict[str, Any]:
    """The tags of what the caller sees, most frequent first."""
    counts = await rep.tags(Filter(kinds=frozenset(kind) if kind else None), caller)
    begun = [(tag, count) for tag, count in counts.items() if tag.casefold().startswith(prefix.casefold())]
    return {"tags": [{"tag": tag, "count": count} for tag, count in begun[:limit]]}
