"""A process that reads one folder or config into a catalog, until it is done or killed: `python -m tests.faults.indexer CATALOG PATH`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import repertory
from repertory.embedders.static import StaticEmbedder
from repertory.ingest import difference

# Small ones, so that a short run has many moments at which it may be killed: some dozen transactions of words, and as many of vectors.
difference.BATCH = 20
StaticEmbedder.batch = 12


async def main(catalog: Path, path: Path) -> None:
    async with repertory.open(catalog, embedder="static") as rep:  # it loads in no time, so the moments are those of the run
        print("open", flush=True)
        await rep.add(path)
    print("done", flush=True)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2])))
