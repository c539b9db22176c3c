"""How does another program learn to start Repertory?

Its own config gets one server more. What would change is shown first; a config that cannot be changed safely is left alone, with what to
paste by hand.
"""

from __future__ import annotations

import difflib
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from repertory import settings as settings_module
from repertory.cli.terminal import err, out
from repertory.errors import InvalidRequest, SourceError

app = typer.Typer()

PROGRAM = "repertory"
MAX_SHOWN = 160  # characters of a changed line: a config on one line also holds what is nobody's business on a screen

Entry = dict[str, Any]


def _plain(command: str, args: list[str]) -> Entry:
    return {"command": command, "args": args}


def _typed(command: str, args: list[str]) -> Entry:
    return {"type": "stdio", "command": command, "args": args}


@dataclass(frozen=True, slots=True)
class Client:
    """A program that uses MCP servers, and how its config names one."""

    program: str  # as `sources/installed` calls it
    key: str = "mcpServers"
    started: Callable[[str, list[str]], Entry] = _plain
    reached: Callable[[str], Entry] | None = lambda url: {"url": url}  # None: it only starts servers
    toml: bool = False


CLIENTS = {
    "claude-desktop": Client("Claude Desktop", reached=None),
    "claude-code": Client("Claude Code", started=_typed, reached=lambda url: {"type": "http", "url": url}),
    "cursor": Client("Cursor"),
    "vscode": Client("VS Code", "servers", _typed, lambda url: {"type": "http", "url": url}),
    "codex": Client("Codex", "mcp_servers", toml=True),
    "gemini": Client("Gemini", reached=lambda url: {"httpUrl": url}),
}


@app.command()
def install(
    client: Annotated[
        str | None,
        typer.Argument(metavar="CLIENT", help=f"{', '.join(CLIENTS)}. Without one: which of them are on this machine."),
    ] = None,
    url: Annotated[
        str | None, typer.Option("--url", help="Use a Repertory that is served there, instead of starting one.", show_default=False)
    ] = None,
    name: Annotated[str, typer.Option("--name", help="What the server is called in the config.")] = PROGRAM,
    catalog: Annotated[Path | None, typer.Option("--catalog", "-c", help="The catalog to search.", show_default=False)] = None,
    discover: Annotated[bool, typer.Option("--discover", help="Also list what the last search found, as tools of their own.")] = False,
    project: Annotated[bool, typer.Option("--project", help="Write the config of the current directory, not your own.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Take it out again.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Write without asking.")] = False,
) -> None:
    """Let Claude, Cursor, VS Code, Codex or Gemini use Repertory: shows the change to its config, and asks."""
    from repertory.cli import clientfile

    if client is None:
        out.print(_overview(name))
        return
    if client not in CLIENTS:
        raise InvalidRequest(f"There is no client {client!r}. Clients: {', '.join(CLIENTS)}.")
    if not name.strip() or not name.isprintable():
        raise InvalidRequest(f"{name!r} is no name for a server.")
    known = CLIENTS[client]
    file = _file(known, project)
    entry = _entry(known, url, catalog, discover, project)
    before = _read(file)
    try:
        text = _decoded(before)
        if remove:
            after = clientfile.take_out(text, known.key, name, toml=known.toml)
        else:
            after = clientfile.put(text, known.key, name, entry, toml=known.toml)
    except clientfile.Unchangeable as error:
        by_hand = (
            f"Take {name} out by hand." if remove else f"Add this by hand:\n\n{clientfile.snippet(known.key, name, entry, toml=known.toml)}"
        )
        raise SourceError(f"{file} is left as it is: {error}. {by_hand}") from None
    if after == text:
        out.print(Text(f"{known.program} {'does not have' if remove else 'has'} {name} already: {file}"), soft_wrap=True)
        return
    out.print(Text.assemble((known.program, "bold"), f"  {file}{'' if before is not None else '  (new)'}"), soft_wrap=True)
    for line in _diff(text, after):
        out.print(line, soft_wrap=True)
    if dry_run:
        return
    if not yes and not typer.confirm("Write this?", default=False, err=True):
        err.print("Nothing was written.")
        return
    backup = _write(file, before, after.encode())
    kept = f" What was there is in {backup.name}." if backup else ""
    err.print(Text(f"Done.{kept} Restart {known.program} to see it."), soft_wrap=True)


def _file(client: Client, project: bool) -> Path:
    from repertory.sources.installed import place_of

    file = place_of(client.program, Path.home(), Path.cwd() if project else None)
    if file is None:
        raise InvalidRequest(f"{client.program} has no config for a project; leave out --project.")
    return file


def _entry(client: Client, url: str | None, catalog: Path | None, discover: bool, project: bool) -> Entry:
    """How the client gets to Repertory."""
    if url is not None:
        from repertory.mcp.address import gate_address

        if client.reached is None:
            raise InvalidRequest(f"{client.program} only starts servers itself; leave out --url.")
        if catalog is not None:
            raise InvalidRequest("What is served at an address has its own catalog; leave out --catalog or --url.")
        return client.reached(gate_address(url, discover=discover))
    settings, origins = settings_module.load({"catalog": catalog})
    # The client will have neither the variables of this terminal nor its directory.
    chosen = ["--catalog", str(settings.catalog.expanduser().absolute())] if origins["catalog"] != "default" else []
    return client.started(_command(project), ["mcp", *(["--discover"] if discover else []), *chosen])


def _command(project: bool) -> str:
    """This program: by its place, because clients often have no PATH; by its name in a project, which others share."""
    beside = shutil.which(PROGRAM, path=str(Path(sys.executable).parent))
    return PROGRAM if project else beside or shutil.which(PROGRAM) or PROGRAM


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SourceError(f"{file} cannot be read: {error.strerror}.") from error


def _decoded(content: bytes | None) -> str:
    from repertory.cli.clientfile import Unchangeable

    try:
        return (content or b"").decode()
    except UnicodeDecodeError as error:
        raise Unchangeable("it is not UTF-8") from error


def _diff(before: str, after: str) -> Iterator[Text]:
    """What changes, and nothing around it: other servers' keys are not for a screen."""
    styles = {"+": "green", "-": "red"}
    changes = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    for line in changes:
        if not line.startswith(("+++", "---", "@@")):
            yield Text(f"  {line[:MAX_SHOWN]}{'…' if len(line) > MAX_SHOWN else ''}", style=styles.get(line[0], ""))


def _write(file: Path, before: bytes | None, after: bytes) -> Path | None:
    """Replace a file at once, as it was owned and allowed; answers where the old one is kept."""
    target = file.resolve()  # a link into somebody's dotfiles stays one
    try:
        if _read(target) != before:
            raise SourceError(f"{file} was changed meanwhile, and is left as it is. Run this again.")
        target.parent.mkdir(parents=True, exist_ok=True)
        backup = _free(target) if before is not None else None
        if backup is not None:
            shutil.copy2(target, backup)
        unfinished = target.with_name(f".{target.name}.{os.getpid()}.part")
        with unfinished.open("xb") as stream:
            if before is not None:
                shutil.copymode(target, unfinished)
            stream.write(after)
            stream.flush()
            os.fsync(stream.fileno())
        unfinished.replace(target)
    except OSError as error:
        raise SourceError(f"{file} cannot be written: {error.strerror}.") from error
    return backup


def _free(target: Path) -> Path:
    """A name for the copy: an older one is never overwritten."""
    names = (target.with_name(f"{target.name}.backup{f'-{number}' if number else ''}") for number in range(1000))
    return next(name for name in names if not name.exists())


def _overview(name: str) -> Table:
    """The clients, whether they are here, and whether they have Repertory."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for word, client in CLIENTS.items():
        file = _file(client, project=False)
        here = file.exists() or (file.parent != Path.home() and file.parent.is_dir())
        table.add_row(
            Text(word, style="bold" if here else "dim"), _state(client, file, name) if here else "not found", Text(str(file), style="dim")
        )
    return table


def _state(client: Client, file: Path, name: str) -> str:
    from repertory.cli import clientfile

    try:
        there = clientfile.held(_decoded(_read(file)), client.key, name, toml=client.toml) is not None
    except (clientfile.Unchangeable, SourceError):
        return "cannot be read"
    return f"has {name}" if there else "found"
