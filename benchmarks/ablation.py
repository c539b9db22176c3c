"""What is each stage of the default worth?

Takes one stage away, or adds one, at a time and prints nDCG@10 on labelled sets, as they are and with typing errors (see
benchmarks/typos.py), and the milliseconds that the median query takes:

    python -m benchmarks.ablation ../shared/bench/dev --cache DIR
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.typos import misspell

from benchmarks.typos import asked
from repertory.evaluate.compare import LEFT_OUT
from repertory.evaluate.measure import measure
from repertory.evaluate.sets import LabelledSet, find, load
from repertory.indexes.base import BM25, GRAMS, VECTOR
from repertory.search import adapt, engine, rank
from repertory.search.adapt import Balance
from repertory.search.plan import SearchPlan, plan
from repertory.settings import load as load_settings


@contextmanager
def planned(change: Callable[[SearchPlan], SearchPlan]) -> Iterator[None]:
    """Every plan, changed."""
    with patch.object(engine, "plan", lambda *args: change(plan(*args))):
        yield


def changed(**values: Any) -> Callable[[], Any]:
    """The plan with a stage switched off, or on."""
    return lambda: planned(lambda usual: replace(usual, **values))


STAGES: dict[str, Callable[[], Any]] = {
    "nothing changed": lambda: planned(lambda usual: usual),
    "without words (BM25)": changed(lanes=(GRAMS, VECTOR)),
    "without grams": changed(lanes=(BM25, VECTOR)),
    "without embedding": changed(lanes=(BM25, GRAMS)),
    # A lean and a slope of 0: words and meaning weigh the same for every query.
    "without weights by query": lambda: patch("repertory.search.fuse.learned", lambda: Balance(0.0, 0.0, adapt.learned().grams)),
    "without scores of what other lanes found": changed(fill=False),
    "without correction of typing errors": changed(correct=False),
    "without identifiers by their letters": changed(identify=False),
    "without exact name first": lambda: patch.object(
        engine, "rank", lambda fused, about, _, boosts: rank.rank(fused, about, frozenset(), boosts)
    ),
    "with passages that hold an anchor": changed(anchored=True),  # D04
    "with neighbours": changed(neighbours=0.5),  # B04
    "with depth 150": changed(depth=150),
}


async def run(sets: list[LabelledSet], cache: Path) -> None:
    settings, _ = load_settings({})
    print(f"{'default':<42}{'clean':>8}{'misspelt':>10}{'ms':>7}")
    for name, stage in STAGES.items():
        with stage():
            clean = [(await measure(one, ["adaptive"], cache, settings, lambda *_: None))[0] for one in sets]
            wrong = [(await measure(asked(one, misspell), ["adaptive"], cache, settings, lambda *_: None))[0] for one in sets]
        reached = [statistics.fmean(row.metrics["ndcg@10"] for row in rows) for rows in (clean, wrong)]
        took = statistics.fmean(row.p50_ms for row in clean)
        print(f"{name:<42}{reached[0]:>8.4f}{reached[1]:>10.4f}{took:>7.1f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", type=Path, help="a labelled set, or a folder of them")
    parser.add_argument("--cache", type=Path, required=True, help="where the catalogs stay between runs")
    parser.add_argument("--queries", type=int, default=200, help="of each set, evenly spread")
    arguments = parser.parse_args()
    loaded = [one for one in map(load, find(arguments.sets)) if one.category != LEFT_OUT]
    some = [replace(one, queries=one.queries[:: max(1, len(one.queries) // arguments.queries)]) for one in loaded]
    asyncio.run(run(some, arguments.cache))


if __name__ == "__main__":
    main()
