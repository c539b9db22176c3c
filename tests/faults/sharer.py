"""A process that shares a catalog and writes until it is killed, saying after each write what is now safe.

`python -m tests.faults.sharer CATALOG DATABASE INDEX ROUND`; with a round like `between-1`, it stops between the truth and the index.
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

import repertory
from repertory.app import Repertory
from repertory.ingest.difference import diff_documents
from repertory.model import Entity, content_digest
from repertory.store import Changes
from tests.catalogs import tool
from tests.faults.writer import entities

BETWEEN = "between"


async def main(catalog: Path, database: str, index: str, round_: str) -> None:
    async with repertory.open(catalog, database=database, index=index, embedder="none") as rep:
        print("open", flush=True)
        if round_.startswith(BETWEEN):
            await rep._write(_stop_between, rep, [tool(f"last/{round_}", "Written before the index could hear of it")])
        for step in range(10_000):
            await rep.put(f"source{round_}-{step}", entities(int(round_), step))
            print(f"safe {step}", flush=True)


def _stop_between(rep: Repertory, written: list[Entity]) -> None:
    changes = Changes("add last", "last", put_entities=[(entity, content_digest(entity.id)) for entity in written])
    diff_documents(changes, rep._store, {})
    rep._store.write(changes)
    print("written", flush=True)
    time.sleep(600)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), *sys.argv[2:5]))
