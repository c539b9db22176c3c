"""How does a client of an MCP registry search?

Rule A11: one list for each kind of entry, words with a # as tags, and of the metadata only what was asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from repertory.errors import InvalidRequest
from repertory.model import Entity, Kind, Preset, SearchRequest
from repertory.model.request import DEFAULT_LIMIT, MAX_LIMIT
from repertory.rest import answers
from repertory.rest.callers import Caller, Rep
from repertory.rest.wire import Name

router = APIRouter(tags=["search"])

MAX_QUERY = 512  # A11
MAX_FIELDS = 20
GROUPS = {
    Kind.MCP_SERVER: "servers",
    Kind.TOOL: "tools",
    Kind.A2A_AGENT: "agents",
    Kind.SKILL: "skills",
    Kind.VIRTUAL_SERVER: "virtual_servers",
    Kind.DOCUMENT: "documents",
}
TAG_SEARCH = "tag-only"  # the mode of a search that names tags and nothing else

DottedPath = Annotated[str, StringConstraints(pattern=r"^[^.\s][^.]*(\.[^.]+)*$", max_length=200)]


class SemanticBody(BaseModel):
    """The body of `POST /api/search/semantic`."""

    model_config = ConfigDict(extra="forbid")

    query: str = Field("", max_length=MAX_QUERY, examples=["book a flight #travel"], description="Words with a # are tags.")
    entity_types: list[Kind] | None = Field(None, description="All kinds when absent.")
    tags: list[Name] = Field(default_factory=list, description="Only entries that have all of these.")
    max_results: int = Field(DEFAULT_LIMIT, ge=1, le=MAX_LIMIT)
    include_deprecated: bool = False
    include_draft: bool = False
    include_disabled: bool = False
    metadata_fields: list[DottedPath] = Field(default_factory=list, max_length=MAX_FIELDS, description="Dotted paths into the metadata.")


@router.post("/api/search/semantic", response_model=answers.SemanticAnswer, responses=answers.problems(400, 503))
async def semantic(body: SemanticBody, rep: Rep, caller: Caller) -> JSONResponse:
    """Find entries, in one list for each kind."""
    words, tags = _apart(body.query)
    wanted = frozenset({*tags, *body.tags})
    if not words and not wanted:
        raise InvalidRequest("Ask for something: a query, tags, or both.")
    response = await rep.search(
        SearchRequest(
            words,
            preset=Preset.REGISTRY,
            kinds=frozenset(body.entity_types) if body.entity_types else None,
            tags=wanted,
            limit=body.max_results,
            include_deprecated=body.include_deprecated,
            include_draft=body.include_draft,
            include_disabled=body.include_disabled,
        ),
        caller,
    )
    groups: dict[str, list[dict[str, Any]]] = {name: [] for name in GROUPS.values()}
    for result in response.results:
        told = result.as_json()
        if result.entity.kind is Kind.MCP_SERVER or result.entity.kind is Kind.VIRTUAL_SERVER:
            told.setdefault("matching_tools", [])
        groups[GROUPS[result.entity.kind]].append(
            {**told, **_of_its_kind(result.entity), **_projected(result.entity, body.metadata_fields)}
        )
    for tool in response.tools:
        lifted = {"kind": Kind.TOOL.value, "path": tool.entity.path, "tags": list(tool.entity.tags), **tool.as_json()}
        groups["tools"].append({**lifted, **_projected(tool.entity, body.metadata_fields)})
    return JSONResponse(
        {
            "query": words,
            "tags": sorted(wanted),
            **groups,
            "totals": {name: len(found) for name, found in groups.items()},
            "search_mode": response.mode if words else TAG_SEARCH,
            "confidence": response.confidence,
            "diagnostics": [diagnostic.as_json() for diagnostic in response.diagnostics],
        }
    )


def _apart(query: str) -> tuple[str, list[str]]:
    """The words of a query, and its tags."""
    words = query.split()
    return " ".join(word for word in words if not _is_tag(word)), [word.lstrip("#") for word in words if _is_tag(word)]


def _is_tag(word: str) -> bool:
    return word.startswith("#") and bool(word.lstrip("#"))


def _of_its_kind(entity: Entity) -> dict[str, Any]:
    if entity.kind is not Kind.TOOL:
        return {}
    return {"server": str(entity.details.get("server") or ""), "inputSchema": entity.details.get("input_schema")}


def _projected(entity: Entity, paths: Sequence[str]) -> dict[str, Any]:
    """Of the metadata what was asked for, where it is there."""
    if not paths:
        return {}
    shown: dict[str, Any] = {}
    for path in paths:
        value: Any = entity.metadata
        *above, last = path.split(".")
        place = shown
        for step in (*above, last):
            value = value.get(step) if isinstance(value, Mapping) else None
        if value is not None:
            for step in above:
                inner = place.setdefault(step, {})
                place = inner if isinstance(inner, dict) else {}
            place[last] = value
    return {"metadata": shown}
