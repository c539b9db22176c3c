"""Which commands are there?"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

import repertory
from repertory import settings as settings_module
from repertory.cli import asking, exporting, granting, importing, installing, logins, measuring, moving, reviewing, using
from repertory.cli.exits import exit_code
from repertory.cli.terminal import (
    CatalogOption,
    JsonOption,
    KindOption,
    TagOption,
    ask,
    err,
    out,
    print_json,
    progress_bar,
    read_settings,
    start_logging,
)
from repertory.errors import RepertoryError
from repertory.graph.draw import Format
from repertory.model import Fusion, Preset, Strategy
from repertory.model.request import DEFAULT_LIMIT, MAX_LIMIT

app = typer.Typer(
    name="repertory",
    help="One place where an AI agent finds what it may use: tools, agents, skills and notes.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

COMMITS = 1_000  # as many as `sources/history` takes; named here, because its engines load only where they are needed


def main() -> None:
    """Run a command; errors that we know become a sentence and an exit code."""
    try:
        app()
    except RepertoryError as error:
        err.print(f"[red]error[/] [dim]({error.code})[/]", end=" ")
        err.print(str(error), markup=False, highlight=False, soft_wrap=True)
        sys.exit(exit_code(error))


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if version:
        typer.echo(f"repertory {repertory.__version__}")
        raise typer.Exit


@app.command()
def add(
    where: Annotated[
        str,
        typer.Argument(
            help="A file or folder of tools, agents, skills or Markdown, a bundle, a config of MCP servers, or an http(s) address."
        ),
    ],
    git: Annotated[bool, typer.Option("--git", help="Read the commits of the git repository there, instead of its files.")] = False,
    commits: Annotated[int, typer.Option("--commits", min=1, help="With --git: how many, the newest first.")] = COMMITS,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would change.")] = False,
    embed: Annotated[bool, typer.Option("--embed/--no-embed", help="Whether to embed what is new at once.")] = True,
    catalog: CatalogOption = None,
    as_json: JsonOption = False,
) -> None:
    """Read a file, a folder, live servers or an address into the catalog; run it again to bring in what changed."""
    from repertory.cli import render
    from repertory.sources.web import is_address

    absolute = where if is_address(where) else str(Path(where).expanduser().absolute())  # the process that serves may stand elsewhere

    with progress_bar() as progress:
        report = ask(catalog, lambda asked: asked.add(absolute, progress, commits if git else None, dry_run, embed))
    if as_json:
        return print_json(report)
    render.problems(err, report)
    out.print(render.report(report))
    render.guarded(err, report)
    if report["waiting"]:
        waiting = f"[yellow]note:[/] {report['waiting']} texts wait for the embedding model"
        later = "the next add, or a serving process, embeds them" if not embed else "until then words alone find them"
        err.print(f"{waiting}; {later}.", report["excuse"])
    if report["behind"]:
        err.print("[yellow]note:[/] all of it is written, but cannot be found yet.", report["behind"])


@app.command()
def watch(
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="[PATH]...", help="Files or folders; without any, all that the catalog was made of.")
    ] = None,
    catalog: CatalogOption = None,
) -> None:
    """Keep the catalog as its files are, until you stop it; `serve --watch` does it behind the service."""
    from repertory.cli.watching import watch as run

    run(read_settings(catalog=catalog), [path.expanduser().absolute() for path in paths or ()], out, err)


@app.command()
def search(
    query: Annotated[
        str, typer.Argument(help="What you are looking for, in your own words; a pattern with --strategy regex; nothing to browse.")
    ] = "",
    preset: Annotated[Preset | None, typer.Option("--preset", "-p", help="A whole behaviour by one word.", show_default=False)] = None,
    strategy: Annotated[Strategy | None, typer.Option("--strategy", "-s", help="How to search.", show_default=False)] = None,
    fusion: Annotated[Fusion | None, typer.Option("--fusion", help="How hybrid joins its lanes.", show_default=False)] = None,
    kind: KindOption = None,
    tag: TagOption = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=MAX_LIMIT, help="How many results.")] = DEFAULT_LIMIT,
    context: Annotated[str, typer.Option("--context", help="What it is about; counts less than the query.", show_default=False)] = "",
    min_confidence: Annotated[
        float | None, typer.Option("--min-confidence", min=0, max=1, help="Abstain below this.", show_default=False)
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Say why each result is there.")] = False,
    catalog: CatalogOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find entries of every kind in one ranked list."""
    from repertory.cli import render

    body: dict[str, Any] = {
        "query": query,
        "preset": preset,
        "strategy": strategy,
        "fusion": fusion,
        "kinds": kind,
        "tags": tag or [],
        "limit": limit,
        "context": context or None,
        "min_confidence": min_confidence,
        "explain": explain,
    }

    answer = ask(catalog, lambda asked: asked.search(body))
    if as_json:
        return print_json(answer)
    out.print(render.search_results(answer, out.width, explain=explain))
    for note in render.diagnostics(answer):
        err.print(note)
    err.print(render.search_footer(answer))


@app.command()
def classify(
    query: Annotated[str, typer.Argument(help="What somebody might ask.")], catalog: CatalogOption = None, as_json: JsonOption = False
) -> None:
    """Say what kind of query a text is, and how one would search for it."""
    from repertory.cli import render

    answer = ask(catalog, lambda asked: asked.classify(query))
    if as_json:
        return print_json(answer)
    out.print(render.classification(answer))


@app.command()
def categories(
    query: Annotated[str, typer.Argument(help="What you want to do.")], catalog: CatalogOption = None, as_json: JsonOption = False
) -> None:
    """Find the categories that serve a query, each with its best tools."""
    from repertory.cli import render

    answer = ask(catalog, lambda asked: asked.categories(query))
    if as_json:
        return print_json(answer)
    out.print(render.category_list(answer))


@app.command("list")
def list_entries(
    kind: KindOption = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000)] = 50,
    offset: Annotated[int, typer.Option("--offset", min=0)] = 0,
    catalog: CatalogOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what the catalog holds, in the order it came in."""
    from repertory.cli import render

    answer = ask(catalog, lambda asked: asked.entries(kind or [], limit, offset))
    if as_json:
        return print_json(answer)
    out.print(render.entry_list(answer, offset))


@app.command()
def show(
    reference: Annotated[str, typer.Argument(metavar="ID", help="An id, or a path or name that only one entry has.")],
    catalog: CatalogOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show everything that is known of one entry."""
    from repertory.cli import render

    answer = ask(catalog, lambda asked: asked.show(reference))
    if as_json:
        return print_json(answer)
    out.print(render.entry(answer))


@app.command()
def sources(catalog: CatalogOption = None, as_json: JsonOption = False) -> None:
    """Show where the entries come from, and how each source does."""
    from repertory.cli import render

    answer = ask(catalog, lambda asked: asked.sources())
    if as_json:
        return print_json(answer)
    out.print(render.source_list(answer))


@app.command()
def graph(
    reference: Annotated[str | None, typer.Argument(metavar="ID", help="Only this entry and what is around it.")] = None,
    format: Annotated[Format, typer.Option("--format", "-f", help="How to write it down.")] = Format.MERMAID,
    all_nodes: Annotated[
        bool, typer.Option("--all-nodes", help="Also the words, categories, values and names that entries share.")
    ] = False,
    catalog: CatalogOption = None,
    as_json: JsonOption = False,
) -> None:
    """Draw how entries are related, for Mermaid, Graphviz or a JSON-LD reader."""
    answer = ask(catalog, lambda asked: asked.graph(reference, format, all_nodes))
    if as_json:
        return print_json(answer)
    typer.echo(answer["text"], nl=False)
    if answer["cut"]:
        err.print(f"[yellow]note:[/] only the first {answer['edges']} edges are here; name an entry to see all of its own.")


@app.command()
def serve(
    host: Annotated[str | None, typer.Option("--host", help="Address to serve at.", show_default="127.0.0.1")] = None,
    port: Annotated[int | None, typer.Option("--port", "-p", help="Port to serve at; 0 takes a free one.", show_default="8321")] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Read files again when they change.")] = False,
    catalog: CatalogOption = None,
) -> None:
    """Serve the REST API and the web page."""
    from repertory.cli.serving import serve as run

    run(read_settings(catalog=catalog, host=host, port=port), err, watch=watch)


@app.command()
def doctor(
    repair: Annotated[bool, typer.Option("--repair", help="Build the search index anew first.")] = False,
    catalog: CatalogOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check the settings, the model, and that the index holds what the catalog holds."""
    from repertory.cli import render
    from repertory.cli.doctor import examine, render_findings

    settings, origins = settings_module.load({"catalog": catalog})
    start_logging(settings)
    findings = render.clean(asyncio.run(examine(settings, origins, repair=repair)))
    if as_json:
        print_json(findings)
    else:
        out.print(render_findings(findings))
    if not findings["healthy"]:
        raise typer.Exit(1)


app.add_typer(exporting.app)
app.add_typer(asking.app)
app.add_typer(using.app)
app.add_typer(granting.app)
app.add_typer(logins.app)
app.add_typer(reviewing.app)
app.add_typer(importing.app)
app.add_typer(installing.app)
app.add_typer(measuring.app)
app.add_typer(moving.app)
