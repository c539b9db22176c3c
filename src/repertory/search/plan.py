"""What will be done for this request?

Every strategy is a `SearchPlan`: which lanes, how deep, how they are joined, boosted, distributed and rescaled. A preset is a set of
choices by one name (`presets`). Deciding happens here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from repertory.errors import InvalidRequest
from repertory.indexes.base import BM25, GRAMS, KEYWORD, VECTOR
from repertory.model import Diagnostic, Filter, Fusion, Preset, SearchRequest, Strategy
from repertory.model.request import MAX_LIMIT, MAX_QUERY_LENGTH
from repertory.search.confidence import learned
from repertory.search.presets import PRESETS, Choices
from repertory.search.rerank import HEAD

REGEX = "regex"
GRAPH = "graph"
LEXICAL_ONLY = "lexical-only"  # A15: the word on the wire
IDENTIFIER = "identifier"  # D05
BROWSE = "browse"  # E08
EMPTY = "empty"


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
    adapt: bool = False  # weights depend on the query (F02)
    identify: bool = False  # a query that is one identifier asks for no vector (D05)
    anchored: bool = False  # documents that hold an identifier of the query rise (D04)
    neighbours: float = 0.0  # the weight at which linked entries join (B04); 0: they do not
    recent: bool = False  # new files rise (B05)
    expand: bool = False  # the vector lane looks for near concepts too (B06)
    distribute: bool = False  # no kind takes more than its share (A08)
    lift: bool = False  # tools that match are shown beside their servers (A10)
    supplement: bool = False  # `related` and `next_steps` from the graph (E02)
    correct: bool = False  # words that nobody knows are taken for typing errors
    rewrite: bool = False  # a language model may say it in English (E06)
    rerank: int = 0  # how many of the head a cross-encoder reads (B07)
    floor: float = 0.0  # results that would be shown with less are left out
    abstain: float | None = None  # the confidence below which there is no answer (F01); None: always answer
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def reads(self) -> bool:
        """Whether the query's words are looked up in the catalog's vocabulary."""
        return self.adapt or self.anchored or self.correct or self.join == "specific" or self.abstain is not None

    @property
    def learns(self) -> bool:
        """Whether what calls have taught counts (F07): who asks for one lane wants to hear that lane, and auto's order is the vector's."""
        return self.strategy is Strategy.HYBRID

    def without_vector(self, reason: str) -> SearchPlan:
        """The same request, answered lexically (A15), with the graph where the plan would have used it (E05)."""
        diagnostic = Diagnostic("no_query_vector", f"Answered by words alone: {reason}")
        lexical = replace(
            self,
            mode=LEXICAL_ONLY,
            lanes=(KEYWORD, BM25),
            join="boost",
            rescale="keep",
            fill=True,
            adapt=False,
            anchored=False,  # the score is the boost's share, and nothing else
            abstain=None,
            diagnostics=(*self.diagnostics, diagnostic),
        )
        if self.strategy is Strategy.AUTO:
            return replace(lexical, lanes=(GRAPH, BM25), join="rrf", weights={GRAPH: 1.0, BM25: 1.0}, rescale="by_best", fill=False)
        return lexical

    def by_words(self) -> SearchPlan:
        """The same request for a query that is one identifier: no vector says more than the identifier itself (D05)."""
        lanes = tuple(lane for lane in self.lanes if lane != VECTOR) or (BM25,)
        return replace(self, mode=IDENTIFIER, lanes=lanes, expand=False, abstain=None)


RRF_WEIGHTS = {BM25: 1.0, KEYWORD: 1.0, VECTOR: 1.0}
LINEAR_WEIGHTS = {BM25: 0.3, KEYWORD: 0.3, VECTOR: 0.7}  # D01


@dataclass(frozen=True, slots=True, eq=False)
class Defaults:
    """What the settings choose where a request has no wish of its own. Each is itself alone: plans are remembered by it."""

    preset: Preset = Preset.DEFAULT
    strategy: Strategy | None = None
    fusion: Fusion | None = None
    weights: Mapping[str, float] | None = None  # B08, by lane
    min_confidence: float | None = None  # None: as calibrated


NO_WISHES = Defaults()


def plan(request: SearchRequest, filter: Filter, defaults: Defaults = NO_WISHES) -> SearchPlan:
    """The plan for a request."""
    _check(request)
    wishes = request.strategy, request.fusion, request.limit, request.min_score, request.min_confidence, bool(request.hypothesis.strip())
    return _plan(request.preset, *wishes, filter, defaults)


@lru_cache(maxsize=256)  # what a query says does not change its plan, and few wish for anything
def _plan(
    preset: Preset | None,
    wanted: Strategy | None,
    joined: Fusion | None,
    limit: int,
    min_score: float,
    min_confidence: float | None,
    imagined: bool,
    filter: Filter,
    defaults: Defaults,
) -> SearchPlan:
    choices = PRESETS[preset or defaults.preset]
    own = preset is None  # a preset that was asked for by name is not bent by the settings
    strategy = wanted or (defaults.strategy if own else None) or choices.strategy
    fusion = joined or (defaults.fusion if own else None) or choices.fusion
    base = SearchPlan(
        strategy=strategy,
        mode=strategy.value,
        filter=filter,
        limit=limit,
        depth=choices.depth(limit),
        lanes=(),
        join="single",
        weights={},
        rescale="keep",
        floor=max(min_score, choices.floor),
        **choices.stages(),
    )
    usual = 0.0 if filter.tags else learned().threshold  # who filters by tag has said what it is about
    confidence = next(least for least in (min_confidence, defaults.min_confidence, usual) if least is not None)
    planned = _STRATEGIES[strategy](base, _Wishes(choices, fusion, defaults.weights or {}, confidence))
    if imagined:  # a hypothesis is there to be embedded; and confidence was learned from queries, not from imagined answers
        return replace(planned, identify=False, abstain=None)
    return planned


@dataclass(frozen=True, slots=True)
class _Wishes:
    choices: Choices
    fusion: Fusion
    weights: Mapping[str, float]
    confidence: float


def _regex(base: SearchPlan, _: _Wishes) -> SearchPlan:
    return replace(base, lanes=(REGEX,), neighbours=0.0, recent=False, anchored=False, identify=False, correct=False, supplement=False)


def _keyword(base: SearchPlan, _: _Wishes) -> SearchPlan:
    return replace(base, lanes=(KEYWORD,), join="boost", anchored=False, identify=False, correct=False)


def _bm25(base: SearchPlan, _: _Wishes) -> SearchPlan:
    return replace(base, lanes=(BM25,), rescale="by_best", anchored=False, identify=False, correct=False)


def _embedding(base: SearchPlan, _: _Wishes) -> SearchPlan:
    return replace(base, lanes=(VECTOR,), rescale="cosine", anchored=False, identify=False, correct=False, rewrite=True)


def _graph(base: SearchPlan, _: _Wishes) -> SearchPlan:
    return replace(base, lanes=(GRAPH,), rescale="by_best", anchored=False, identify=False, correct=False, rewrite=True)


def _auto(base: SearchPlan, wishes: _Wishes) -> SearchPlan:
    """E01: the vector's order, which nothing changes; words only say how sure we are."""
    depth = max(4 * base.limit, 8)  # E02: the window
    return replace(
        base,
        lanes=(VECTOR, BM25),
        depth=depth,
        join="vector",
        rescale="cosine",
        fill=True,
        identify=False,
        anchored=False,
        neighbours=0.0,
        recent=False,
        supplement=True,
        rewrite=True,
        abstain=wishes.confidence,
    )


def _hybrid(base: SearchPlan, wishes: _Wishes) -> SearchPlan:
    hybrid = replace(
        base,
        lanes=(wishes.choices.lexical, VECTOR),
        rescale=wishes.choices.rescale,
        rewrite=True,
        rerank=HEAD,
        abstain=wishes.confidence,
    )
    return _FUSIONS[wishes.fusion](hybrid, wishes)


def _rrf(hybrid: SearchPlan, wishes: _Wishes) -> SearchPlan:
    return replace(hybrid, join="rrf", weights={**RRF_WEIGHTS, **wishes.weights})


def _linear(hybrid: SearchPlan, wishes: _Wishes) -> SearchPlan:
    join = "specific" if wishes.choices.specific else "linear"
    return replace(hybrid, join=join, weights={**LINEAR_WEIGHTS, **wishes.weights}, fill=True)


def _legacy(hybrid: SearchPlan, _: _Wishes) -> SearchPlan:
    return replace(hybrid, lanes=(KEYWORD, VECTOR), join="legacy", fill=True)


def _adaptive(hybrid: SearchPlan, _: _Wishes) -> SearchPlan:
    return replace(hybrid, lanes=(BM25, GRAMS, VECTOR), join="adaptive", fill=True, adapt=True)


_STRATEGIES: Mapping[Strategy, Callable[[SearchPlan, _Wishes], SearchPlan]] = {
    Strategy.REGEX: _regex,
    Strategy.KEYWORD: _keyword,
    Strategy.BM25: _bm25,
    Strategy.EMBEDDING: _embedding,
    Strategy.GRAPH: _graph,
    Strategy.HYBRID: _hybrid,
    Strategy.AUTO: _auto,
}
_FUSIONS: Mapping[Fusion, Callable[[SearchPlan, _Wishes], SearchPlan]] = {
    Fusion.RRF: _rrf,
    Fusion.LINEAR: _linear,
    Fusion.LEGACY: _legacy,
    Fusion.ADAPTIVE: _adaptive,
}


def _check(request: SearchRequest) -> None:
    if not 1 <= request.limit <= MAX_LIMIT:
        raise InvalidRequest(f"limit is {request.limit}; it must be between 1 and {MAX_LIMIT}.")
    for name, value in (("min_score", request.min_score), ("min_confidence", request.min_confidence)):
        if value is not None and not 0.0 <= value <= 1.0:
            raise InvalidRequest(f"{name} is {value}; it must be between 0 and 1.")
    if any("\ud800" <= character <= "\udfff" for text in (request.query, request.hypothesis, *request.tags) for character in text):
        raise InvalidRequest("The query, the hypothesis or a tag is not valid Unicode. Send it as UTF-8.")
    for name, text in (("query", request.query), ("hypothesis", request.hypothesis)):
        if len(text) > MAX_QUERY_LENGTH:
            raise InvalidRequest(f"The {name} has {len(text)} characters; at most {MAX_QUERY_LENGTH} are read. Shorten it.")
    if request.hypothesis.strip() and not request.query.strip():
        raise InvalidRequest("A hypothesis stands for the meaning of a query: send the query with it.")
