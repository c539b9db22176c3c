"""What do typing errors cost?

One letter is inserted, left out, replaced or swapped in every query word of five letters or more; the errors are always the same. Prints
nDCG@10 of the default for the queries as they are and misspelt, and of `tools`, which corrects nothing, for comparison:

    python -m benchmarks.typos ../shared/bench/dev/mcpproxy_golden
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tests.typos import misspell

from repertory.evaluate.measure import measure
from repertory.evaluate.sets import LabelledSet, find, load
from repertory.settings import Settings
from repertory.settings import load as load_settings


async def ndcg(labelled: LabelledSet, way: str, cache: Path, settings: Settings) -> float:
    (row,) = await measure(labelled, [way], cache, settings, lambda *_: None)
    return row.metrics["ndcg@10"]


def asked(labelled: LabelledSet, change: Callable[[str], str]) -> LabelledSet:
    """The same set, asked in other words."""
    return replace(labelled, queries=[replace(query, text=change(query.text)) for query in labelled.queries])


async def run(folder: Path, cache: Path, seed: int) -> None:
    settings, _ = load_settings({})
    clean = load(folder)
    misspelt = asked(clean, lambda text: misspell(text, seed))
    reached = {}
    for way in ("adaptive", "tools"):
        for asking, labelled in (("clean", clean), ("misspelt", misspelt)):
            reached[f"{way} {asking}"] = await ndcg(labelled, way, cache, settings)
    print(f"{clean.name:<28}" + "   ".join(f"{way} {value:.4f}" for way, value in reached.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", type=Path, help="a labelled set, or a folder of them")
    parser.add_argument("--cache", type=Path, help="where the catalogs stay between runs")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="repertory-typos-") as temporary:
        for folder in find(arguments.sets):
            asyncio.run(run(folder, arguments.cache or Path(temporary), arguments.seed))


if __name__ == "__main__":
    main()
