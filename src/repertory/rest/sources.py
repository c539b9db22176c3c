"""How are the places that entries come from looked after over HTTP?"""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Any

from fastapi import APIRouter, Request

from repertory.errors import Forbidden
from repertory.model import Principal
from repertory.rest import answers
from repertory.rest.callers import Admin, Rep
from repertory.rest.references import Reference
from repertory.rest.runs import Work
from repertory.rest.wire import SourceBody
from repertory.sources.web import is_address

router = APIRouter(tags=["sources"], responses=answers.problems(403))


@router.get("/api/sources", response_model=answers.Sources)
async def sources(rep: Rep, _: Admin) -> dict[str, Any]:
    """Where the entries come from, and how it went."""
    return {"sources": [asdict(source) for source in await rep.sources()]}


@router.post("/api/sources", status_code=202, response_model=answers.Started, responses=answers.problems(403, 409))
async def add(body: SourceBody, request: Request, rep: Rep, caller: Admin) -> dict[str, Any]:
    """Read a registry, an agent card or a server.json at an address, or files of this machine. The run goes on when the caller leaves."""
    _may_read(body.location, caller)
    work = partial(rep.add, body.location, commits=body.commits)
    return _started(request, body.location, lambda progress: work(progress))


@router.post(
    "/api/sources/{reference:path}/refresh", status_code=202, response_model=answers.Started, responses=answers.problems(403, 404, 409)
)
async def refresh(reference: Reference, request: Request, rep: Rep, caller: Admin) -> dict[str, Any]:
    """Read a source again."""
    source = await rep.source(reference)
    return _started(request, source.location, partial(rep.reread, source))


@router.delete("/api/sources/{reference:path}", status_code=204, responses=answers.problems(403, 404, 409))
async def remove(reference: Reference, rep: Rep, caller: Admin) -> None:
    """Forget a source, and take its entries out."""
    await rep.forget(await rep.source(reference), caller.name)


def _started(request: Request, location: str, work: Work) -> dict[str, Any]:
    return {"run": request.app.state.runs.start(location, work).as_json()}


def _may_read(location: str, caller: Principal) -> None:
    """Whoever names a path has the serving process read its files: that is for who could read them anyway."""
    if not is_address(location) and not caller.is_owner:
        raise Forbidden("Only the owner of the catalog directory may have files of this machine read. Name an http(s) address.")
