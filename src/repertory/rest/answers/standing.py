"""How does a service tell of itself?"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from repertory.model import Kind, Status


class Health(BaseModel):
    status: Literal["ok"]
    version: str
    revision: int
    documents: int
    by_kind: dict[Kind, int]
    held: int = Field(description="Documents that are held back until somebody reviews them.")
    model: str | None
    changing: dict[str, Any] | None = Field(None, description="Where another model is on its way: from, to, texts, left.")


class Readiness(BaseModel):
    ready: bool
    reasons: list[str]


class Version(BaseModel):
    name: Literal["repertory"]
    version: str


class Freshness(BaseModel):
    revision: int = Field(description="Of the truth.")
    indexed_revision: int = Field(description="What searches see.")
    waiting: int = Field(description="Texts without a vector: words find them already.")
    documents: int
    by_kind: dict[Kind, int] = Field(description="Documents.")
    by_status: dict[Status, int] = Field(description="Entries.")
    sources_broken: int
    held: int = Field(description="Documents that are held back until somebody reviews them.")
    model: str | None
    changing: dict[str, Any] | None = Field(None, description="Where another model is on its way: from, to, texts, left.")
    started_at: str


class Whoami(BaseModel):
    name: str
    groups: list[str] | None = Field(description="None: everything is open to the owner.")
    scopes: list[str]
    admin: bool
    auth: Literal["open", "required"]
