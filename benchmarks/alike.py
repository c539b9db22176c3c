"""Does a catalog answer alike in the embedded index and on a cluster, and how quickly?

    python -m benchmarks.alike SETS [--nodes 3]

Every labelled set is indexed once, in the embedded index; the index then moves to a Qdrant on loopback as `repertory migrate` moves it.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from tests.qdrants import qdrant

from repertory.app import open_with
from repertory.evaluate.sets import LabelledSet, find, load
from repertory.ingest.migrate import migrate
from repertory.model import SearchRequest
from repertory.model.request import MAX_QUERY_LENGTH
from repertory.settings import Settings
from repertory.settings import load as load_settings

TOP = 10
Ranking = list[str]


async def ask(settings: Settings, labelled: LabelledSet) -> tuple[list[Ranking], list[float]]:
    """The ranking of every query, and what each took, in milliseconds; twice, because the first time loads."""
    async with open_with(settings) as rep:
        if settings.index == "embedded":
            await rep.put(labelled.name, labelled.entities)
        for _ in range(2):
            answers = [
                await rep.search(SearchRequest(query.text[:MAX_QUERY_LENGTH], limit=TOP, min_confidence=0.0)) for query in labelled.queries
            ]
        return [[result.entity.id for result in answer.results] for answer in answers], [answer.took_ms for answer in answers]


async def compare(labelled: LabelledSet, address: str, cache: Path, nodes: int) -> str:
    """One row of the table."""
    spread = {"index_shards": nodes, "index_replicas": min(2, nodes)}
    here, _ = load_settings({"catalog": cache / labelled.name, "answer_cache": 0, **spread})
    ours, quick = await ask(here, labelled)
    began = time.monotonic()
    moved = await migrate(here, address)
    took = time.monotonic() - began
    theirs, slow = await ask(here.model_copy(update={"index": address}), labelled)
    pairs = list(zip(ours, theirs, strict=True))
    shared = sum(len(set(a) & set(b)) for a, b in pairs) / max(1, sum(map(len, ours)))
    equal = statistics.fmean(a == b for a, b in pairs)
    first = statistics.fmean(a[:1] == b[:1] for a, b in pairs)
    times = f"{statistics.median(quick):.1f} | {statistics.median(slow):.1f}"
    return f"| {labelled.name} | {moved.documents} | {len(pairs)} | {shared:.4f} | {equal:.3f} | {first:.3f} | {times} | {took:.1f} |"


async def run(sets: list[Path], nodes: int, cache: Path) -> None:
    """The whole table."""
    print(f"| set | documents | queries | top-{TOP} overlap | equal lists | same first | embedded, ms | {nodes} nodes, ms | moved in, s |")
    print("|---|---|---|---|---|---|---|---|---|")
    with qdrant(cache / "qdrant", nodes) as cluster:
        for folder in sets:
            print(await compare(load(folder), cluster.address, cache, nodes), flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sets", type=Path, nargs="+")
    parser.add_argument("--nodes", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        asyncio.run(run([one for folder in given.sets for one in find(folder)], given.nodes, Path(cache)))


if __name__ == "__main__":
    main()
