"""A process that reads one folder or config into a catalog, until it is done or killed."""

from __future__ import annotations

import asyncio
from multiprocessing.connection import Connection
from pathlib import Path

import repertory
from repertory.embedders.static import StaticEmbedder
from repertory.ingest import difference


def main(say: Connection, catalog: Path, path: Path) -> None:
    """In a process of its own: what is set here stays set."""
    # Small ones, so that a short run has many moments at which it may be killed: some dozen transactions of words, and as many of vectors.
    difference.BATCH = 20
    StaticEmbedder.batch = 12
    asyncio.run(_index(say, catalog, path))
    say.send("done")


async def _index(say: Connection, catalog: Path, path: Path) -> None:
    async with repertory.open(catalog, embedder="static") as rep:  # it loads in no time, so the moments are those of the run
        say.send("open")
        await rep.add(path)
