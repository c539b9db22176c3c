"""How many searches does one service answer, and how long do they wait?

`python -m benchmarks.load` serves 1,000 tools and sends hybrid searches from a second process over 100 connections at once: queries as
people repeat them (Zipf over 500), and queries of which none comes twice. Beside it stand the figures published for another registry with
100 concurrent searches over 1,000 assets: 7.8 requests a second, p99 30.7 s. A query that was never asked must be embedded: how many
the model alone embeds in a second, on the same cores, is what no service can pass. The client is a few lines over plain sockets, so that it
costs the machine it shares with the service little.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import repertory
from benchmarks.speed import WORDS, documents
from repertory.embedders.onnx import OnnxEmbedder

TOOLS = 1000
AT_ONCE = 100
DISTINCT = 500  # queries that people repeat
PUBLISHED = {"rps": 7.8, "p99_s": 30.7}
TARGET = {"rps": 150, "p99_s": 2.0}


def repeated(count: int) -> list[str]:
    """Queries as people ask them: the n-th most frequent 1/n as often as the first."""
    dice = random.Random(5)
    known = [" ".join(dice.sample(WORDS, 3)) for _ in range(DISTINCT)]
    return dice.choices(known, weights=[1 / rank for rank in range(1, DISTINCT + 1)], k=count)


def unrepeated(count: int) -> list[str]:
    """Queries of which none comes twice."""
    dice = random.Random(6)
    return [f"{' '.join(dice.sample(WORDS, 3))} {number}" for number in range(count)]


async def embedded(count: int) -> float:
    """Queries a second that the bundled model embeds when nothing else is done: as many at once as there are cores."""
    embedder, waiting = OnnxEmbedder(), iter(unrepeated(count))
    await embedder.embed_query("warm up")

    async def work() -> None:
        for query in waiting:
            await embedder.embed_query(query)

    began = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(os.cpu_count() or 1)))
    return count / (time.perf_counter() - began)


async def drive(url: str, asked: list[str], at_once: int) -> dict[str, float]:
    """Send the queries over so many connections, each as soon as its last answer is there."""
    host, port = urlsplit(url).hostname, urlsplit(url).port
    waiting, took, errors = iter(asked), list[float](), 0

    async def connection() -> None:
        nonlocal errors
        reader, writer = await asyncio.open_connection(host, port)
        for query in waiting:
            body = json.dumps({"query": query, "strategy": "hybrid"}).encode()
            began = time.perf_counter()
            writer.write(
                b"POST /api/search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
                + body
            )
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            await reader.readexactly(length)
            took.append(time.perf_counter() - began)
            errors += not head.startswith(b"HTTP/1.1 200")
        writer.close()

    began = time.perf_counter()
    await asyncio.gather(*(connection() for _ in range(at_once)))
    cuts = statistics.quantiles(took, n=100)
    return {
        "requests": len(took),
        "errors": errors,
        "rps": round(len(took) / (time.perf_counter() - began), 1),
        "p50_s": round(cuts[49], 3),
        "p99_s": round(cuts[98], 3),
    }


async def fill(catalog: Path, sets: Path) -> None:
    """A catalog of tools with their vectors."""
    async with repertory.open(catalog) as rep:
        await rep.put("load", documents(TOOLS, sets))


def measure(sets: Path, requests: int, at_once: int) -> dict[str, Any]:
    """Serve, and ask from a second process."""
    with tempfile.TemporaryDirectory() as place:
        catalog = Path(place) / "catalog"
        asyncio.run(fill(catalog, sets))
        serve = [sys.executable, "-c", "from repertory.cli import main; main()", "serve", "--port", "0", "-c", str(catalog)]
        service = subprocess.Popen(serve, stderr=subprocess.DEVNULL, env={**os.environ, "REPERTORY_LOG_LEVEL": "warning"})
        try:
            url = _address(catalog)
            return {mix: _from_outside(url, mix, count, at_once) for mix, count in (("zipf", requests), ("distinct", requests // 4))}
        finally:
            service.terminate()
            service.wait(10)


def _address(catalog: Path) -> str:
    for _ in range(300):
        time.sleep(0.1)
        note = catalog / "owner.json"
        if note.exists() and (url := json.loads(note.read_text()).get("url")):
            return str(url)
    raise SystemExit("The service did not start.")


def _from_outside(url: str, mix: str, count: int, at_once: int) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.load", "--drive", url, "--mix", mix, "--requests", str(count), "--at-once", str(at_once)],
        capture_output=True,
        text=True,
        check=True,
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def main() -> None:
    """Measure, or send requests for whoever measures."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sets", type=Path, default=Path("../shared/bench"), help="labelled sets to take tools from")
    options.add_argument("--requests", type=int, default=8000)
    options.add_argument("--at-once", type=int, default=AT_ONCE, help="searches that are under way together")
    options.add_argument("--mix", choices=["zipf", "distinct"], default="zipf")
    options.add_argument("--drive", metavar="URL", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.drive:
        mixes = {"zipf": repeated, "distinct": unrepeated}
        print(json.dumps(asyncio.run(drive(chosen.drive, mixes[chosen.mix](chosen.requests), chosen.at_once))))
        return
    found = measure(chosen.sets, chosen.requests, chosen.at_once)
    alone = asyncio.run(embedded(chosen.requests // 8))
    print(f"{TOOLS} tools, hybrid, {chosen.at_once} at once, {os.cpu_count()} cores with the client; load before: {os.getloadavg()[0]:.1f}")
    for mix, row in found.items():
        print(
            f"{mix:10}{row['rps']:8} requests/s   p50 {row['p50_s']} s   p99 {row['p99_s']} s   {row['errors']} errors of {row['requests']}"
        )
    print(f"the model alone embeds {alone:.0f} queries a second")
    print(f"{'published':10}{PUBLISHED['rps']:8} requests/s   p99 {PUBLISHED['p99_s']} s")
    print(f"{'target':10}{TARGET['rps']:8} requests/s   p99 {TARGET['p99_s']} s (zipf)")


if __name__ == "__main__":
    main()
