"""How many tokens does an agent read: of all tools, and through the gateway?

Every tool of a labelled set as `tools/list` would give it, beside the three tools of the gateway and the answer of one search, text and
structured content together, over every query of the set:

    python -m benchmarks.tokens ../shared/bench/dev/livemcpbench_tasks

Tokens are counted by the tokenizer of the bundled model (WordPiece, about one token for each mark in JSON), because those of language
models are not on every machine; characters divided by four stand beside them. A set without types in its schemas makes the full list
shorter than it really is, so the share is rather too high than too low.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mcp import Client
from tokenizers import Tokenizer

from repertory.app import open_with
from repertory.embedders.files import MODELS
from repertory.evaluate.sets import LabelledSet, load
from repertory.mcp.passing import as_tool
from repertory.mcp.server import Gate
from repertory.model import Kind
from repertory.model.request import MAX_QUERY_LENGTH
from repertory.settings import load as load_settings

SHARE, MEDIAN, P95 = 0.03, 600, 1200  # what we promise

Count = Callable[[str], int]


def counters() -> dict[str, Count]:
    """Two ways to count tokens."""
    tokenizer = Tokenizer.from_file(str(MODELS / "all-MiniLM-L6-v2.tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return {"tokens": lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids), "characters / 4": lambda text: len(text) // 4}


def said(result: Any) -> str:
    """What a host hands to its model at most: every text, and the structured content."""
    texts = [content.text for content in result.content]
    return "\n".join([*texts, json.dumps(result.structured_content, ensure_ascii=False)])


def listing(tools: list[Any]) -> str:
    """Tools as the protocol lists them."""
    return json.dumps([tool.model_dump(by_alias=True, mode="json", exclude_none=True) for tool in tools], ensure_ascii=False)


async def texts(labelled: LabelledSet, catalog: Path) -> tuple[str, str, list[str]]:
    """The full list, the gateway's list, and the answer to every query."""
    whole = listing([as_tool(entity.name, entity) for entity in labelled.entities if entity.kind is Kind.TOOL])
    settings = load_settings({"catalog": catalog}, {})[0]
    async with open_with(settings) as rep:
        await rep.put(labelled.name, labelled.entities)
        async with Client(Gate(rep).server, cache=None) as client:
            facade = listing((await client.list_tools()).tools)
            asked = [query.text[:MAX_QUERY_LENGTH] for query in labelled.queries]
            return whole, facade, [said(await client.call_tool("search", {"query": query})) for query in asked]


def main() -> None:
    """Print the table; ends with 1 where a promise is not kept."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("set", type=Path, help="a labelled set: a folder with corpus.jsonl and queries.jsonl")
    labelled = load(parser.parse_args().set)
    with tempfile.TemporaryDirectory() as directory:
        whole, facade, answers = asyncio.run(texts(labelled, Path(directory)))
    print(f"{labelled.name}: {len(labelled.entities)} tools, {len(answers)} queries; load {os.getloadavg()[0]:.1f}")
    kept = True
    for name, count in counters().items():
        sizes = sorted(map(count, answers))
        median, p95 = statistics.median(sizes), sizes[int(len(sizes) * 0.95)]
        share = (count(facade) + median) / count(whole)
        print(
            f"{name}: all tools {count(whole):,}; gateway {count(facade)} + answer {median:.0f} (p95 {p95}, most {sizes[-1]}) = {share:.2%}"
        )
        kept = kept and share <= SHARE and median <= MEDIAN and p95 <= P95
    sys.exit(0 if kept else 1)


if __name__ == "__main__":
    main()
