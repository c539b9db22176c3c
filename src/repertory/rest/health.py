"""How is the service doing?"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse

import repertory
from repertory.rest import answers
from repertory.rest.callers import Rep, Visitor

router = APIRouter(tags=["service"])

STARTED = datetime.now(UTC).isoformat(timespec="seconds")  # this module is read when the service is made


@router.get("/health", response_model=answers.Health)
async def health(rep: Rep) -> dict[str, Any]:
    """Whether the service answers, and what it holds."""
    return {"status": "ok", "version": repertory.__version__, **rep.status()}


@router.get("/ready", response_model=answers.Readiness, responses={503: {"model": answers.Readiness, "description": "Not yet."}})
async def ready(rep: Rep) -> JSONResponse:
    """Whether requests are answered as they should be: for whoever sends them here."""
    reasons = await rep.unready()
    return JSONResponse({"ready": not reasons, "reasons": reasons}, 503 if reasons else 200)


@router.get("/api/version", response_model=answers.Version)
async def version() -> dict[str, Any]:
    """Which Repertory this is."""
    return {"name": "repertory", "version": repertory.__version__}


@router.get("/api/status", response_model=answers.Freshness)
async def status(rep: Rep) -> dict[str, Any]:
    """How far the index follows the truth, and what is still to be done."""
    return {**await rep.freshness(), "started_at": STARTED}


@router.get("/api/whoami", response_model=answers.Whoami)
async def whoami(rep: Rep, caller: Visitor) -> dict[str, Any]:
    """As whom the service knows the caller."""
    groups = None if caller.groups is None else sorted(caller.groups)
    seen = {"name": caller.name, "groups": groups, "scopes": sorted(caller.scopes), "admin": caller.is_admin}
    return {**seen, "auth": rep.callers.policy}
