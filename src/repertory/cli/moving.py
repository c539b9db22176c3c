"""How does the index move from a terminal?"""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Annotated

import typer

from repertory.cli.terminal import CatalogOption, JsonOption, err, out, print_json, progress_bar, read_settings

app = typer.Typer()


@app.command()
def migrate(
    to: Annotated[str, typer.Option("--to", metavar="INDEX", help="embedded, or a Qdrant: qdrant://host:6333, nodes separated by commas.")],
    catalog: CatalogOption = None,
    as_json: JsonOption = False,
) -> None:
    """Fill the search index at another place, without embedding anything again; run it again to go on where it stopped."""
    from repertory.ingest.migrate import migrate as move

    settings = read_settings(catalog=catalog)
    with progress_bar() as progress:
        moved = asyncio.run(move(settings, to, progress))
    if as_json:
        return print_json({"to": to, **asdict(moved)})
    kept = moved.documents - moved.put
    out.print(f"{moved.documents} documents are there and equal: {moved.put} put, {kept} were there, {moved.removed} removed.")
    err.print(
        f'[yellow]next:[/] set index = "{to}" in repertory.toml, or REPERTORY_INDEX={to}; until then the catalog is searched as before.'
    )
