"""What does an answer look like?

These models describe answers in the OpenAPI document; routes on the path of a search build theirs without them.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from repertory.chat.answer import State
from repertory.graph.draw import Format
from repertory.model import Kind, Status
from repertory.rest.problems import PROBLEM_JSON
from repertory.store import SourceState


class Problem(BaseModel):
    """Why a request was not answered (RFC 9457)."""

    status: int = Field(examples=[404])
    code: str = Field(description="For machines: it stays the same when the words change.", examples=["not_found"])
    detail: str = Field(examples=["There is no entry 'tool:nope'."])


REASONS = {
    400: "It cannot be asked.",
    401: "Nobody vouches for the caller.",
    403: "The caller may not do this.",
    404: "There is no such thing.",
    409: "It stands against what is there.",
    412: "It has changed since: read it again.",
    422: "A value has not the right shape; the detail names it.",
    500: "Our fault.",
    502: "The server or agent behind it does not answer.",
    503: "A part that is needed does not answer; try again.",
}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The error answers of a route, for its documentation."""
    described = {"schema": {"$ref": "#/components/schemas/Problem"}}
    return {status: {"description": REASONS[status], "content": {PROBLEM_JSON: described}} for status in sorted({*statuses, 400, 422})}


class Open(BaseModel):
    """Has at least these fields."""

    model_config = ConfigDict(extra="allow")


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


class Place(Open):
    id: str
    document_id: str = Field(description="Of the passage: the entry's id, with #n for a section.")
    kind: Kind
    path: str
    name: str
    anchor: str = Field(description="Its heading path.")


class Citation(Place):
    number: int = Field(description="As it stands in the text: [1].")


class Passage(Citation):
    text: str = Field(description="What the model read of it.")
    excerpt: str
    score: float
    confidence: float | None


class ChatAnswer(BaseModel):
    state: State
    text: str
    passages: list[Passage] = Field(description="What was retrieved, numbered from 1.")
    cited: bool = Field(description="Whether the text says where anything in it comes from.")
    citations: list[Citation] = Field(description="What the text cites, each one of the passages.")
    nearest: list[Place] = Field(description="What comes nearest where the documents do not say it.")
    model: str | None
    ending: str | None = Field(description="stop where the model was done; else length, content_filter or cut.")
    usage: dict[str, int] | None
    classification: dict[str, Any]
    search_mode: str
    confidence: float | None
    diagnostics: list[Diagnostic]
    retrieval_ms: float
    took_ms: float


class Classification(Open):
    type: str
    needs_retrieval: bool


class Category(Open):
    name: str
    tools: list[str]


class Categories(BaseModel):
    categories: list[Category]


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


class Source(BaseModel):
    name: str
    location: str
    live: bool = Field(description="A running server, asked again from time to time.")
    state: SourceState
    error: str
    attempted: str | None
    succeeded: str | None
    problems: int
    entries: int


class Sources(BaseModel):
    sources: list[Source]


class RunProgress(BaseModel):
    stage: str
    done: int
    total: int


class RunProblem(BaseModel):
    code: str
    message: str


class Run(BaseModel):
    id: str
    location: str
    state: Literal["running", "done", "failed"]
    started_at: str
    ended_at: str | None
    progress: RunProgress | None
    report: dict[str, Any] | None = Field(description="Entries added, changed, removed, unchanged; problems of files.")
    problem: RunProblem | None


class Runs(BaseModel):
    runs: list[Run]


class Started(BaseModel):
    run: Run


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
