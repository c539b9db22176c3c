"""A process that lets the bundled model take over a catalog, until it is done or killed: `python -m tests.faults.changer CATALOG INDEX`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import repertory
from repertory.indexes import compare, qdrant

# Small ones, so that there are many moments between the first point of the new index and the last.
compare.BATCH = qdrant.PORTION = 2


async def main(catalog: Path, index: str) -> None:
    async with repertory.open(catalog, index=index) as rep:
        await rep.warm()
        print("open", flush=True)
        await rep.embed()
    print("done", flush=True)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
