"""What will be done for this request?

Every strategy is a `SearchPlan`: which lanes, how deep, how they are joined and rescaled. Deciding happens here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from repertory.errors import InvalidRequest
from repertory.indexes.base import BM25, GRAMS, KEYWORD, VECTOR
from repertory.model import Diagnostic, Filter, Fusion, SearchRequest, Strategy
from repertory.model.request import MAX_LIMIT, MAX_QUERY_LENGTH

REGEX = "regex"
LEXICAL_ONLY = "lexical-only"  # A15: the word on the wire


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """Everything the engine needs to know. `mode` is what really answers, `strategy` what was asked for."""

    strategy: Strategy
    mode: str
    filter: Filter
    limit: int
    depth: int
    lanes: tuple[str, ...]
    join: str  # a function of `fuse`
    weights: Mapping[str, float]
    rescale: str  # a function of `rescale`
    fill: bool = False  # score every candidate in every lane
    adapt: bool = False  # weights depend on the query
    diagnostics: tuple[Diagnostic, ...] = ()

    def without_vector(self, reason: str) -> SearchPlan:
        """The same request, answered lexically (A15)."""
        diagnostic = Diagnostic("no_query_vector", f"Answered by words alone: {reason}")
        return replace(
            self,
            mode=LEXICAL_ONLY,
            lanes=(KEYWORD, BM25),
            join="boost",
            rescale="keep",
            fill=True,
            adapt=False,
            diagnostics=(*self.diagnostics, diagnostic),
        )


RRF_WEIGHTS = {BM25: 1.0, VECTOR: 1.0}
LINEAR_WEIGHTS = {BM25: 0.3, VECTOR: 0.7}  # D01


def plan(request: SearchRequest, filter: Filter, *, strategy: Strategy, fusion: Fusion) -> SearchPlan:
    """The plan for a request; `strategy` and `fusion` are the settings' choice where the request has none."""
    _check(request)
    chosen = request.strategy or strategy
    # A05 and B08 and C04 each want a depth; the deepest of them serves all.
    base = SearchPlan(
        strategy=chosen,
        mode=chosen.value,
        filter=filter,
        limit=request.limit,
        depth=max(3 * request.limit, 30),
        lanes=(),
        join="single",
        weights={},
        rescale="keep",
    )
    match chosen:
        case Strategy.REGEX:
            return replace(base, lanes=(REGEX,))
        case Strategy.KEYWORD:
            return replace(base, lanes=(KEYWORD,), join="boost")
        case Strategy.BM25:
            return replace(base, lanes=(BM25,), rescale="by_best")
        case Strategy.EMBEDDING:
            return replace(base, lanes=(VECTOR,), rescale="cosine")
        case Strategy.HYBRID:
            hybrid = replace(base, lanes=(BM25, VECTOR), rescale="by_best")
            match request.fusion or fusion:
                case Fusion.RRF:
                    return replace(hybrid, join="rrf", weights=RRF_WEIGHTS)
                case Fusion.LINEAR:
                    return replace(hybrid, join="linear", weights=LINEAR_WEIGHTS, fill=True)
                case Fusion.ADAPTIVE:
                    return replace(hybrid, lanes=(BM25, GRAMS, VECTOR), join="adaptive", fill=True, adapt=True)


def _check(request: SearchRequest) -> None:
    if not 1 <= request.limit <= MAX_LIMIT:
        raise InvalidRequest(f"limit is {request.limit}; it must be between 1 and {MAX_LIMIT}.")
    if not request.query.strip():
        raise InvalidRequest("The query is empty. Say what you are looking for.")
    if any("\ud800" <= character <= "\udfff" for text in (request.query, *request.tags) for character in text):
        raise InvalidRequest("The query or a tag is not valid Unicode. Send it as UTF-8.")
    if len(request.query) > MAX_QUERY_LENGTH:
        raise InvalidRequest(f"The query has {len(request.query)} characters; at most {MAX_QUERY_LENGTH} are read. Shorten it.")
