"""Who is calling, and what is open to them?

A route asks for a `Caller` to know whom it answers, for an `Admin` to be called by those who look after the catalog only, or for an `Owner`
to be called by nobody but who can read the catalog directory. A `Visitor` need not show a credential even where one is required. None of
them blocks, and all are coroutines: anything else would be sent to a thread and back, for every request.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from repertory.app import Repertory
from repertory.errors import Forbidden
from repertory.model import Principal


async def _caller(request: Request) -> Principal:
    request.state.caller = await _catalog(request).callers.recognise(request.headers.get("authorization"))
    caller: Principal = request.state.caller
    return caller


async def _visitor(request: Request) -> Principal:
    return await _caller(request) if "authorization" in request.headers else Principal.anyone()


async def _owner(caller: Annotated[Principal, Depends(_caller)]) -> Principal:
    if not caller.is_owner:
        raise Forbidden("Only the owner of the catalog directory may do this.")
    return caller


async def _admin(caller: Annotated[Principal, Depends(_caller)]) -> Principal:
    if not caller.is_admin:
        raise Forbidden("Only administrators may do this: it needs the scope 'admin'.")
    return caller


async def _rep(request: Request) -> Repertory:
    return _catalog(request)


def _catalog(request: Request) -> Repertory:
    rep: Repertory = request.app.state.rep
    return rep


Caller = Annotated[Principal, Depends(_caller)]
Admin = Annotated[Principal, Depends(_admin)]
Visitor = Annotated[Principal, Depends(_visitor)]
Owner = Annotated[Principal, Depends(_owner)]
Rep = Annotated[Repertory, Depends(_rep)]
