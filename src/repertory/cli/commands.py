"""Which commands are there?"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

import repertory
from repertory import settings as settings_module
from repertory.cli.exits import exit_code
from repertory.errors import RepertoryError
from repertory.model import Fusion, Kind, Strategy
from repertory.model.request import DEFAULT_LIMIT, MAX_LIMIT
from repertory.settings import Settings

app = typer.Typer(
    name="repertory",
    help="One place where an AI agent finds what it may use: tools, agents, skills and notes.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
out = Console()
err = Console(stderr=True)

CatalogOption = Annotated[Path | None, typer.Option("--catalog", "-c", help="The catalog directory.", show_default=False)]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]


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
    path: Annotated[Path, typer.Argument(help="A tool file, agent card, SKILL.md, Markdown file, or a folder of them.")],
    catalog: CatalogOption = None,
    as_json: JsonOption = False,
) -> None:
    """Read a file or folder into the catalog; run it again to bring in what changed."""
    from repertory.cli import render
    from repertory.cli.session import session

    absolute = path.expanduser().absolute()  # the process that serves may stand elsewhere

    async def work() -> dict[str, Any]:
        async with session(_settings(catalog=catalog)) as asked:
            with _progress_bar() as progress:
                return await asked.add(absolute, progress)

    report = _run(work())
    if as_json:
        return _print_json(report)
    render.problems(err, report)
    out.print(render.report(report))
    if report["waiting"]:
        err.print(
            f"[yellow]note:[/] {report['waiting']} texts wait for the embedding model; until then words alone find them.", report["excuse"]
        )


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="What you are looking for, in your own words; a pattern with --strategy regex.")],
    strategy: Annotated[Strategy | None, typer.Option("--strategy", "-s", help="How to search.", show_default=False)] = None,
    fusion: Annotated[Fusion | None, typer.Option("--fusion", help="How hybrid joins its lanes.", show_default=False)] = None,
    kind: KindOption = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", "-t", help="Only entries with this tag.", show_default=False)] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=MAX_LIMIT, help="How many results.")] = DEFAULT_LIMIT,
    explain: Annotated[bool, typer.Option("--explain", help="Say why each result is there.")] = False,
    catalog: CatalogOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find entries of every kind in one ranked list."""
    from repertory.cli import render
    from repertory.cli.session import session

    body: dict[str, Any] = {"query": query, "limit": limit, "explain": explain, "tags": tag or []}
    body |= {name: value.value for name, value in (("strategy", strategy), ("fusion", fusion)) if value}
    if kind:
        body["kinds"] = [one.value for one in kind]

    async def work() -> dict[str, Any]:
        async with session(_settings(catalog=catalog)) as asked:
            return await asked.search(body)

    answer = _run(work())
    if as_json:
        return _print_json(answer)
    out.print(render.search_results(answer, out.width, explain=explain))
    for note in render.diagnostics(answer):
        err.print(note)
    err.print(render.search_footer(answer))


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
    from repertory.cli.session import session

    async def work() -> dict[str, Any]:
        async with session(_settings(catalog=catalog)) as asked:
            return await asked.entries(kind or [], limit, offset)

    answer = _run(work())
    if as_json:
        return _print_json(answer)
    out.print(render.entry_list(answer, offset))


@app.command()
def show(
    reference: Annotated[str, typer.Argument(metavar="ID", help="An id, or a path or name that only one entry has.")],
    catalog: CatalogOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show everything that is known of one entry."""
    from repertory.cli import render
    from repertory.cli.session import session

    async def work() -> dict[str, Any]:
        async with session(_settings(catalog=catalog)) as asked:
            return await asked.show(reference)

    answer = _run(work())
    if as_json:
        return _print_json(answer)
    out.print(render.entry(answer))


@app.command()
def serve(
    host: Annotated[str | None, typer.Option("--host", help="Address to serve at.", show_default="127.0.0.1")] = None,
    port: Annotated[int | None, typer.Option("--port", "-p", help="Port to serve at; 0 takes a free one.", show_default="8321")] = None,
    catalog: CatalogOption = None,
) -> None:
    """Serve the REST API and the web page."""
    from repertory.cli.serving import serve as run

    run(_settings(catalog=catalog, host=host, port=port), err)


@app.command()
def doctor(
    repair: Annotated[bool, typer.Option("--repair", help="Build the search index anew first.")] = False,
    catalog: CatalogOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check the settings, the model, and that the index holds what the catalog holds."""
    from repertory.cli.doctor import examine, render_findings

    settings, origins = settings_module.load({"catalog": catalog})
    _logging(settings)
    findings = _run(examine(settings, origins, repair=repair))
    if as_json:
        _print_json(findings)
    else:
        out.print(render_findings(findings))
    if not findings["healthy"]:
        raise typer.Exit(1)


@app.command("eval")
def evaluate(
    sets: Annotated[Path, typer.Argument(help="A labelled set, or a folder of them (docs/evaluation.md describes the form).")],
    strategies: Annotated[str, typer.Option("--strategies", "-s", help="Comma-separated, or all.")] = "all",
    against: Annotated[str, typer.Option("--against", help="What the marks compare with.", show_default=False)] = "",
    diff: Annotated[tuple[str, str] | None, typer.Option("--diff", metavar="A B", help="List the queries that moved most.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", metavar="FILE.png", help="Draw bars of nDCG@10.", show_default=False)] = None,
    cache: Annotated[Path | None, typer.Option("--cache", help="Where the indexed sets are kept.", show_default=False)] = None,
    as_json: JsonOption = False,
) -> None:
    """Measure strategies on labelled sets: recall, MRR, nDCG, latency."""
    from platformdirs import user_cache_path

    from repertory.cli import evaluation
    from repertory.evaluate import compare, measure
    from repertory.evaluate.sets import find, load

    settings = _settings()
    chosen = list(dict.fromkeys([*measure.ways(strategies), *measure.ways(",".join(diff) if diff else strategies)]))
    place = cache or user_cache_path("repertory", appauthor=False) / "eval"

    async def work() -> list[measure.Row]:
        rows: list[measure.Row] = []
        for folder in find(sets):
            with _progress_bar(f"{folder.name}: ") as progress:
                rows += await measure.measure(load(folder), chosen, place, settings, progress)
        return rows

    rows = asyncio.run(work())
    if plot:
        evaluation.plot(rows, plot)
    if as_json:
        return _print_json(evaluation.as_json(rows))
    out.print(evaluation.table(rows, against or chosen[-1]))
    if diff:
        before, after = ([row for row in rows if row.strategy == way] for way in diff)
        out.print(evaluation.moved(compare.moves(before, after, most=20), *diff))


@app.command()
def tune(
    sets: Annotated[Path, typer.Argument(help="Labelled sets to learn from.")],
    check: Annotated[Path | None, typer.Option("--check", help="Labelled sets to judge by, not learned from.", show_default=False)] = None,
    cache: Annotated[Path | None, typer.Option("--cache", help="Where the indexed sets are kept.", show_default=False)] = None,
) -> None:
    """Learn how adaptive fusion balances its lanes, and print it in the form of search/adaptive.toml."""
    from datetime import UTC, datetime

    from platformdirs import user_cache_path

    from repertory.evaluate import tune as tuning
    from repertory.evaluate.sets import find, load
    from repertory.search.adapt import learned

    settings = _settings()
    place = cache or user_cache_path("repertory", appauthor=False) / "eval"

    async def work(folder: Path) -> list[tuning.Sample]:
        samples = []
        for one in find(folder):
            with _progress_bar(f"{one.name}: ") as progress:
                samples.append(await tuning.sample(load(one), place, settings, progress))
        return samples

    samples = asyncio.run(work(sets))
    balance = tuning.learn(samples, learned())
    judged = {"learned from": samples, **({"judged by": asyncio.run(work(check))} if check else {})}
    for name, these in judged.items():
        before, after = tuning.mean_ndcg(these, learned()), tuning.mean_ndcg(these, balance)
        err.print(f"{name} {len(these)} sets: nDCG@10 {before:.4f} before, {after:.4f} now")
    typer.echo("# How adaptive fusion balances its lanes (search/adapt.py says what these mean).")
    typer.echo(f'made_by = "repertory tune {sets.name}"\nmade_on = {datetime.now(UTC):%Y-%m-%d}\n\n[balance]')
    typer.echo(f"lean = {balance.lean:.2f}\nslope = {balance.slope:.2f}\ngrams = {balance.grams:.2f}")


def _settings(**arguments: Any) -> Settings:
    settings, _ = settings_module.load(arguments)
    _logging(settings)
    return settings


def _logging(settings: Settings) -> None:
    logging.basicConfig(stream=sys.stderr, level=settings.log_level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("httpcore2").setLevel(logging.WARNING)
    logging.getLogger("httpx2").setLevel(logging.WARNING)


def _run(work: Coroutine[Any, Any, dict[str, Any]]) -> dict[str, Any]:
    from repertory.cli.render import clean

    return dict(clean(asyncio.run(work)))


def _print_json(answer: dict[str, Any]) -> None:
    typer.echo(json.dumps(answer, ensure_ascii=False, indent=2))


@contextmanager
def _progress_bar(prefix: str = "") -> Iterator[Any]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description:<10}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    tasks: dict[str, TaskID] = {}
    with Progress(*columns, console=err, transient=True) as bar:

        def progress(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(prefix + stage, total=total)
            bar.update(tasks[stage], completed=done, total=total)

        yield progress
