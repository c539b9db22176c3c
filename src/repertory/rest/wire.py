"""What goes over the wire?"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from repertory.model import Fusion, Kind, Preset, SearchRequest, Strategy
from repertory.model.request import DEFAULT_LIMIT, MAX_LIMIT, MAX_QUERY_LENGTH


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
    min_score: float = Field(0.0, ge=0, le=1, description="Results that would be shown with less are left out.")
    min_confidence: float | None = Field(None, ge=0, le=1, description="Below it the answer abstains.")
    include_deprecated: bool = False
    include_draft: bool = False
    include_disabled: bool = False
    explain: bool = Field(False, description="Say for each result why it is there.")

    def to_request(self) -> SearchRequest:
        """The request in our own nouns."""
        return SearchRequest.from_json(self.model_dump())


class AddBody(BaseModel):
    """The body of `POST /api/add`: for the owner of the machine only."""

    model_config = ConfigDict(extra="forbid")

    path: str = Field(min_length=1, description="An absolute path on the serving machine, or an http(s) address.")
    commits: int | None = Field(None, ge=1, description="Read so many commits of the git repository at the path, instead of its files.")
    dry_run: bool = Field(False, description="Only tell what would change.")


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
