"""Which commands measure, and learn from what they measured?

`eval` compares ways of searching, `tune` learns how lanes are balanced, `calibrate` learns what confidence means.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from repertory.cli.terminal import JsonOption, err, out, print_json, progress_bar, read_settings
from repertory.settings import EMBEDDED

app = typer.Typer()

CacheOption = Annotated[Path | None, typer.Option("--cache", help="Where the indexed sets are kept.", show_default=False)]
CheckOption = Annotated[Path | None, typer.Option("--check", help="Labelled sets to judge by, not learned from.", show_default=False)]
BESIDE = {"index": EMBEDDED, "database": ""}  # sets are not put among what a database or a Qdrant serves to people


def _place(cache: Path | None) -> Path:
    from platformdirs import user_cache_path

    return cache or user_cache_path("repertory", appauthor=False) / "eval"


@app.command("eval")
def evaluate(
    sets: Annotated[Path, typer.Argument(help="A labelled set, or a folder of them (docs/evaluation.md describes the form).")],
    strategies: Annotated[str, typer.Option("--strategies", "-s", help="Comma-separated, or all.")] = "all",
    against: Annotated[str, typer.Option("--against", help="What the marks compare with.", show_default=False)] = "",
    diff: Annotated[tuple[str, str] | None, typer.Option("--diff", metavar="A B", help="List the queries that moved most.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", metavar="FILE.png", help="Draw bars of nDCG@10.", show_default=False)] = None,
    cache: CacheOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure strategies on labelled sets: recall, MRR, nDCG, latency."""
    from repertory.cli import evaluation
    from repertory.evaluate import compare, measure
    from repertory.evaluate.sets import find, load

    settings = read_settings(**BESIDE)
    chosen = list(dict.fromkeys([*measure.ways(strategies), *measure.ways(",".join(diff) if diff else strategies)]))
    place = _place(cache)

    async def work() -> list[measure.Row]:
        rows: list[measure.Row] = []
        for folder in find(sets):
            with progress_bar(f"{folder.name}: ") as progress:
                rows += await measure.measure(load(folder), chosen, place, settings, progress)
        return rows

    rows = asyncio.run(work())
    if plot:
        evaluation.plot(rows, plot)
    if as_json:
        return print_json(evaluation.as_json(rows))
    out.print(evaluation.table(rows, against or chosen[-1]))
    if diff:
        before, after = ([row for row in rows if row.strategy == way] for way in diff)
        out.print(evaluation.moved(compare.moves(before, after, most=20), *diff))


@app.command()
def tune(
    sets: Annotated[Path, typer.Argument(help="Labelled sets to learn from.")],
    hold: Annotated[
        Path | None, typer.Option("--hold", help="Labelled sets on which no lane alone may do better.", show_default=False)
    ] = None,
    check: CheckOption = None,
    cache: CacheOption = None,
) -> None:
    """Learn how adaptive fusion balances its lanes, and print it in the form of search/adaptive.toml."""
    from repertory.evaluate import tune as tuning
    from repertory.evaluate.sets import find, load
    from repertory.search.adapt import learned

    settings = read_settings(**BESIDE)
    place = _place(cache)

    async def work(folder: Path | None, hasty: int = 0) -> list[tuning.Sample]:
        samples = []
        for one in find(folder) if folder else ():
            with progress_bar(f"{one.name}: ") as progress:
                samples.append(await tuning.sample(load(one), place, settings, progress, hasty))
        return samples

    samples, held, judges = asyncio.run(work(sets, tuning.HASTY)), asyncio.run(work(hold)), asyncio.run(work(check))
    balance = tuning.learn(samples, learned(), held)
    for name, these in (("learned from", samples), ("held on", held), ("judged by", judges)):
        if these:
            before, after = tuning.mean_ndcg(these, learned()), tuning.mean_ndcg(these, balance)
            err.print(f"{name} {len(these)} sets: nDCG@10 {before:.4f} before, {after:.4f} now")
    learning = f"{sets.name} --hold {hold.name}" if hold else sets.name
    typer.echo("# How adaptive fusion balances its lanes (search/adapt.py says what these mean).")
    typer.echo(f'made_by = "repertory tune {learning}"\nmade_on = {datetime.now(UTC):%Y-%m-%d}\n\n[balance]')
    typer.echo(f"lean = {balance.lean:.2f}\nslope = {balance.slope:.2f}\ngrams = {balance.grams:.2f}")


@app.command()
def calibrate(
    sets: Annotated[Path, typer.Argument(help="Labelled sets to learn from.")],
    offtopic: Annotated[Path, typer.Option("--offtopic", metavar="FILE.jsonl", help="Questions that nothing serves.")],
    check: CheckOption = None,
    threshold: Annotated[
        float | None, typer.Option("--threshold", min=0, max=1, help="Answers with a lower chance abstain.", show_default=False)
    ] = None,
    plot: Annotated[Path | None, typer.Option("--plot", metavar="FILE.png", help="Draw the reliability.", show_default=False)] = None,
    vectors: Annotated[
        Path | None, typer.Option("--vectors", metavar="FILE.npy", help="Write the probes' vectors.", show_default=False)
    ] = None,
    cache: CacheOption = None,
) -> None:
    """Learn what confidence means, show how far it can be trusted, and print it in the form of search/confidence.toml."""
    from repertory.cli import calibration as shown
    from repertory.evaluate import calibrate as calibrating
    from repertory.evaluate.sets import find, load
    from repertory.search.confidence import learned

    settings = read_settings(**BESIDE)
    off = calibrating.off_topic(offtopic)
    limit = learned().threshold if threshold is None else threshold

    async def work(folder: Path, queries: tuple[str, ...], most: int) -> list[calibrating.Sample]:
        samples = []
        for one in find(folder):
            with progress_bar(f"{one.name}: ") as progress:
                samples.append(await calibrating.sample(load(one), queries, off.probes, most, _place(cache), settings, progress))
        return samples

    samples = asyncio.run(work(sets, off.learn, calibrating.QUERIES))
    found = calibrating.learn(samples, limit)
    judged = asyncio.run(work(check, off.check, calibrating.EVERY)) if check else samples
    if len(samples) > 1:
        score, rates = calibrating.held_out(samples, limit)
        refused = min(rates, key=lambda rate: rate.refused)
        err.print(
            f"each set judged by what the others taught: Brier {score:.4f}; {calibrating.overall(rates):.1%} of the answerable abstain, "
            f"and of the off-topic at least {refused.refused:.0%} ({refused.set})"
        )
    err.print(shown.report(judged, found))
    if plot:
        shown.plot(judged, found, plot)
    if vectors:
        asyncio.run(calibrating.save_vectors(off.probes, settings, vectors))
    typer.echo(shown.toml(found, off.probes, f"repertory calibrate {sets.name}", f"{datetime.now(UTC):%Y-%m-%d}", judged), nl=False)
