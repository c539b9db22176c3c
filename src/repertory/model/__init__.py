"""Which nouns do we use?

Frozen data without I/O. Everything else in the house speaks in these words; nothing here knows how an entry is read, stored, found or
shown.
"""

from repertory.model.document import Document, Field
from repertory.model.entity import PUBLIC, Edge, Entity, Kind, Link, Status, content_digest
from repertory.model.filter import ADMIN, HARMLESS, READ_ONLY, Bucket, Filter, Principal
from repertory.model.finding import Finding, Level
from repertory.model.offer import SERVERS, bucket_of, is_guarded, offers_of, tool_of
from repertory.model.request import Fusion, Preset, SearchRequest, Strategy
from repertory.model.result import (
    Boost,
    Candidate,
    Diagnostic,
    Evidence,
    Hit,
    LiftedTool,
    MatchingTool,
    Ranking,
    Result,
    SearchResponse,
    Suggestion,
)

__all__ = [
    "ADMIN",
    "HARMLESS",
    "PUBLIC",
    "READ_ONLY",
    "SERVERS",
    "Boost",
    "Bucket",
    "Candidate",
    "Diagnostic",
    "Document",
    "Edge",
    "Entity",
    "Evidence",
    "Field",
    "Filter",
    "Finding",
    "Fusion",
    "Hit",
    "Kind",
    "Level",
    "LiftedTool",
    "Link",
    "MatchingTool",
    "Preset",
    "Principal",
    "Ranking",
    "Result",
    "SearchRequest",
    "SearchResponse",
    "Status",
    "Strategy",
    "Suggestion",
    "bucket_of",
    "content_digest",
    "is_guarded",
    "offers_of",
    "tool_of",
]
