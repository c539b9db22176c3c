"""Which routes are there?

Reading is open to whoever reaches the loopback address; writing needs the token that the owner of the catalog directory can read.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
from collections.abc import AsyncIterator
from dataclasses import asdict
from importlib.resources import files
from typing import Annotated, Any

from fastapi import FastAPI, Header, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, StreamingResponse
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware

import repertory
from repertory.app import Repertory
from repertory.errors import Forbidden, RepertoryError
from repertory.graph.draw import Format
from repertory.model import Entity, Filter, Kind, Principal
from repertory.model.request import MAX_QUERY_LENGTH
from repertory.rest.problems import http_problem, problem_response, validation_problem
from repertory.rest.wire import AddBody, SearchBody

LOOPBACK_NAMES = ["127.0.0.1", "localhost", "[::1]"]
PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; connect-src 'self'"


def create_service(rep: Repertory, token: str) -> FastAPI:
    """The HTTP service over an open catalog."""

    adding: set[asyncio.Task[None]] = set()

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        behind = [asyncio.create_task(rep.keep_embedding()), asyncio.create_task(rep.keep_refreshing())]
        yield
        for task in (*behind, *adding):
            task.cancel()
        await asyncio.gather(*behind, *adding, return_exceptions=True)

    service = FastAPI(title="Repertory", version=repertory.__version__, lifespan=lifespan, docs_url=None, redoc_url=None)
    # A page from elsewhere that points its own name at 127.0.0.1 must not read the catalog through the visitor's browser.
    service.add_middleware(TrustedHostMiddleware, allowed_hosts=LOOPBACK_NAMES)
    page = files("repertory.web").joinpath("index.html").read_text("utf-8")
    reader = Principal.anyone()

    @service.exception_handler(RepertoryError)
    async def _problem(_: Request, error: RepertoryError) -> JSONResponse:
        return problem_response(error)

    @service.exception_handler(RequestValidationError)
    async def _invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        return validation_problem(error)

    @service.exception_handler(StarletteHTTPException)
    async def _refused(_: Request, error: StarletteHTTPException) -> JSONResponse:
        return http_problem(error)

    @service.get("/", include_in_schema=False)
    async def home() -> HTMLResponse:
        return HTMLResponse(page, headers={"Content-Security-Policy": PAGE_POLICY})

    @service.get("/health")
    async def health() -> dict[str, Any]:
        """Whether the service answers, and what it holds."""
        return {"status": "ok", "version": repertory.__version__, **rep.status()}

    @service.post("/api/search")
    async def search(body: SearchBody, authorization: Annotated[str | None, Header()] = None) -> dict[str, Any]:
        """Find entries of every kind, in one ranked list."""
        response = await rep.search(body.to_request(), _caller(authorization))
        return response.as_json(explain=body.explain)

    @service.get("/api/classify")
    async def classify(query: Annotated[str, Query(max_length=MAX_QUERY_LENGTH)]) -> dict[str, Any]:
        """What kind of query this is, how one would search for it, and why."""
        return asdict(rep.classify(query))

    @service.get("/api/categories")
    async def categories(
        query: Annotated[str, Query(max_length=MAX_QUERY_LENGTH)], authorization: Annotated[str | None, Header()] = None
    ) -> dict[str, Any]:
        """The best categories for a query, each with its best tools."""
        return {"categories": [asdict(category) for category in await rep.categories(query, _caller(authorization))]}

    @service.get("/api/entries")
    async def entries(
        kind: Annotated[list[Kind] | None, Query()] = None,
        limit: Annotated[int, Query(ge=1, le=1000)] = 50,
        offset: Annotated[int, Query(ge=0)] = 0,
        authorization: Annotated[str | None, Header()] = None,
    ) -> dict[str, Any]:
        """Entries in registration order."""
        found, total = await rep.entries(
            Filter(kinds=frozenset(kind) if kind else None), _caller(authorization), limit=limit, offset=offset
        )
        return {"entries": [_shown(entity, authorization) for entity in found], "total": total}

    @service.get("/api/entries/{reference:path}")
    async def entry(reference: str, authorization: Annotated[str | None, Header()] = None) -> dict[str, Any]:
        """One entry, by id, or by a path or name that only one entry has."""
        caller = _caller(authorization)
        entity = await rep.show(reference, caller)
        return {**_shown(entity, authorization), "edges": [list(edge) for edge in await rep.edges(entity.id, caller)]}

    @service.get("/api/graph")
    async def graph(
        entry: Annotated[str | None, Query(description="Only this entry and what is around it: an id, or a path or name.")] = None,
        format: Annotated[Format, Query()] = Format.MERMAID,
        nodes: Annotated[bool, Query(description="Also the words, categories, values and names that entries share.")] = False,
        authorization: Annotated[str | None, Header()] = None,
    ) -> dict[str, Any]:
        """How entries are related, drawn; `cut` says that there is more than is shown."""
        return (await rep.graph(entry, format, nodes=nodes, principal=_caller(authorization))).as_json()

    @service.get("/api/sources", include_in_schema=False)
    async def sources(authorization: Annotated[str | None, Header()] = None) -> dict[str, Any]:
        _require_owner(authorization)
        return {"sources": [asdict(source) for source in await rep.sources()]}

    @service.post("/api/check", include_in_schema=False)
    async def check(authorization: Annotated[str | None, Header()] = None) -> dict[str, Any]:
        _require_owner(authorization)
        return {"differences": await rep.check(), "waiting": await rep.waiting()}

    @service.post("/api/rebuild", include_in_schema=False)
    async def rebuild(authorization: Annotated[str | None, Header()] = None) -> dict[str, Any]:
        _require_owner(authorization)
        await rep.rebuild()
        return {}

    @service.get("/api/export", include_in_schema=False)
    async def export(authorization: Annotated[str | None, Header()] = None) -> JSONResponse:
        _require_owner(authorization)
        return JSONResponse(await rep.export())

    @service.post("/api/add", include_in_schema=False)
    async def add(body: AddBody, authorization: Annotated[str | None, Header()] = None) -> StreamingResponse:
        """Progress as JSON lines, the report or the problem last."""
        _require_owner(authorization)
        return StreamingResponse(_adding(rep, body, adding), media_type="application/x-ndjson")

    def _shown(entity: Entity, authorization: str | None) -> dict[str, Any]:
        """An entry without what only its owner should know: who else may see it, where its file is, what it links to unseen."""
        private = () if _is_owner(authorization) else ("audience", "provenance", "links")
        return {name: value for name, value in entity.as_json().items() if name not in private}

    def _caller(authorization: str | None) -> Principal:
        return Principal() if _is_owner(authorization) else reader

    def _is_owner(authorization: str | None) -> bool:
        return authorization is not None and secrets.compare_digest(authorization.encode(), f"Bearer {token}".encode())

    def _require_owner(authorization: str | None) -> None:
        if not _is_owner(authorization):
            raise Forbidden("Only the owner of the catalog directory may do this.")

    return service


async def _adding(rep: Repertory, body: AddBody, adding: set[asyncio.Task[None]]) -> AsyncIterator[str]:
    lines: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def progress(stage: str, done: int, total: int) -> None:
        loop.call_soon_threadsafe(lines.put_nowait, {"stage": stage, "done": done, "total": total})

    async def work() -> None:
        try:
            lines.put_nowait({"report": asdict(await rep.add(body.path, progress, commits=body.commits, dry_run=body.dry_run))})
        except RepertoryError as error:
            lines.put_nowait({"problem": {"code": error.code, "message": str(error)}})
        finally:
            lines.put_nowait(None)

    task = asyncio.create_task(work())
    adding.add(task)
    task.add_done_callback(adding.discard)
    while (line := await lines.get()) is not None:
        yield json.dumps(line) + "\n"
    await task
