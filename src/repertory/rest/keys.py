"""How are API keys looked after over HTTP?"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from repertory.rest import answers
from repertory.rest.callers import Admin, Rep

router = APIRouter(prefix="/api/keys", tags=["keys"], responses=answers.problems(400, 403))


class KeyBody(BaseModel):
    """The body of `POST /api/keys`."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=100, description="Whoever will use it.", examples=["alice"])
    groups: list[str] = Field(default_factory=list, max_length=100, description="Besides public and user:NAME, which everybody has.")
    scopes: list[str] = Field(default_factory=list, max_length=100, description="admin opens everything.")
    expires: str | None = Field(None, description="Hours, days or weeks from now; absent: never.", examples=["90d"])


@router.get("", response_model=answers.Keys)
async def keys(rep: Rep, _: Admin) -> dict[str, Any]:
    """Every key, the oldest first, also those that were revoked; no secrets."""
    return {"keys": [record.as_json() for record in await rep.callers.list_keys()]}


@router.post("", status_code=201, response_model=answers.NewKey)
async def create(body: KeyBody, rep: Rep, caller: Admin) -> dict[str, Any]:
    """A new key. `token` is what its user sends; it is shown this once."""
    new = await rep.callers.create_key(body.name, body.groups, body.scopes, body.expires, caller)
    return {**new.record.as_json(), "token": new.token}


@router.delete("/{key_id}", status_code=204, responses=answers.problems(404))
async def revoke(key_id: str, rep: Rep, caller: Admin) -> None:
    """End a key at once, and for good."""
    await rep.callers.revoke_key(key_id, caller)
