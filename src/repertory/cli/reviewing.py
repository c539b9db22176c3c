"""How is what is held back reviewed in a terminal?"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from repertory.cli.render import findings
from repertory.cli.terminal import CatalogOption, JsonOption, out, print_json, read_settings
from repertory.guard.hidden import visible

if TYPE_CHECKING:
    from repertory.cli.session import Session

app = typer.Typer()
review = typer.Typer(help="See what is held back and why, and let it in or keep it out.", invoke_without_command=True)
app.add_typer(review, name="review")

STYLES = {"same": "", "removed": "red strike", "added": "green"}
KEPT = 60  # characters of what stayed the same around a change
REASONS = {
    "changed": "changed since it was accepted",
    "new": "new, and nobody has approved it yet",
    "rejected": "rejected; it stays out until it changes",
}

Ids = Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="Ids or paths, as `repertory review` shows them.")]
AllOf = Annotated[str | None, typer.Option("--all-of", metavar="SERVER", help="All that this server or source brought.")]


@review.callback()
def _listed(context: typer.Context, catalog: CatalogOption = None, as_json: JsonOption = False) -> None:
    if context.invoked_subcommand is not None:
        return
    answer = _ask(catalog, lambda asked: asked.review())
    if as_json:
        return print_json(answer)
    out.print(held_list(answer))


@review.command()
def approve(ids: Ids = None, all_of: AllOf = None, catalog: CatalogOption = None, as_json: JsonOption = False) -> None:
    """Let entries in as they are now: they are found and can be called again."""
    _decide("approve", ids, all_of, catalog, as_json=as_json)


@review.command()
def reject(ids: Ids = None, all_of: AllOf = None, catalog: CatalogOption = None, as_json: JsonOption = False) -> None:
    """Keep entries out as they are now; another change of theirs is shown again."""
    _decide("reject", ids, all_of, catalog, as_json=as_json)


def _decide(verb: str, ids: list[str] | None, all_of: str | None, catalog: Path | None, *, as_json: bool) -> None:
    answer = _ask(catalog, lambda asked: asked.decide(verb, ids or [], all_of))
    if as_json:
        return print_json(answer)
    for done, names in answer.items():
        out.print(Text(f"{done}: {', '.join(names)}"))


def held_list(answer: Mapping[str, Any]) -> RenderableType:
    """Each entry with its reason, its findings and what changed in it."""
    if not answer["held"]:
        return Text("Nothing is held back.", style="dim")
    rows: list[RenderableType] = []
    for one in answer["held"]:
        rows.append(Text.assemble((one["id"], "bold"), f"  {REASONS.get(one['reason'], one['reason'])}", (f"  {one['source']}", "dim")))
        rows += [Padding(line, (0, 0, 0, 2)) for line in findings(one["findings"])]
        rows += [Padding(_change(change), (0, 0, 0, 2)) for change in one["changes"]]
        rows.append(Text())
    rows.append(Text("repertory review approve ID   repertory review reject ID   ... --all-of SERVER", style="dim"))
    return Group(*rows)


def _change(change: Mapping[str, Any]) -> Text:
    shown = Text.assemble((f"{change['where']}: ", "dim"))
    last = len(change["parts"]) - 1
    for position, part in enumerate(change["parts"]):
        shape = visible(part["text"])  # nothing may hide from who reviews it
        text = _around(shape, first=position == 0, last=position == last) if part["kind"] == "same" else shape
        mark = {"removed": ("[-", "-]"), "added": ("{+", "+}")}.get(
            part["kind"], ("", "")
        )  # as `git diff --word-diff`, without colours too
        shown.append(f"{mark[0]}{text.rstrip() if mark[0] else text}{mark[1]}{' ' if mark[0] else ''}", style=STYLES[part["kind"]])
    return shown


def _around(text: str, *, first: bool, last: bool) -> str:
    if len(text) <= 2 * KEPT:
        return text
    return f"{'' if first else text[:KEPT]}…{'' if last else text[-KEPT:]}"


def _ask(catalog: Path | None, question: Callable[[Session], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
    from repertory.cli.render import clean
    from repertory.cli.session import session

    async def work() -> dict[str, Any]:
        async with session(read_settings(catalog=catalog)) as asked:
            return await question(asked)

    return dict(clean(asyncio.run(work())))
