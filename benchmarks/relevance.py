"""How good are the answers?

`python -m benchmarks.relevance SETS [--strategies ...]` indexes every labelled set with the real pipeline, asks every query and prints
Recall@5 and nDCG@10 by strategy. Embeddings are kept between runs in the cache directory.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from pathlib import Path

import ir_measures
from ir_measures import R, nDCG

import repertory
from benchmarks.corpora import LabelledSet, load
from repertory.model import Fusion, SearchRequest, Strategy

MEASURES = [R @ 5, nDCG @ 10]
WAYS = {
    "bm25": (Strategy.BM25, None),
    "keyword": (Strategy.KEYWORD, None),
    "embedding": (Strategy.EMBEDDING, None),
    "rrf": (Strategy.HYBRID, Fusion.RRF),
    "linear": (Strategy.HYBRID, Fusion.LINEAR),
}
OTHER_LANGUAGES = {"obsidian_i18n", "ultratool_zh2en"}  # left out of the mean: the bundled model reads English
DEEP = 30  # asked for, so that ten are left after a query's excluded entries


async def evaluate(labelled: LabelledSet, cache: Path, ways: list[str]) -> dict[str, tuple[float, float]]:
    """Recall@5 and nDCG@10 of each way of searching one set."""
    qrels = [
        ir_measures.Qrel(str(q["qid"]), entry, int((q.get("grades") or {}).get(entry, 1)))
        for q in labelled.queries
        for entry in q["relevant"]
    ]
    scores = {}
    async with repertory.open(cache / labelled.name) as rep:
        await rep.put(labelled.name, labelled.entities)
        for way in ways:
            strategy, fusion = WAYS[way]
            run = []
            for query in labelled.queries:
                excluded = set(query.get("exclude") or ())
                limit = min(50, DEEP + len(excluded))
                answer = await rep.search(SearchRequest(query["query"][:4096], strategy=strategy, fusion=fusion, limit=limit))
                kept = [result for result in answer.results if result.entity.path not in excluded]
                run += [ir_measures.ScoredDoc(str(query["qid"]), r.entity.path, float(-rank)) for rank, r in enumerate(kept)]
            found = ir_measures.calc_aggregate(MEASURES, qrels, run)
            scores[way] = (found[R @ 5], found[nDCG @ 10])
    return scores


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", type=Path, nargs="?", default=Path("../shared/bench/dev"), help="a folder of labelled sets")
    parser.add_argument("--strategies", default=",".join(WAYS))
    parser.add_argument("--only", default="", help="comma-separated set names")
    parser.add_argument("--cache", type=Path, default=Path(".repertory/relevance"))
    arguments = parser.parse_args()
    ways = arguments.strategies.split(",")
    if not arguments.sets.is_dir():
        print(f"No labelled sets in {arguments.sets}: relevance is not measured.")
        return
    folders = sorted(folder for folder in arguments.sets.iterdir() if (folder / "corpus.jsonl").exists())
    if arguments.only:
        folders = [folder for folder in folders if folder.name in arguments.only.split(",")]
    print(f"{'Recall@5 / nDCG@10':<30}" + "".join(f"{way:>16}" for way in ways))
    english: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
    started = time.perf_counter()
    for folder in folders:
        scores = await evaluate(load(folder), arguments.cache, ways)
        print(f"{folder.name:<30}" + "".join(f"{r:>9.3f}/{n:.3f} " for r, n in scores.values()), flush=True)
        if folder.name not in OTHER_LANGUAGES:
            for way in ways:
                english[way].append(scores[way])
    means = [tuple(sum(column) / len(column) for column in zip(*english[way], strict=True)) for way in ways]
    print(f"{'mean of the English sets':<30}" + "".join(f"{r:>9.3f}/{n:.3f} " for r, n in means))
    print(f"{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    asyncio.run(main())
