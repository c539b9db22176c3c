"""Who is calling, and what is open to them?

A route asks for a `Caller` to know whom it answers, for an `Admin` to be called by those who look after the catalog only, or for an `Owner`
to be called by nobody but who can read the catalog directory.
"""

from __future__ import annotations

import secrets
from typing import Annotated

from fastapi import Depends, Request

from repertory.app import Repertory
from repertory.errors import Forbidden
from repertory.model import Principal


class Callers:
    """Whoever sends the token that the owner of the catalog directory can read is the owner; everybody else is anyone."""

    def __init__(self, token: str) -> None:
        self._expected = f"Bearer {token}".encode()

    def recognise(self, authorization: str | None) -> Principal:
        """The principal behind an Authorization header."""
        if authorization is not None and secrets.compare_digest(authorization.encode(), self._expected):
            return Principal()
        return Principal.anyone()


def _caller(request: Request) -> Principal:
    callers: Callers = request.app.state.callers
    return callers.recognise(request.headers.get("authorization"))


def _owner(caller: Annotated[Principal, Depends(_caller)]) -> Principal:
    if not caller.is_owner:
        raise Forbidden("Only the owner of the catalog directory may do this.")
    return caller


def _admin(caller: Annotated[Principal, Depends(_caller)]) -> Principal:
    if not caller.is_admin:
        raise Forbidden("Only administrators may do this: it needs the scope 'admin'.")
    return caller


def _rep(request: Request) -> Repertory:
    rep: Repertory = request.app.state.rep
    return rep


Caller = Annotated[Principal, Depends(_caller)]
Admin = Annotated[Principal, Depends(_admin)]
Owner = Annotated[Principal, Depends(_owner)]
Rep = Annotated[Repertory, Depends(_rep)]
