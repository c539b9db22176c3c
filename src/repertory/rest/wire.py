"""What goes over the wire?"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from repertory.chat.request import MAX_ANSWER_LENGTH, MAX_TURNS, ChatRequest
from repertory.model import Fusion, Kind, Preset, SearchRequest, Status, Strategy
from repertory.model.request import DEFAULT_LIMIT, MAX_LIMIT, MAX_QUERY_LENGTH

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class Detail(StrEnum):
    """How much is said of each result."""

    COMPACT = "compact"
    FULL = "full"


class SearchBody(BaseModel):
    """The body of `POST /api/search`."""

    model_config = ConfigDict(extra="forbid")

    query: str = Field("", max_length=MAX_QUERY_LENGTH, examples=["schedule a meeting"], description="Empty, without context: browse.")
    preset: Preset | None = Field(None, description="A whole behaviour by one word.")
    strategy: Strategy | None = None
    fusion: Fusion | None = None
    kinds: set[Kind] | None = Field(None, description="Only entries of these kinds; all when absent.")
    tags: set[str] = Field(default_factory=set, description="Only entries that have all of these tags.")
    limit: int = Field(DEFAULT_LIMIT, ge=1, le=MAX_LIMIT)
    summary: str = Field("", max_length=MAX_QUERY_LENGTH, description="What the conversation is about; counts less than the query.")
    context: dict[str, Any] | list[Any] | str | None = Field(None, description="Flat or nested; counts less than the query.")
    hypothesis: str = Field(
        "",
        max_length=MAX_QUERY_LENGTH,
        description="An imagined answer (HyDE): embedded instead of the query; words still look for the query.",
    )
    min_score: float = Field(0.0, ge=0, le=1, description="Results that would be shown with less are left out.")
    min_confidence: float | None = Field(None, ge=0, le=1, description="Below it the answer abstains.")
    include_deprecated: bool = False
    include_draft: bool = False
    include_disabled: bool = False
    explain: bool = Field(False, description="Say for each result why it is there.")
    detail: Detail = Field(Detail.COMPACT, description="full: with metadata, details (a tool's schemas), status and date of each result.")
    cursor: str | None = Field(None, max_length=500, description="From the page before; the rest of the body as it was.")

    def to_request(self) -> SearchRequest:
        """The request in our own nouns."""
        return SearchRequest.from_json(self.model_dump(exclude={"detail", "cursor"}))


class TurnBody(BaseModel):
    """What was asked before, and what was answered."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(max_length=MAX_QUERY_LENGTH)
    answer: str = Field(max_length=MAX_ANSWER_LENGTH)


class ChatBody(BaseModel):
    """The body of `POST /chat`."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(min_length=1, max_length=MAX_QUERY_LENGTH, examples=["When is a late parcel refunded?"])
    turns: list[TurnBody] = Field(default_factory=list, max_length=MAX_TURNS, description="The conversation before, oldest first.")
    kinds: set[Kind] | None = Field(None, description="Only from entries of these kinds; all when absent.")
    tags: set[str] = Field(default_factory=set, description="Only from entries that have all of these tags.")
    limit: int | None = Field(None, ge=1, le=MAX_LIMIT, description="Passages at most; else as the kind of question wants.")
    summary: str = Field("", max_length=MAX_QUERY_LENGTH, description="What the conversation is about; counts less than the question.")
    context: dict[str, Any] | list[Any] | str | None = Field(None, description="Flat or nested; counts less than the question.")
    stream: bool = Field(True, description="Server-sent events while the answer comes; false: one JSON value at the end.")

    def to_request(self) -> ChatRequest:
        """The request in our own nouns."""
        return ChatRequest.from_json(self.model_dump(exclude={"stream"}))


class AddBody(BaseModel):
    """The body of `POST /api/add`: for the owner of the machine only."""

    model_config = ConfigDict(extra="forbid")

    path: str = Field(min_length=1, description="An absolute path on the serving machine, or an http(s) address.")
    commits: int | None = Field(None, ge=1, description="Read so many commits of the git repository at the path, instead of its files.")
    dry_run: bool = Field(False, description="Only tell what would change.")
    embed: bool = Field(True, description="Whether what is new is embedded at once.")


class BundleBody(BaseModel):
    """The body of `POST /api/bundle`: for the owner of the machine only."""

    model_config = ConfigDict(extra="forbid")

    directory: str = Field(min_length=1, description="An absolute path on the serving machine where nothing is yet.")
    with_keys: bool = Field(False, description="Whether API keys and the audit log go along.")
    wheels: bool = Field(True, description="Whether what the program needs goes along.")


class EntryBody(BaseModel):
    """The body of `POST` and `PUT /api/entries`: what a file would hold as `definition`, or the same plainly."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"kind": "tool", "name": "add", "description": "Add two numbers.", "details": {"input_schema": {"type": "object"}}},
                {"kind": "skill", "definition": {"markdown": "---\nname: greet\ndescription: Greet a person.\n---\nSay hello."}},
            ]
        },
    )

    kind: Kind
    definition: dict[str, Any] | None = Field(
        None, description="As in a tool file, server.json, agent card, virtual server; or {markdown}."
    )
    path: str | None = Field(None, max_length=1000, description="Of a document; other kinds get theirs from their names.")
    name: str | None = Field(None, max_length=200)
    description: str | None = Field(None, max_length=100_000)
    tags: list[str] | None = Field(None, max_length=1000)
    metadata: dict[str, Any] | None = None
    details: dict[str, Any] | None = Field(None, description="What only its kind has: input_schema, tools, skills, url, body, remotes...")
    status: Status | None = None
    enabled: bool | None = None
    audience: list[str] | None = None
    scopes: list[str] | None = None

    def described(self) -> dict[str, Any]:
        """The definition: what is said plainly stands over what is said in it."""
        plainly = self.model_dump(exclude={"kind", "definition", "details"}, exclude_none=True, mode="json")
        return {**(self.details or {}), **(self.definition or {}), **plainly}


class DecisionBody(BaseModel):
    """The body of `PATCH /api/entries/{id}`. What is not named stays; null takes a decision back."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"minProperties": 1})

    status: Status | None = None
    enabled: bool | None = None
    audience: list[Name] | None = Field(None, min_length=1, description="The groups that find it.")
    scopes: list[Name] | None = Field(None, description="What one needs besides.")
    tags: list[Name] | None = None

    def decided(self) -> dict[str, Any]:
        """What was named, as plain JSON."""
        return self.model_dump(exclude_unset=True, mode="json")


class SourceBody(BaseModel):
    """The body of `POST /api/sources`."""

    model_config = ConfigDict(extra="forbid")

    location: str = Field(min_length=1, max_length=4096, description="An http(s) address, or an absolute path on the serving machine.")
    commits: int | None = Field(None, ge=1, le=1_000_000, description="Read so many commits of the git repository there, not its files.")


class CallBody(BaseModel):
    """The body of `POST /api/call`."""

    model_config = ConfigDict(extra="forbid")

    id: str = Field(min_length=1, description="An id, server/tool, server__tool, or a name that only one tool has.")
    arguments: dict[str, Any] = Field(default_factory=dict, description="As the tool's input schema says.")


class ReviewBody(BaseModel):
    """The body of `POST /api/review/approve` and `/api/review/reject`: one of both."""

    model_config = ConfigDict(extra="forbid")

    ids: list[str] = Field(default_factory=list, max_length=10_000, description="Ids or paths of entries that are held back.")
    all_of: str | None = Field(None, min_length=1, description="A server or source: all of its entries that are held back.")
