"""How do the routes become one service?"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from types import MappingProxyType
from typing import Any, Protocol

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

import repertory
from repertory.app import Repertory
from repertory.errors import CatalogUnavailable, Forbidden, RepertoryError, Unauthorized
from repertory.model import Principal
from repertory.rest import (
    answers,
    audit,
    chat,
    connect,
    entries,
    health,
    keys,
    lifecycle,
    lists,
    official,
    page,
    review,
    runs,
    search,
    semantic,
    sources,
    upkeep,
    use,
    wellknown,
)
from repertory.rest.problems import http_problem, problem_response, validation_problem
from repertory.rest.references import KeepEncoded

LOOPBACK_NAMES = ["127.0.0.1", "localhost", "[::1]"]

# An entry's own address takes what the others leave.
ROUTES = (
    page,
    health,
    search,
    semantic,
    chat,
    lists,
    connect,
    use,
    lifecycle,
    entries,
    sources,
    runs,
    official,
    wellknown,
    keys,
    audit,
    review,
    upkeep,
)


class Door(Protocol):
    """Another protocol at a path of the service."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None: ...
    def run(self) -> AbstractAsyncContextManager[None]: ...


def create_service(rep: Repertory, token: str, doors: Mapping[str, Door] = MappingProxyType({})) -> FastAPI:
    """The HTTP service over an open catalog, with other protocols at paths of their own."""

    @contextlib.asynccontextmanager
    async def lifespan(service: FastAPI) -> AsyncIterator[None]:
        behind: set[asyncio.Task[None]] = service.state.behind
        ours = (
            rep.keep_embedding(),
            rep.keep_following(),
            rep.keep_refreshing(),
            rep.keep_tidy(),
            rep.gateway.upstreams.keep_tidy(),
        )
        behind |= {asyncio.create_task(work) for work in ours}
        async with contextlib.AsyncExitStack() as open_doors:
            for door in doors.values():
                await open_doors.enter_async_context(door.run())
            yield
        tasks = list(behind)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        with contextlib.suppress(CatalogUnavailable):  # then nobody can be told
            await rep.tidy()

    service = FastAPI(
        title="Repertory",
        version=repertory.__version__,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        responses=answers.problems(401),
    )
    service.state.rep = rep
    rep.callers.accept_owner(token)
    service.state.behind = behind_requests = set[asyncio.Task[None]]()  # ends with the service
    service.state.runs = runs.Runs(behind_requests)
    # A page from elsewhere that points its own name at 127.0.0.1 must not read the catalog through the visitor's browser.
    service.add_middleware(TrustedHostMiddleware, allowed_hosts=names(rep))
    service.add_middleware(KeepEncoded)

    @service.exception_handler(RepertoryError)
    async def _problem(request: Request, error: RepertoryError) -> JSONResponse:
        if isinstance(error, Unauthorized | Forbidden):
            await rep.denied(_name(request), f"access.{error.code}", getattr(request.scope.get("route"), "path", ""))
        return problem_response(error)

    @service.exception_handler(RequestValidationError)
    async def _invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        return validation_problem(error)

    @service.exception_handler(StarletteHTTPException)
    async def _refused(_: Request, error: StarletteHTTPException) -> JSONResponse:
        return http_problem(error)

    for routes in ROUTES:
        service.include_router(routes.router)
    described = service.openapi

    def openapi() -> dict[str, Any]:
        """The document, with the one error answer that all routes share."""
        document = described()
        document.setdefault("components", {}).setdefault("schemas", {})["Problem"] = answers.Problem.model_json_schema()
        return document

    service.openapi = openapi  # type: ignore[method-assign]  # FastAPI's own way
    # First, because every call of a tool comes through here, and would be compared with all the routes before.
    service.router.routes[:0] = [Route(path, door) for path, door in doors.items()]
    return service


def names(rep: Repertory) -> list[str]:
    """The names by which the service may be called."""
    return [*LOOPBACK_NAMES, rep.settings.host, *rep.settings.allowed_hosts]


def _name(request: Request) -> str:
    """Whom to name in the audit log: nothing that a stranger made up."""
    caller: Principal = getattr(request.state, "caller", Principal.anyone())
    return caller.name
