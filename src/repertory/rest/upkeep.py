"""How does the owner of a catalog look after it over HTTP?

The command line comes through here when another process serves its catalog.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, StreamingResponse

from repertory.app import Repertory
from repertory.errors import RepertoryError
from repertory.model import Principal
from repertory.rest.callers import Owner, Rep
from repertory.rest.wire import AddBody, BundleBody

router = APIRouter(include_in_schema=False)


@router.post("/api/check")
async def check(rep: Rep, _: Owner) -> dict[str, Any]:
    """Where the index differs from the truth."""
    return {"differences": await rep.check(), "waiting": await rep.waiting()}


@router.post("/api/rebuild")
async def rebuild(rep: Rep, _: Owner) -> dict[str, Any]:
    """Build the search index anew."""
    await rep.rebuild()
    return {}


@router.get("/api/export")
async def export(rep: Rep, _: Owner) -> JSONResponse:
    """Every tool with its text and vector, as one JSON value (C06)."""
    return JSONResponse(await rep.export())


@router.post("/api/bundle")
async def bundle(body: BundleBody, rep: Rep, owner: Owner) -> dict[str, Any]:
    """Write a directory that can be served anywhere (D08)."""
    return (await rep.bundle(body.directory, with_keys=body.with_keys, wheels=body.wheels, by=owner)).as_json()


@router.post("/api/add")
async def add(body: AddBody, request: Request, rep: Rep, owner: Owner) -> StreamingResponse:
    """Progress as JSON lines, the report or the problem last."""
    return StreamingResponse(_adding(rep, body, request.app.state.behind, owner), media_type="application/x-ndjson")


async def _adding(rep: Repertory, body: AddBody, behind: set[asyncio.Task[None]], by: Principal) -> AsyncIterator[str]:
    lines: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def progress(stage: str, done: int, total: int) -> None:
        loop.call_soon_threadsafe(lines.put_nowait, {"stage": stage, "done": done, "total": total})

    async def work() -> None:
        try:
            report = await rep.add(body.path, progress, commits=body.commits, dry_run=body.dry_run, embed=body.embed, by=by)
            lines.put_nowait({"report": asdict(report)})
        except RepertoryError as error:
            lines.put_nowait({"problem": {"code": error.code, "message": str(error)}})
        finally:
            lines.put_nowait(None)

    task = asyncio.create_task(work())
    behind.add(task)
    task.add_done_callback(behind.discard)
    while (line := await lines.get()) is not None:
        yield json.dumps(line) + "\n"
    await task
