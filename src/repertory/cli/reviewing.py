"""How is what is held back reviewed in a terminal?"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from repertory.cli.terminal import CatalogOption, JsonOption, out, print_json, read_settings

if TYPE_CHECKING:
    from repertory.cli.session import Session

app = typer.Typer()
review = typer.Typer(help="See what is held back and why, and let it in or keep it out.", invoke_without_command=True)
app.add_typer(review, name="review")

Ids = Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="Ids or paths, as `repertory review` shows them.")]
AllOf = Annotated[str | None, typer.Option("--all-of", metavar="SERVER", help="All that this server or source brought.")]


@review.callback()
def _listed(context: typer.Context, catalog: CatalogOption = None, as_json: JsonOption = False) -> None:
    if context.invoked_subcommand is not None:
        return
    answer = _ask(catalog, lambda asked: asked.review())
    if as_json:
        return print_json(answer)
    from repertory.cli.held import held_list

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
        typer.echo(f"{done}: {', '.join(names)}")


def _ask(catalog: Path | None, question: Callable[[Session], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
    from repertory.cli.render import clean
    from repertory.cli.session import session

    async def work() -> dict[str, Any]:
        async with session(read_settings(catalog=catalog)) as asked:
            return await question(asked)

    return dict(clean(asyncio.run(work())))
