"""How is a search answered?"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from repertory.model import Kind
from repertory.rest.answers.base import Open


class Diagnostic(BaseModel):
    code: str = Field(examples=["lexical_only"])
    message: str


class MatchingTool(BaseModel):
    name: str
    description: str
    score: float


class SearchResult(Open):
    id: str
    kind: Kind
    path: str
    name: str
    description: str
    tags: list[str]
    score: float = Field(description="Relative to the best of this answer.")
    confidence: float | None = Field(description="How likely it is relevant, comparable between answers.")
    document_id: str
    anchor: str = Field(description="Where in the entry: a heading path.")
    excerpt: str
    matching_tools: list[MatchingTool] | None = Field(None, description="Of a server: which of its tools answer the query.")
    stale: bool | None = Field(None, description="Its source could not be read when it was last asked.")


class LiftedTool(BaseModel):
    id: str
    name: str
    server: str
    description: str
    score: float
    inputSchema: dict[str, Any] | None  # noqa: N815 - MCP's word


class SearchAnswer(Open):
    results: list[SearchResult]
    totals: dict[Kind, int]
    strategy: str
    search_mode: str = Field(description="What really answered: lexical-only where hybrid had no query vector.")
    confidence: float | None = Field(description="How likely the catalog answers the query at all.")
    abstained: bool
    revision: int
    took_ms: float
    diagnostics: list[Diagnostic]
    tools: list[LiftedTool] | None = None
    cursor: str | None = Field(description="For the next page.")


class Classification(Open):
    type: str
    needs_retrieval: bool


class Category(Open):
    name: str
    tools: list[str]


class Categories(BaseModel):
    categories: list[Category]
