"""How is what was found used from a terminal?"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from repertory.cli.granting import SECOND, table
from repertory.cli.loop import run
from repertory.cli.terminal import CatalogOption, JsonOption, ask, out, print_json, read_settings
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

    answer = ask(catalog, lambda asked: asked.call(reference, given), cleaned=False)
    print_json(answer)
    if answer.get("isError"):
        raise typer.Exit(1)


@app.command()
def calls(
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000)] = 50,
    who: Annotated[str | None, typer.Option("--who", help="Only what this caller used.")] = None,
    tool: Annotated[
        str | None, typer.Option("--tool", metavar="ID", help="Only this tool or agent; search shows what agents were shown.")
    ] = None,
    catalog: CatalogOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show who used what, the newest first: never with which arguments, nor what came back."""
    answer = ask(catalog, lambda asked: asked.calls(limit, who, tool))
    if as_json:
        return print_json(answer)
    columns = ("at", "who", "used", "ms", "outcome", "")
    out.print(table(columns, [_used(one) for one in answer["calls"]]) if answer["calls"] else "Nobody used anything yet.")


def _used(one: dict[str, Any]) -> list[str]:
    counted = f"{one['exposed']} shown, {one['withheld']} withheld" if "exposed" in one else ""
    return [one["at"][:SECOND], one["who"], one["tool"] or "(no such tool)", f"{one['ms']:.0f}", one["outcome"], counted]


@app.command()
def mcp(
    discover: Annotated[bool, typer.Option("--discover", help="Also list what the last search found, as tools of their own.")] = False,
    catalog: CatalogOption = None,
) -> None:
    """Serve agents over MCP on stdin and stdout: search, describe and call."""
    run(_mcp(read_settings(catalog=catalog), discover))


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
        ours = (rep.keep_embedding(), rep.keep_following(), rep.keep_refreshing(), rep.keep_tidy())
        behind = [asyncio.create_task(work) for work in ours]
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
