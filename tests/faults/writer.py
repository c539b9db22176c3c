"""A process that writes until it is killed, saying after each write what is now safe."""

from __future__ import annotations

import asyncio
import random
from multiprocessing.connection import Connection
from pathlib import Path

import repertory
from repertory.model import Entity, Kind


def entities(round_: int, step: int) -> list[Entity]:
    """What one write brings: new entries each round, and some that an earlier round wrote differently."""
    dice = random.Random(f"{round_}/{step}")
    fresh = [f"round{round_}/step{step}/tool{n}" for n in range(dice.randint(1, 6))]
    words = "harbour parcel invoice calendar container berth crane manifest customs".split()
    return [Entity(Kind.TOOL, path, path.rsplit("/", 1)[1], " ".join(dice.choices(words, k=8))) for path in fresh]


def main(say: Connection, catalog: Path, round_: int) -> None:
    """Until it is killed."""
    asyncio.run(_write(say, catalog, round_))


async def _write(say: Connection, catalog: Path, round_: int) -> None:
    async with repertory.open(catalog, embedder="static") as rep:
        say.send("open")
        for step in range(10_000):
            await rep.put(f"source{round_}-{step}", entities(round_, step))
            say.send(f"safe {step}")
            if step % 3 == 2:  # a source that shrinks: removals are writes, too
                await rep.put(f"source{round_}-{step - 1}", entities(round_, step - 1)[:1])
                say.send(f"shrunk {step - 1}")
