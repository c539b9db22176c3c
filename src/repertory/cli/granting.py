"""How does a terminal hand out API keys, and show who did what?"""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from repertory.cli.terminal import CatalogOption, JsonOption, ask, err, out, print_json

DAY, SECOND = 10, 19  # characters of a time, as far as a list shows it

app = typer.Typer()
keys = typer.Typer(help="Hand out, list and revoke API keys.", no_args_is_help=True)
app.add_typer(keys, name="keys")


@keys.command("create")
def create(
    name: Annotated[str, typer.Argument(help="Whoever will use it: a person or a program.")],
    group: Annotated[list[str] | None, typer.Option("--group", "-g", help="A group besides public and user:NAME; repeatable.")] = None,
    scope: Annotated[list[str] | None, typer.Option("--scope", "-s", help="A scope; admin opens everything; repeatable.")] = None,
    expires: Annotated[str | None, typer.Option("--expires", metavar="TIME", help="Hours, days or weeks: 12h, 90d, 52w.")] = None,
    catalog: CatalogOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a key. It is printed once and cannot be shown again."""
    made = ask(catalog, lambda asked: asked.create_key(name, group or [], scope or [], expires))
    if as_json:
        return print_json(made)
    until = f"until {made['expires']}" if made["expires"] else "until it is revoked"
    err.print(Text(f"The key {made['id']} of {made['name']} counts {until}. It is shown this once:", style="dim"))
    typer.echo(made["token"])


@keys.command("list")
def list_keys(catalog: CatalogOption = None, as_json: JsonOption = False) -> None:
    """Show every key: whose it is and what it opens, never its secret."""
    answer = ask(catalog, lambda asked: asked.keys())
    if as_json:
        return print_json(answer)
    if not answer["keys"]:
        out.print("There are no keys. Make one: repertory keys create NAME")
        return
    columns = ("id", "name", "groups", "scopes", "created", "expires", "last used", "")
    out.print(table(columns, [_row(key) for key in answer["keys"]]))


def _row(key: dict[str, Any]) -> list[str]:
    days = [(key[name] or "never")[:DAY] for name in ("created", "expires", "last_used")]
    return [key["id"], key["name"], ", ".join(key["groups"]), ", ".join(key["scopes"]), *days, "revoked" if key["revoked"] else ""]


@keys.command("revoke")
def revoke(
    key_id: Annotated[str, typer.Argument(metavar="ID", help="The id that `keys list` shows.")], catalog: CatalogOption = None
) -> None:
    """End a key at once, and for good."""
    ask(catalog, lambda asked: asked.revoke_key(key_id))
    out.print(Text(f"The key {key_id} counts no more."))


@app.command()
def audit(
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000)] = 50,
    who: Annotated[str | None, typer.Option("--who", help="Only what this caller did.")] = None,
    target: Annotated[str | None, typer.Option("--target", help="Only what was done to this: an entry, a key, a source.")] = None,
    catalog: CatalogOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show who did what, the newest first."""
    answer = ask(catalog, lambda asked: asked.audit(limit, who, target))
    if as_json:
        return print_json(answer)
    rows = [
        [event["at"][:SECOND], event["who"], event["action"], event["target"], json.dumps(event["detail"], ensure_ascii=False)]
        for event in answer["events"]
    ]
    out.print(table(("at", "who", "did", "to", ""), rows) if rows else "Nobody did anything yet.")


def table(columns: tuple[str, ...], rows: list[list[str]]) -> Table:
    """Rows of words under their names."""
    drawn = Table(box=None, header_style="dim")
    for column in columns:
        drawn.add_column(column, no_wrap=column in ("id", "at"))  # what one copies, and what one reads first
    for row in rows:
        drawn.add_row(*map(Text, row))
    return drawn
