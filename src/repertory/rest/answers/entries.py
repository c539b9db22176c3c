"""How is an entry answered, and what is around it?"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from repertory.graph.draw import Format
from repertory.model import Kind, Status


class Tag(BaseModel):
    tag: str
    count: int


class Tags(BaseModel):
    tags: list[Tag]


class Entry(BaseModel):
    id: str = Field(examples=["tool:calendar/create_event"])
    kind: Kind
    path: str
    name: str
    description: str
    tags: list[str]
    metadata: dict[str, Any]
    details: dict[str, Any] = Field(description="What only its kind has: a tool's schemas, a server's tools.")
    status: Status
    enabled: bool
    modified: str | None
    etag: str = Field(description="To be sent back as If-Match.")
    audience: list[str] | None = Field(None, description="The groups that may see it. Only for administrators, as what follows.")
    scopes: list[str] | None = Field(None, description="What one needs to call it.")
    provenance: str | None = None
    links: list[list[str]] | None = None
    held: str | None = Field(None, description="Why it is held back.")
    findings: list[dict[str, Any]] | None = Field(None, description="What the guard saw, the worst first.")


class EntryWithEdges(Entry):
    edges: list[list[str]] = Field(description="origin, relation, target: one hop out and in.")


class Entries(BaseModel):
    entries: list[Entry]
    total: int


class Section(BaseModel):
    heading: str
    text: str


class Content(BaseModel):
    id: str
    name: str
    markdown: str
    sections: list[Section]
    signature: str | None = Field(None, description="Of a tool: name(required, optional=).")
    input_schema: dict[str, Any] | None = None
    output_schema: dict[str, Any] | None = None


class Snippet(BaseModel):
    client: str = Field(examples=["claude-code"])
    title: str
    language: str = Field(examples=["json"])
    text: str


class Connect(BaseModel):
    id: str
    snippets: list[Snippet]
    reason: str | None = Field(None, description="Why there is none.")


class GraphNode(BaseModel):
    id: str
    kind: str = Field(
        description="The short word that opens an id: tool, server, agent, skill, virtual, doc; of what entries share: word..."
    )
    name: str


class GraphEdge(BaseModel):
    origin: str
    relation: str
    target: str


class Graph(BaseModel):
    nodes: list[GraphNode]
    edges: list[GraphEdge]


class Drawing(BaseModel):
    format: Format
    text: str
    edges: int
    cut: bool = Field(description="There are more edges than are shown.")
    graph: Graph | None = Field(None, description="With the format json, instead of the text.")
