"""Is one way of searching really better than another?

Paired: the same queries, both ways. A mark stands only where a t-test over the differences of nDCG@10 says that chance would do it less
than once in twenty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from repertory.evaluate.measure import Row

CHANCE = 0.05
LEFT_OUT = "multilingual"  # category: the bundled model reads English, and a mean should not hide that


@dataclass(frozen=True, slots=True)
class Placing:
    """Where one way of searching had the best relevant entry, and what it had first instead."""

    ndcg: float
    rank: int | None  # None: not among the first ten
    relevant: str
    why: str
    first: str
    why_first: str


@dataclass(frozen=True, slots=True)
class Move:
    """A query that two ways of searching answer differently."""

    set: str
    query: str
    before: Placing
    after: Placing


def mark(row: Row, reference: Row) -> str:
    """▲ or ▼ where a row is significantly better or worse than the reference on the same set."""
    from scipy import stats

    pairs = [(row.by_query[query], reference.by_query[query]) for query in row.by_query]
    differences = [one - other for one, other in pairs]
    if row is reference or not any(differences):
        return ""
    chance = float(stats.ttest_rel(*zip(*pairs, strict=True)).pvalue)
    if not chance < CHANCE:
        return ""
    return "▲" if sum(differences) > 0 else "▼"


def means(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    """The mean of each metric over the sets, by strategy; every set counts the same, multilingual ones not at all."""
    counted = [row for row in rows if row.category != LEFT_OUT] or list(rows)
    found: dict[str, dict[str, float]] = {}
    for strategy in dict.fromkeys(row.strategy for row in counted):
        mine = [row for row in counted if row.strategy == strategy]
        found[strategy] = {name: sum(row.metrics[name] for row in mine) / len(mine) for name in mine[0].metrics}
    return found


def moves(before: Sequence[Row], after: Sequence[Row], most: int) -> list[Move]:
    """The queries whose nDCG@10 moved most between two ways, the largest first."""
    found = [
        Move(one.set, one.texts[query], _place(one, query), _place(two, query))
        for one, two in zip(before, after, strict=True)
        for query in one.by_query
        if one.by_query[query] != two.by_query[query]
    ]
    return sorted(found, key=lambda move: -abs(move.after.ndcg - move.before.ndcg))[:most]


def _place(row: Row, query: str) -> Placing:
    ranking, reasons = row.rankings[query], row.reasons[query]
    relevant = next((entry for entry in ranking if entry in row.relevant[query]), "")
    first = ranking[0] if ranking else ""
    rank = ranking.index(relevant) + 1 if relevant else None
    return Placing(row.by_query[query], rank, relevant, reasons.get(relevant, ""), first, reasons.get(first, ""))
