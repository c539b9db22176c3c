"""Which servers do other programs on this machine know, and may we ask them?"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from repertory.cli.terminal import CatalogOption, err, out, progress_bar, read_settings

if TYPE_CHECKING:
    from repertory.sources.installed import Found

app = typer.Typer()


@app.command("import")
def import_servers(
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Add the servers of your own configs without asking.")] = False,
    trust_project: Annotated[
        bool, typer.Option("--trust-project", help="Add those of the current directory, too; whoever wrote it decides what is started.")
    ] = False,
    catalog: CatalogOption = None,
) -> None:
    """Find the MCP servers that other programs on this machine use, and add them."""
    from repertory.cli import render
    from repertory.sources.installed import find

    settings = read_settings(catalog=catalog)
    found = find(Path.home(), Path.cwd())
    own, foreign = [one for one in found if one.trusted], [one for one in found if not one.trusted]
    if not found:
        out.print("No config of Claude, Cursor, VS Code, Gemini or Codex on this machine names a server.")
        return
    out.print(_listed(found))
    wanted = _wanted(own, yes, "Start these servers and add what they offer?")
    if foreign:
        err.print(Text("The current directory names servers, too. Whoever wrote it decides what they run on this machine.", style="yellow"))
        if trust_project or not yes:
            wanted += _wanted(foreign, trust_project, "Start the servers of the current directory?")
        else:
            err.print(Text("They are left out; --trust-project adds them.", style="dim"))
    for report in asyncio.run(_add(wanted, settings)) if wanted else ():
        cleaned = render.clean(report)
        render.problems(err, cleaned)
        out.print(render.report(cleaned))


def _wanted(found: Sequence[Found], yes: bool, question: str) -> list[Path]:
    files = [one.file for one in found if one.config is not None]
    return files if files and (yes or typer.confirm(question, default=False, err=True)) else []


async def _add(files: Sequence[Path], settings: Any) -> list[dict[str, Any]]:
    from repertory.cli.session import session

    async with session(settings) as asked:
        with progress_bar() as progress:
            return [await asked.add(str(file), progress) for file in files]


def _listed(found: Sequence[Found]) -> RenderableType:
    """What was found: names, transports and commands, nothing that may hold a secret."""
    from repertory.cli.render import clean

    parts: list[RenderableType] = []
    for one in found:
        where = "" if one.trusted else "  (current directory)"
        parts.append(Text.assemble((one.program, "bold"), (f"  {clean(str(one.file))}{where}", "dim")))
        if one.config is None:
            parts.append(Text(f"  {clean(one.error)}", style="red"))
            continue
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 2))
        for name, spec in one.config.specs.items():
            table.add_row(Text(name), spec.transport.value, Text(clean(spec.target)))
        for name, problem in one.config.problems.items():
            table.add_row(Text(clean(name)), Text("left out", style="yellow"), Text(clean(problem.message)))
        parts.append(table)
    return Group(*parts)
