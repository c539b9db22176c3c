"""How does an answer say that there is none?"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from repertory.rest.problems import PROBLEM_JSON


class Problem(BaseModel):
    """Why a request was not answered (RFC 9457)."""

    status: int = Field(examples=[404])
    code: str = Field(description="For machines: it stays the same when the words change.", examples=["not_found"])
    detail: str = Field(examples=["There is no entry 'tool:nope'."])


REASONS = {
    400: "It cannot be asked.",
    401: "Nobody vouches for the caller.",
    403: "The caller may not do this.",
    404: "There is no such thing.",
    409: "It stands against what is there.",
    412: "It has changed since: read it again.",
    422: "A value has not the right shape; the detail names it.",
    500: "Our fault.",
    502: "The server or agent behind it does not answer.",
    503: "A part that is needed does not answer; try again.",
}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The error answers of a route, for its documentation."""
    described = {"schema": {"$ref": "#/components/schemas/Problem"}}
    return {status: {"description": REASONS[status], "content": {PROBLEM_JSON: described}} for status in sorted({*statuses, 400, 422})}


class Open(BaseModel):
    """Has at least these fields."""

    model_config = ConfigDict(extra="allow")
