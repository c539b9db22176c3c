"""How are lists and the search by groups answered (A10-A12)?"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from repertory.model import Kind
from repertory.rest.answers.base import Open
from repertory.rest.answers.entries import Entry
from repertory.rest.answers.search import Diagnostic, MatchingTool


class Found(Open):
    id: str
    kind: Kind
    path: str
    name: str
    description: str
    tags: list[str]
    score: float
    metadata: dict[str, Any] | None = Field(None, description="What metadata_fields asked for.")


class FoundServer(Found):
    matching_tools: list[MatchingTool]


class FoundTool(Found):
    server: str
    inputSchema: dict[str, Any] | None  # noqa: N815 - MCP's word


class Totals(BaseModel):
    servers: int
    tools: int
    agents: int
    skills: int
    virtual_servers: int
    documents: int


class SemanticAnswer(BaseModel):
    query: str = Field(description="Without its tags.")
    tags: list[str]
    servers: list[FoundServer]
    tools: list[FoundTool]
    agents: list[Found]
    skills: list[Found]
    virtual_servers: list[FoundServer]
    documents: list[Found]
    totals: Totals
    search_mode: str
    confidence: float | None
    diagnostics: list[Diagnostic]


class Scored(Entry):
    score: float


class ScoredSkills(BaseModel):
    skills: list[Scored]
    total: int


class Servers(BaseModel):
    servers: list[Entry]
    total: int


class Agents(BaseModel):
    agents: list[Entry]
    total: int


class Skills(BaseModel):
    skills: list[Entry]
    total: int


class VirtualServers(BaseModel):
    virtual_servers: list[Entry]
    total: int


class Tools(BaseModel):
    tools: list[Entry]
    total: int


LISTS: dict[str, type[BaseModel]] = {
    "servers": Servers,
    "agents": Agents,
    "skills": Skills,
    "virtual_servers": VirtualServers,
    "tools": Tools,
}
