"""How does an evaluation look in a terminal, in a file, in a picture?"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from repertory.errors import SettingsError
from repertory.evaluate.compare import LEFT_OUT, Move, Placing, mark, means
from repertory.evaluate.measure import Row

SHORT = {"recall@1": "R@1", "recall@5": "R@5", "recall@10": "R@10", "mrr@10": "MRR@10", "ndcg@10": "nDCG@10"}


def table(rows: Sequence[Row], reference: str) -> RenderableType:
    """Every set by every strategy, the best nDCG@10 of each set in bold, and the means."""
    shown = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    shown.add_column("set", overflow="fold")
    shown.add_column("strategy")
    for heading in (*SHORT.values(), "none", "lost", "p50 ms", "p95 ms"):
        shown.add_column(heading, justify="right")
    for name in dict.fromkeys(row.set for row in rows):
        mine = [row for row in rows if row.set == name]
        best = max(row.metrics["ndcg@10"] for row in mine)
        compared = next((row for row in mine if row.strategy == reference), None)
        for position, row in enumerate(mine):
            mark_ = mark(row, compared) if compared else ""
            style = "bold" if row.metrics["ndcg@10"] == best else ""
            shown.add_row(
                Text(f"{name} ({row.queries})" if position == 0 else ""),
                row.strategy,
                *(f"{row.metrics[metric]:.3f}" for metric in list(SHORT)[:-1]),
                Text(f"{row.metrics['ndcg@10']:.3f}{mark_ or ' '}", style=style),
                "" if row.no_answer is None else f"{row.no_answer:.2f}",
                "" if row.lost is None else f"{row.lost:.3f}",
                f"{row.p50_ms:.1f}",
                f"{row.p95_ms:.1f}",
            )
        shown.add_section()
    for position, (strategy, metrics) in enumerate(means(rows).items()):
        figures = [f"{metrics[metric]:.3f}" for metric in SHORT]
        shown.add_row(Text("mean" if position == 0 else "", style="bold"), strategy, *figures[:-1], Text(f"{figures[-1]} ", style="bold"))
    notes = [f"▲ ▼ significantly better or worse than {reference} (paired t-test, p < .05)"]
    if any(row.category == LEFT_OUT for row in rows):
        notes.append("the mean leaves out multilingual sets")
    return Group(shown, Text("; ".join(notes), style="dim"))


def as_json(rows: Sequence[Row]) -> dict[str, Any]:
    """The same for machines."""
    rounded = {strategy: {name: round(value, 4) for name, value in metrics.items()} for strategy, metrics in means(rows).items()}
    return {"rows": [row.as_json() for row in rows], "means": rounded}


def moved(found: Sequence[Move], before: str, after: str) -> RenderableType:
    """The queries that moved most between two strategies, each with where its answer stood and why."""
    if not found:
        return Text(f"{before} and {after} answer every query alike.", style="dim")
    rows: list[RenderableType] = []
    for move in found:
        better = move.after.ndcg > move.before.ndcg
        change = Text(f"{move.before.ndcg:.2f} → {move.after.ndcg:.2f}", style="green" if better else "red")
        tree = Tree(Text.assemble(change, "  ", (textwrap.shorten(move.query, 100, placeholder=" …"), "bold"), (f"  {move.set}", "dim")))
        for way, place in ((before, move.before), (after, move.after)):
            tree.add(Text(f"{way}: {_stood(place)}"))
        rows.append(tree)
    return Group(*rows)


def _stood(place: Placing) -> str:
    first = f"first is {place.first} ({place.why_first})" if place.first else "nothing was found"
    if place.rank is None:
        return f"no relevant entry among the first ten; {first}"
    stood = f"{place.relevant} at {place.rank} ({place.why})"
    return stood if place.rank == 1 else f"{stood}; {first}"


def plot(rows: Sequence[Row], file: Path) -> None:
    """Bars of nDCG@10 by set and strategy."""
    try:
        import matplotlib
    except ImportError:
        raise SettingsError("Plots need more packages: pip install 'repertory[eval]'.") from None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    sets = list(dict.fromkeys(row.set for row in rows))
    strategies = list(dict.fromkeys(row.strategy for row in rows))
    figure, axes = pyplot.subplots(figsize=(max(8, 1.2 * len(sets)), 5), layout="constrained")
    width = 0.8 / len(strategies)
    for position, strategy in enumerate(strategies):
        heights = {row.set: row.metrics["ndcg@10"] for row in rows if row.strategy == strategy}
        axes.bar([x + position * width for x in range(len(sets))], [heights[name] for name in sets], width, label=strategy)
    axes.set_xticks([x + 0.4 - width / 2 for x in range(len(sets))], sets, rotation=30, ha="right")
    axes.set_ylabel(SHORT["ndcg@10"])
    axes.set_ylim(0, 1)
    axes.legend(ncols=len(strategies), loc="upper left", frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(file, dpi=150)
    pyplot.close(figure)
