"""What does each way of searching reach on a set?"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from repertory.app import Repertory, open_with
from repertory.errors import SettingsError
from repertory.evaluate.sets import LabelledSet
from repertory.model import Fusion, SearchRequest, Strategy
from repertory.model.request import MAX_LIMIT, MAX_QUERY_LENGTH
from repertory.settings import Settings

DEPTH = 10  # of the deepest measure
MEASURES = ("R@1", "R@5", "R@10", "RR@10", "nDCG@10")
NAMES = {"R@1": "recall@1", "R@5": "recall@5", "R@10": "recall@10", "RR@10": "mrr@10", "nDCG@10": "ndcg@10"}

WAYS: dict[str, tuple[Strategy, Fusion | None]] = {
    "keyword": (Strategy.KEYWORD, None),
    "bm25": (Strategy.BM25, None),
    "embedding": (Strategy.EMBEDDING, None),
    **{fusion.value: (Strategy.HYBRID, fusion) for fusion in Fusion},
}

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Row:
    """One way of searching on one set. `by_query` holds each query's nDCG@10, for paired comparisons."""

    set: str
    category: str
    strategy: str
    metrics: dict[str, float]
    queries: int
    no_answer: float | None  # of the queries that nothing answers: how many were answered by nothing
    p50_ms: float
    p95_ms: float
    by_query: dict[str, float]
    rankings: dict[str, list[str]]

    def as_json(self) -> dict[str, object]:
        """The row as `repertory eval --json` prints it."""
        answered = {} if self.no_answer is None else {"no_answer": round(self.no_answer, 4)}
        return {
            "set": self.set,
            "strategy": self.strategy,
            **{name: round(value, 4) for name, value in self.metrics.items()},
            **answered,
            "queries": self.queries,
            "p50_ms": round(self.p50_ms, 2),
            "p95_ms": round(self.p95_ms, 2),
        }


def ways(names: str) -> list[str]:
    """The ways of searching that a comma-separated list names; "all" are all."""
    chosen = list(WAYS) if names == "all" else [name.strip() for name in names.split(",")]
    unknown = [name for name in chosen if name not in WAYS]
    if unknown:
        raise SettingsError(f"Unknown strategy {unknown[0]!r}. Known: all, {', '.join(WAYS)}.")
    return chosen


async def measure(labelled: LabelledSet, chosen: Sequence[str], cache: Path, settings: Settings, progress: Progress) -> list[Row]:
    """Index a set with the real pipeline and ask it everything, each way. The catalog stays in `cache`: texts are embedded once."""
    ours = {"catalog": cache / labelled.name, "embedder_cache": 0}  # every strategy pays for its own query vectors
    async with open_with(settings.model_copy(update=ours)) as rep:
        await rep.put(labelled.name, labelled.entities, progress)
        await rep.search("warm up")
        return [await _row(rep, labelled, way, progress) for way in chosen]


async def _row(rep: Repertory, labelled: LabelledSet, way: str, progress: Progress) -> Row:
    strategy, fusion = WAYS[way]
    rankings: dict[str, list[str]] = {}
    taken: list[float] = []
    for done, query in enumerate(labelled.queries, 1):
        limit = min(MAX_LIMIT, DEPTH + len(query.exclude))
        answer = await rep.search(SearchRequest(query.text[:MAX_QUERY_LENGTH], strategy=strategy, fusion=fusion, limit=limit))
        rankings[query.id] = [r.entity.path for r in answer.results if r.entity.path not in query.exclude][:DEPTH]
        taken.append(answer.took_ms)
        progress(way, done, len(labelled.queries))
    by_query = _metrics(labelled, rankings)
    unanswerable = [query.id for query in labelled.queries if not query.grades]
    return Row(
        set=labelled.name,
        category=labelled.category,
        strategy=way,
        metrics={NAMES[measure]: statistics.fmean(values.values()) if values else 0.0 for measure, values in by_query.items()},
        queries=len(labelled.queries),
        no_answer=statistics.fmean(not rankings[query] for query in unanswerable) if unanswerable else None,
        p50_ms=statistics.median(taken),
        p95_ms=statistics.quantiles(taken, n=20)[18] if len(taken) > 1 else taken[0],
        by_query=by_query["nDCG@10"],
        rankings=rankings,
    )


def _metrics(labelled: LabelledSet, rankings: dict[str, list[str]]) -> dict[str, dict[str, float]]:
    """By measure and query, over the queries that have an answer."""
    try:
        import ir_measures
    except ImportError:
        raise SettingsError("Evaluation needs more packages: pip install 'repertory[eval]'.") from None
    answerable = [query for query in labelled.queries if query.grades]
    qrels = [ir_measures.Qrel(query.id, entry, grade) for query in answerable for entry, grade in query.grades.items()]
    run = [ir_measures.ScoredDoc(query.id, entry, float(-rank)) for query in answerable for rank, entry in enumerate(rankings[query.id])]
    found: dict[str, dict[str, float]] = {measure: {query.id: 0.0 for query in answerable} for measure in MEASURES}
    for value in ir_measures.iter_calc([ir_measures.parse_measure(measure) for measure in MEASURES], qrels, run):
        found[str(value.measure)][value.query_id] = value.value
    return found
