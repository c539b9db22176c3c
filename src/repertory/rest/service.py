"""How do the routes become one service?"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Protocol

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

import repertory
from repertory.app import Repertory
from repertory.errors import RepertoryError
from repertory.rest import entries, review, search, upkeep, use
from repertory.rest.callers import Callers
from repertory.rest.problems import http_problem, problem_response, validation_problem

LOOPBACK_NAMES = ["127.0.0.1", "localhost", "[::1]"]
PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; connect-src 'self'"


class Door(Protocol):
    """Another protocol at a path of the service."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None: ...
    def run(self) -> AbstractAsyncContextManager[None]: ...


def create_service(rep: Repertory, callers: Callers, doors: Mapping[str, Door] = MappingProxyType({})) -> FastAPI:
    """The HTTP service over an open catalog, with other protocols at paths of their own."""

    @contextlib.asynccontextmanager
    async def lifespan(service: FastAPI) -> AsyncIterator[None]:
        behind: set[asyncio.Task[None]] = service.state.behind
        behind |= {asyncio.create_task(rep.keep_embedding()), asyncio.create_task(rep.keep_refreshing())}
        behind.add(asyncio.create_task(rep.gateway.upstreams.keep_tidy()))
        async with contextlib.AsyncExitStack() as open_doors:
            for door in doors.values():
                await open_doors.enter_async_context(door.run())
            yield
        tasks = list(behind)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    service = FastAPI(title="Repertory", version=repertory.__version__, lifespan=lifespan, docs_url=None, redoc_url=None)
    service.state.rep = rep
    service.state.callers = callers
    service.state.behind = set()  # what runs behind the requests, and ends with the service
    # A page from elsewhere that points its own name at 127.0.0.1 must not read the catalog through the visitor's browser.
    service.add_middleware(TrustedHostMiddleware, allowed_hosts=LOOPBACK_NAMES)
    page = files("repertory.web").joinpath("index.html").read_text("utf-8")

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

    for routes in (search, entries, use, review, upkeep):
        service.include_router(routes.router)
    for path, door in doors.items():
        service.router.routes.append(Route(path, door))
    return service
