"""What does each way of searching reach on a set?"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from repertory.app import Repertory, open_with
from repertory.errors import SettingsError
from repertory.evaluate.sets import LabelledQuery, LabelledSet
from repertory.model import Fusion, Preset, Result, SearchRequest, Strategy
from repertory.model.request import MAX_LIMIT, MAX_QUERY_LENGTH
from repertory.search.confidence import learned
from repertory.settings import Settings

DEPTH = 10  # of the deepest measure
TIMED = 100  # queries of a set, evenly spread: enough for a median and a p95
WARM = 5  # the first queries load what is loaded once
MEASURES = ("R@1", "R@5", "R@10", "RR@10", "nDCG@10")
NAMES = {"R@1": "recall@1", "R@5": "recall@5", "R@10": "recall@10", "RR@10": "mrr@10", "nDCG@10": "ndcg@10"}

# What can be measured, by name. Labels are not patterns, so `regex` is left out; the default preset is `adaptive` fusion.
WAYS: dict[str, SearchRequest] = {
    **{strategy.value: SearchRequest(strategy=strategy) for strategy in Strategy if strategy not in (Strategy.REGEX, Strategy.HYBRID)},
    **{preset.value: SearchRequest(preset=preset) for preset in Preset if preset not in (Preset.DEFAULT, Preset.AUTO)},
    **{fusion.value: SearchRequest(strategy=Strategy.HYBRID, fusion=fusion) for fusion in Fusion},
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
    no_answer: float | None  # of the queries that nothing answers: the share that abstains
    lost: float | None  # of the others: likewise; None where this way of searching never abstains
    p50_ms: float
    p95_ms: float
    by_query: dict[str, float]
    rankings: dict[str, list[str]]
    texts: dict[str, str] = field(default_factory=dict)  # the queries
    reasons: dict[str, dict[str, str]] = field(default_factory=dict)  # of each query: why each of its first results is there
    relevant: dict[str, frozenset[str]] = field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        """The row as `repertory eval --json` prints it."""
        abstained = (("no_answer", self.no_answer), ("lost", self.lost))
        return {
            "set": self.set,
            "strategy": self.strategy,
            **{name: round(value, 4) for name, value in self.metrics.items()},
            **{name: round(value, 4) for name, value in abstained if value is not None},
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
    """Index a set with the real pipeline and ask it everything, each way. The catalog stays in `cache`: texts are embedded once.

    So are queries, in the run that ranks; then some are asked again, and each way pays for its own query vectors while it is timed.
    """
    ours = settings.model_copy(update={"catalog": cache / labelled.name, "answer_cache": 0, "embedder_cache": len(labelled.queries) + 1})
    async with open_with(ours) as rep:
        await rep.put(labelled.name, labelled.entities, progress)
        answers = {way: await _ask(rep, labelled.queries, way, progress) for way in chosen}
    async with open_with(ours.model_copy(update={"embedder_cache": 0})) as rep:
        some = labelled.queries[:: max(1, len(labelled.queries) // TIMED)]
        await _ask(rep, some[:WARM], "adaptive", lambda *_: None)
        taken = {way: [answer.took_ms for answer in await _ask(rep, some, way, lambda *_: None)] for way in chosen}
    return [_row(labelled, way, answers[way], taken[way]) for way in chosen]


@dataclass(frozen=True, slots=True)
class _Answer:
    """What is kept of an answer: whole ones, of every way, would not fit into memory."""

    reasons: dict[str, str]  # why each entry is there, in rank order
    abstains: bool
    judged: bool
    took_ms: float


async def _ask(rep: Repertory, queries: Sequence[LabelledQuery], way: str, progress: Progress) -> list[_Answer]:
    """The answers. Ranking and abstaining are measured apart, so there always is one."""
    answers = []
    for done, query in enumerate(queries, 1):
        limit = min(MAX_LIMIT, DEPTH + len(query.exclude))
        found = await rep.search(replace(WAYS[way], query=query.text[:MAX_QUERY_LENGTH], limit=limit, min_confidence=0.0))
        reasons = {result.entity.path: _why(result) for result in found.results if result.entity.path not in query.exclude}
        abstains = not found.results or (found.confidence is not None and found.confidence < learned().threshold)
        answers.append(_Answer(dict(list(reasons.items())[:DEPTH]), abstains, found.confidence is not None, found.took_ms))
        progress(way, done, len(queries))
    return answers


def _row(labelled: LabelledSet, way: str, answers: Sequence[_Answer], taken: Sequence[float]) -> Row:
    answered = list(zip(labelled.queries, answers, strict=True))
    rankings = {query.id: list(answer.reasons) for query, answer in answered}
    by_query = _metrics(labelled, rankings)
    silent = [(bool(query.grades), answer.abstains) for query, answer in answered]
    return Row(
        set=labelled.name,
        category=labelled.category,
        strategy=way,
        metrics={NAMES[measure]: statistics.fmean(values.values()) if values else 0.0 for measure, values in by_query.items()},
        queries=len(labelled.queries),
        no_answer=_share(abstains for answerable, abstains in silent if not answerable),
        lost=_share(abstains for answerable, abstains in silent if answerable) if any(answer.judged for answer in answers) else None,
        p50_ms=statistics.median(taken),
        p95_ms=statistics.quantiles(taken, n=20)[18] if len(taken) > 1 else taken[0],
        by_query=by_query["nDCG@10"],
        rankings=rankings,
        texts={query.id: query.text for query in labelled.queries},
        reasons={query.id: answer.reasons for query, answer in answered},
        relevant={query.id: frozenset(query.grades) for query in labelled.queries},
    )


def _share(flags: Iterable[bool]) -> float | None:
    found = list(flags)
    return statistics.fmean(found) if found else None


def _why(result: Result) -> str:
    """In one line: bm25 #1 .46 + vector #3 .23."""
    parts = (f"{one.lane} {f'#{one.rank}' if one.rank else '-'} {one.contribution:.2f}" for one in result.evidence)
    return " + ".join(parts).replace(" 0.", " .")


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
