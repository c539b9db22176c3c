"""How are keys, decisions and calls answered?"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field


class Key(BaseModel):
    id: str
    name: str
    groups: list[str]
    scopes: list[str]
    created: str
    expires: str | None
    last_used: str | None
    revoked: str | None


class Keys(BaseModel):
    keys: list[Key]


class NewKey(Key):
    token: str = Field(description="Shown this once.")


class Event(BaseModel):
    id: int
    at: str
    who: str
    action: str
    target: str
    detail: dict[str, Any]


class Events(BaseModel):
    events: list[Event]


class Call(BaseModel):
    id: int
    at: str
    who: str
    tool: str = Field(description="An id, `search` for a search of an agent, empty where there was none of that name.")
    ms: float
    outcome: str = Field(description="`ok`, `refused` when the tool says so itself, `cancelled`, `failed`, or the code of an error.")
    exposed: int = Field(0, description="Of a search: how many results were shown.")
    withheld: int = Field(0, description="Of a search: how many documents the caller could not find, whatever it asked for.")


class Calls(BaseModel):
    calls: list[Call]
