"""How do other registries and clients read the catalog?"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from repertory.rest.answers.base import Open


class ServerJson(Open):
    name: str = Field(examples=["io.github.acme/weather"])
    description: str
    version: str


class RegistryRecord(Open):
    server: ServerJson
    meta: dict[str, Any] = Field(alias="_meta")


class RegistryMetadata(BaseModel):
    count: int
    nextCursor: str | None = None  # noqa: N815 - the registry's word


class Registry(BaseModel):
    servers: list[RegistryRecord]
    metadata: RegistryMetadata


class CatalogHost(BaseModel):
    displayName: str  # noqa: N815 - the words of the AI Catalog


class CatalogEntry(BaseModel):
    identifier: str
    displayName: str  # noqa: N815
    type: str
    url: str
    description: str | None = None
    tags: list[str] | None = None


class AiCatalog(BaseModel):
    specVersion: str  # noqa: N815
    host: CatalogHost
    entries: list[CatalogEntry]


class AgentCard(Open):
    name: str
    description: str
    version: str
    skills: list[dict[str, Any]]
    capabilities: Any
