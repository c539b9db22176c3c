"""What goes over the wire?"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from repertory.model import Fusion, Kind, SearchRequest, Strategy
from repertory.model.request import DEFAULT_LIMIT, MAX_LIMIT, MAX_QUERY_LENGTH


class SearchBody(BaseModel):
    """The body of `POST /api/search`."""

    model_config = ConfigDict(extra="forbid")

    query: str = Field(min_length=1, max_length=MAX_QUERY_LENGTH, examples=["schedule a meeting"])
    strategy: Strategy | None = None
    fusion: Fusion | None = None
    kinds: set[Kind] | None = Field(None, description="Only entries of these kinds; all when absent.")
    tags: set[str] = Field(default_factory=set, description="Only entries that have all of these tags.")
    limit: int = Field(DEFAULT_LIMIT, ge=1, le=MAX_LIMIT)
    include_deprecated: bool = False
    include_draft: bool = False
    include_disabled: bool = False
    explain: bool = Field(False, description="Say for each result which lanes spoke for it.")

    def to_request(self) -> SearchRequest:
        """The request in our own nouns."""
        return SearchRequest(
            query=self.query,
            strategy=self.strategy,
            fusion=self.fusion,
            kinds=frozenset(self.kinds) if self.kinds else None,
            tags=frozenset(self.tags),
            limit=self.limit,
            include_deprecated=self.include_deprecated,
            include_draft=self.include_draft,
            include_disabled=self.include_disabled,
        )


class AddBody(BaseModel):
    """The body of `POST /api/add`: for the owner of the machine only."""

    model_config = ConfigDict(extra="forbid")

    path: str = Field(min_length=1, description="An absolute path on the serving machine.")
