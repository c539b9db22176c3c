"""Which nouns do we use?

Frozen data without I/O. Everything else in the house speaks in these words; nothing here knows how an entry is read, stored, found or
shown.
"""

from repertory.model.document import Document, Field
from repertory.model.entity import PUBLIC, Entity, Kind, Link, Status, content_digest
from repertory.model.filter import Bucket, Filter, Principal
from repertory.model.request import Fusion, SearchRequest, Strategy
from repertory.model.result import Candidate, Diagnostic, Evidence, Hit, Ranking, Result, SearchResponse

__all__ = [
    "PUBLIC",
    "Bucket",
    "Candidate",
    "Diagnostic",
    "Document",
    "Entity",
    "Evidence",
    "Field",
    "Filter",
    "Fusion",
    "Hit",
    "Kind",
    "Link",
    "Principal",
    "Ranking",
    "Result",
    "SearchRequest",
    "SearchResponse",
    "Status",
    "Strategy",
    "content_digest",
]
