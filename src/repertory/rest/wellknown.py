"""How do crawlers and agents find what is offered here?"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request

from repertory.errors import NotFound
from repertory.model import Entity, Filter, Kind
from repertory.rest import answers
from repertory.rest.callers import Caller, Rep
from repertory.rest.official import name_of
from repertory.rest.references import Reference
from repertory.sources import a2a

router = APIRouter(tags=["discovery"])

CARD_TYPE = "application/a2a-agent-card+json"
SERVER_TYPE = "application/mcp-server+json"
MAX_ENTRIES = 10_000  # of a catalog: it is one document


@router.get("/.well-known/ai-catalog.json", response_model=answers.AiCatalog, response_model_exclude_none=True)
async def catalog(request: Request, rep: Rep, caller: Caller) -> dict[str, Any]:
    """The servers and agents that the caller sees, each with the address of its own document (AI Catalog 1.0)."""
    base = str(request.base_url).rstrip("/")
    kinds = frozenset({Kind.MCP_SERVER, Kind.A2A_AGENT})
    found, _ = await rep.entries(Filter(kinds=kinds), caller, limit=MAX_ENTRIES)
    return {"specVersion": "1.0", "host": {"displayName": "Repertory"}, "entries": [_entry(entity, base) for entity in found]}


@router.get("/agents/{reference}/.well-known/agent-card.json", response_model=answers.AgentCard, responses=answers.problems(400, 404))
async def card(reference: Reference, rep: Rep, caller: Caller) -> dict[str, Any]:
    """The card of an agent."""
    entity = await rep.show(f"{Kind.A2A_AGENT.prefix}:{reference}", caller)
    if entity.kind is not Kind.A2A_AGENT:
        raise NotFound(f"There is no agent {reference!r}.")
    return card_of(entity)


def card_of(entity: Entity) -> dict[str, Any]:
    """An agent's card, from what was kept of it."""
    told = entity.details
    kept = {theirs: told[ours] for theirs, ours in reversed(a2a.KEPT.items()) if told.get(ours)}
    if "securityRequirements" in kept:
        kept.pop("security", None)  # 0.3's word for the same
    skills = [{"id": a2a.slug(str(skill.get("name", ""))), "description": "", "tags": [], **skill} for skill in told.get("skills", ())]
    return {
        "name": entity.name,
        "description": entity.description,
        "version": told.get("version") or "0.0.0",
        **{key: told[key] for key in ("url", "provider") if told.get(key)},
        **kept,
        "capabilities": told.get("capabilities") or {},
        "defaultInputModes": told.get("input_modes") or ["text/plain"],
        "defaultOutputModes": told.get("output_modes") or ["text/plain"],
        "skills": skills,
    }


def _entry(entity: Entity, base: str) -> dict[str, Any]:
    if entity.kind is Kind.A2A_AGENT:
        kind, url = CARD_TYPE, f"{base}/agents/{quote(entity.path, safe='')}/.well-known/agent-card.json"
    else:
        kind, url = SERVER_TYPE, f"{base}/v0.1/servers/{quote(name_of(entity), safe='')}/versions/latest"
    return {
        "identifier": f"urn:repertory:{quote(entity.id, safe=':/-._~')}",
        "displayName": entity.name,
        "type": kind,
        "url": url,
        "description": entity.description or None,
        "tags": list(entity.tags) or None,
    }
