"""How is what was found used from a terminal?"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from repertory.cli.terminal import CatalogOption, print_json, read_settings
from repertory.errors import InvalidRequest
from repertory.settings import Settings

app = typer.Typer()


@app.command()
def call(
    reference: Annotated[str, typer.Argument(metavar="TOOL", help="An id, server/tool, server__tool, or a name that only one tool has.")],
    arguments: Annotated[str, typer.Argument(metavar="JSON", help="Its arguments as a JSON object, @FILE, or - for stdin.")] = "{}",
    catalog: CatalogOption = None,
) -> None:
    """Use a tool: its answer is printed as JSON, as its server gave it."""
    given = _object(arguments)

    async def ask() -> dict[str, Any]:
        from repertory.cli.session import session

        async with session(read_settings(catalog=catalog)) as asked:
            return await asked.call(reference, given)

    answer = asyncio.run(ask())
    print_json(answer)
    if answer.get("isError"):
        raise typer.Exit(1)


@app.command()
def mcp(
    discover: Annotated[bool, typer.Option("--discover", help="Also list what the last search found, as tools of their own.")] = False,
    catalog: CatalogOption = None,
) -> None:
    """Serve agents over MCP on stdin and stdout: search, describe and call."""
    asyncio.run(_mcp(read_settings(catalog=catalog), discover))


async def _mcp(settings: Settings, discover: bool) -> None:
    from repertory.mcp.doors import bridge, over_stdio
    from repertory.mcp.server import Gate
    from repertory.owner import owner_of

    owner = owner_of(settings.catalog)
    if (
        owner is not None and owner.url is not None and owner.token is not None
    ):  # the host's child must not quarrel with a service over the catalog
        await bridge(f"{owner.url}/mcp{'?discover=1' if discover else ''}", owner.token)
        return
    from repertory.app import open_with

    async with open_with(settings) as rep:
        behind = [asyncio.create_task(rep.keep_embedding()), asyncio.create_task(rep.keep_refreshing())]
        try:
            await over_stdio(Gate(rep, discover=discover))
        finally:
            for task in behind:
                task.cancel()
            await asyncio.gather(*behind, return_exceptions=True)


def _object(text: str) -> dict[str, Any]:
    if text == "-":
        text = sys.stdin.read()
    elif text.startswith("@"):
        try:
            text = Path(text[1:]).read_text("utf-8")
        except OSError as error:
            raise InvalidRequest(f"{text[1:]} cannot be read: {error.strerror}.") from None
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidRequest(f'The arguments are not valid JSON ({error}). Quote them as one word: \'{{"path": "x"}}\'.') from None
    if not isinstance(value, dict):
        raise InvalidRequest(f"The arguments must be a JSON object, not {type(value).__name__}.")
    return value
