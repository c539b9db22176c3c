"""How do commands speak with the terminal and with the settings?"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from repertory import settings as settings_module
from repertory.model import Kind
from repertory.settings import Settings

if TYPE_CHECKING:
    from repertory.cli.session import Session

out = Console()
err = Console(stderr=True)

CatalogOption = Annotated[Path | None, typer.Option("--catalog", "-c", help="The catalog directory.", show_default=False)]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]
TagOption = Annotated[list[str] | None, typer.Option("--tag", "-t", help="Only entries with this tag.", show_default=False)]


def _kind(word: str) -> Kind:
    """A kind by its wire name, or by the word that we print for it."""
    words = {kind.value: kind for kind in Kind} | {kind.prefix: kind for kind in Kind}
    if word not in words:
        raise typer.BadParameter(f"{word!r} is no kind. Kinds: {', '.join(kind.prefix for kind in Kind)}.")
    return words[word]


KindOption = Annotated[
    list[Kind] | None,
    typer.Option("--kind", "-k", parser=_kind, metavar="KIND", help="Only server, tool, agent, skill, virtual or doc; repeatable."),
]


def read_settings(**arguments: Any) -> Settings:
    """The settings that hold for this command, and the logging that they ask for."""
    settings, _ = settings_module.load(arguments)
    start_logging(settings)
    return settings


def start_logging(settings: Settings) -> None:
    """Logs go to stderr."""
    logging.basicConfig(stream=sys.stderr, level=settings.log_level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("httpcore2").setLevel(logging.WARNING)
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    logging.getLogger("mcp").setLevel(logging.CRITICAL)  # it quotes what servers say; what went wrong is told with the source


def print_json(answer: dict[str, Any]) -> None:
    """An answer for machines."""
    typer.echo(json.dumps(answer, ensure_ascii=False, indent=2))


@contextmanager
def progress_bar(prefix: str = "") -> Iterator[Any]:
    """One bar per stage on stderr, gone when the work is done."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TaskID, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        """How many a second."""

        def render(self, task: Task) -> Text:
            return Text(f"{task.speed:,.0f}/s" if task.speed else "", style="progress.data.speed")

    columns = (TextColumn("{task.description:<10}"), BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn())
    tasks: dict[str, TaskID] = {}
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:

        def progress(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(prefix + stage, total=total)
            bar.update(tasks[stage], completed=done, total=total)

        yield progress


def ask(catalog: Path | None, question: Callable[[Session], Awaitable[dict[str, Any]]], *, cleaned: bool = True) -> dict[str, Any]:
    """Put a question to whoever answers for the catalog; what others wrote is made safe for a terminal."""
    from repertory.cli.render import clean
    from repertory.cli.session import session

    async def work() -> dict[str, Any]:
        async with session(read_settings(catalog=catalog)) as asked:
            return await question(asked)

    answer = asyncio.run(work())
    return dict(clean(answer)) if cleaned else answer
