"""How are entries registered, changed and taken out over HTTP?"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Response

from repertory.model import Entity, Principal, Status
from repertory.rest import answers
from repertory.rest.callers import Admin, Rep
from repertory.rest.entries import ETAG, quoted, shown
from repertory.rest.references import Reference
from repertory.rest.wire import DecisionBody, EntryBody

router = APIRouter(tags=["lifecycle"])

IfMatch = Annotated[
    str | None, Header(alias="If-Match", description='The ETag that was read: `"..."`. `*` means any state.', max_length=200)
]
MustMatch = Annotated[str, Header(alias="If-Match", description='The ETag that was read: `"..."`. `*` means any state.', max_length=200)]

WORDS: dict[str, dict[str, Any]] = {
    "enable": {"enabled": True},
    "disable": {"enabled": False},
    "deprecate": {"status": Status.DEPRECATED.value},
    "activate": {"status": Status.ACTIVE.value},
}


@router.post(
    "/api/entries",
    status_code=201,
    response_model=answers.Entry,
    response_model_exclude_unset=True,
    responses={201: ETAG, **answers.problems(403, 409)},
)
async def register(body: EntryBody, rep: Rep, caller: Admin, response: Response) -> dict[str, Any]:
    """Register an entry: plainly, or by the definition that a file would hold. It is found in the next search."""
    return _told(await rep.register(body.kind, body.described(), caller.name), caller, response)


@router.put(
    "/api/entries/{reference:path}",
    response_model=answers.Entry,
    response_model_exclude_unset=True,
    responses={200: ETAG, **answers.problems(400, 403, 404, 409, 412)},
)
async def put(reference: Reference, body: EntryBody, rep: Rep, caller: Admin, if_match: MustMatch, response: Response) -> dict[str, Any]:
    """Replace an entry that was registered here, in the state that If-Match names."""
    entity = await rep.show(reference, caller)
    return _told(await rep.replace(entity.id, body.kind, body.described(), _state(if_match), caller.name), caller, response)


@router.patch(
    "/api/entries/{reference:path}",
    response_model=answers.Entry,
    response_model_exclude_unset=True,
    responses={200: ETAG, **answers.problems(400, 403, 404, 412)},
)
async def patch(
    reference: Reference, body: DecisionBody, rep: Rep, caller: Admin, response: Response, if_match: IfMatch = None
) -> dict[str, Any]:
    """Decide about an entry of any source; it survives the next reading of the source. null takes a decision back."""
    entity = await rep.show(reference, caller)
    return _told(await rep.override(entity.id, body.decided(), _state(if_match), caller.name), caller, response)


@router.delete("/api/entries/{reference:path}", status_code=204, responses=answers.problems(400, 403, 404, 409, 412))
async def delete(reference: Reference, rep: Rep, caller: Admin, if_match: IfMatch = None) -> None:
    """Remove an entry that was registered here. One of another source would come back: disable it instead."""
    entity = await rep.show(reference, caller)
    await rep.unregister(entity.id, _state(if_match), caller.name)


def _word(word: str, changes: dict[str, Any]) -> None:
    @router.post(
        f"/api/entries/{{reference:path}}/{word}",
        name=word,
        response_model=answers.Entry,
        response_model_exclude_unset=True,
        responses={200: ETAG, **answers.problems(400, 403, 404)},
    )
    async def decide(reference: Reference, rep: Rep, caller: Admin, response: Response) -> dict[str, Any]:
        """The same as a PATCH, by one word."""
        entity = await rep.show(reference, caller)
        return _told(await rep.override(entity.id, changes, None, caller.name), caller, response)


for _name, _changes in WORDS.items():
    _word(_name, _changes)


def _told(entity: Entity, caller: Principal, response: Response) -> dict[str, Any]:
    response.headers["ETag"] = quoted(entity)
    return shown(entity, caller)


def _state(header: str | None) -> str | None:
    """The state that a header names; a weak mark and quotes are HTTP's."""
    named = (header or "*").strip().removeprefix("W/").strip('"')
    return None if named == "*" else named
