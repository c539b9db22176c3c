"""Is an exact name always first?

C09, asked of every entry of labelled sets: its name as it is written, and with other separators. Prints the entries that are not first
under their own name, though none of the same name is:

    python -m benchmarks.names ../shared/bench/dev
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from pathlib import Path

from repertory.app import open_with
from repertory.evaluate.sets import LabelledSet, find, load
from repertory.model import Entity, SearchRequest
from repertory.model.request import MAX_QUERY_LENGTH
from repertory.settings import load as load_settings
from repertory.text.tokens import compact, spaced


def spellings(entity: Entity) -> list[str]:
    """How somebody may write the name."""
    name = entity.name[:MAX_QUERY_LENGTH]
    return list(dict.fromkeys([name, spaced(name), spaced(name).replace(" ", "-"), name.upper()]))


async def misses(labelled: LabelledSet, cache: Path) -> tuple[int, list[str]]:
    """How often was asked, and what was not first."""
    settings, _ = load_settings({"catalog": cache / labelled.name, "answer_cache": 0})
    asked, missed = 0, []
    async with open_with(settings) as rep:
        await rep.put(labelled.name, labelled.entities)
        for entity in labelled.entities:
            for query in spellings(entity) if compact(entity.name) else ():
                asked += 1
                results = (await rep.search(SearchRequest(query, limit=1))).results
                if not results or compact(query) not in {compact(results[0].entity.name), compact(results[0].entity.path)}:
                    missed.append(f"{query!r} of {entity.id}: {results[0].entity.id if results else 'nothing'}")
    return asked, missed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", type=Path, help="a labelled set, or a folder of them")
    parser.add_argument("--cache", type=Path, help="where the catalogs stay between runs")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="repertory-names-") as temporary:
        for folder in find(arguments.sets):
            asked, missed = asyncio.run(misses(load(folder), arguments.cache or Path(temporary)))
            print(f"{folder.name:<28} {asked - len(missed)} of {asked} first", *missed[:10], sep="\n    ")


if __name__ == "__main__":
    main()
