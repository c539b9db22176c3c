"""Which HTTP status does an error have?

Answers are problem+json (RFC 9457): a stable `code` beside the words.
"""

from __future__ import annotations

from http import HTTPStatus

from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException as StarletteHTTPException

from repertory.errors import (
    CatalogBusy,
    CatalogError,
    CatalogFormat,
    CatalogUnavailable,
    Changed,
    Conflict,
    EmbedderError,
    Forbidden,
    IdentityError,
    IndexUnavailable,
    InvalidArguments,
    InvalidPattern,
    InvalidRequest,
    LoginRequired,
    NotFound,
    RemoteModelError,
    RepertoryError,
    SettingsError,
    SourceError,
    Unauthorized,
    UpstreamError,
    VectorsUnavailable,
)
from repertory.sources.content import storable

PROBLEM_JSON = "application/problem+json"

STATUSES: dict[type[RepertoryError], int] = {
    RepertoryError: 500,
    InvalidRequest: 400,
    InvalidPattern: 400,
    InvalidArguments: 400,
    NotFound: 404,
    Unauthorized: 401,
    Forbidden: 403,
    Conflict: 409,
    Changed: 412,
    SourceError: 422,
    CatalogError: 500,
    CatalogBusy: 503,
    CatalogFormat: 500,
    CatalogUnavailable: 503,
    IndexUnavailable: 503,
    EmbedderError: 503,
    VectorsUnavailable: 503,
    UpstreamError: 502,
    LoginRequired: 502,  # not 401: the caller is known here, but not there
    RemoteModelError: 503,
    IdentityError: 503,
    SettingsError: 500,
}


def problem_response(error: RepertoryError) -> JSONResponse:
    """An error of ours as an answer."""
    response = _problem(STATUSES[type(error)], error.code, str(error))
    if isinstance(error, Unauthorized):
        response.headers["WWW-Authenticate"] = 'Bearer realm="repertory"'
    return response


def validation_problem(error: RequestValidationError) -> JSONResponse:
    """A request that does not have the right shape: which field, and why."""
    reasons = [f"{'.'.join(str(part) for part in one['loc'][1:]) or 'body'}: {one['msg']}" for one in error.errors()]
    return _problem(422, InvalidRequest.code, "; ".join(reasons))


def http_problem(error: StarletteHTTPException) -> JSONResponse:
    """What the framework itself refuses: an unknown route, a wrong method."""
    return _problem(error.status_code, HTTPStatus(error.status_code).phrase.lower().replace(" ", "_"), str(error.detail))


def _problem(status: int, code: str, detail: str) -> JSONResponse:
    return JSONResponse({"status": status, "code": code, "detail": storable(detail)}, status, media_type=PROBLEM_JSON)
