"""How does a terminal write a catalog down, to be used elsewhere?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from repertory.cli.terminal import CatalogOption, ask, err
from repertory.errors import InvalidRequest

app = typer.Typer()


@app.command()
def export(
    directory: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="Where to write a bundle: the catalog and all that answers for it.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the tools alone, with their texts and vectors, as JSON.")
    ] = None,
    with_keys: Annotated[bool, typer.Option("--with-keys", help="API keys (as hashes) and the audit log go along, too.")] = False,
    wheels: Annotated[
        bool, typer.Option("--wheels/--no-wheels", help="Whether all that the program needs goes along, so that no network is needed.")
    ] = True,
    catalog: CatalogOption = None,
) -> None:
    """Write a directory that serves the same answers anywhere, offline: `make serve` starts it. Or write the tools as one JSON file.

    `repertory add` reads both again.
    """
    if directory is not None and directory.suffix.lower() == ".json" and file is None:
        directory, file = None, directory
    if (directory is None) == (file is None):
        raise InvalidRequest("Say where to: `repertory export DIR` writes a bundle, `repertory export --json FILE` the tools alone.")
    if file is not None:
        return _export_tools(file, catalog)
    where = str(directory.expanduser().absolute()) if directory else ""  # the process that serves may stand elsewhere
    answer = ask(catalog, lambda asked: asked.bundle(where, with_keys, wheels))
    count = sum(answer["entries"].values())
    err.print(f"{count} entries written to {where}. `make serve` there serves them.", markup=False, highlight=False, soft_wrap=True)
    if answer["missing"]:
        names = ", ".join(answer["missing"])
        err.print(f"[yellow]note:[/] the first start needs a package index, because these wheels are not there: {names}", soft_wrap=True)
    if answer["live"]:
        names = ", ".join(answer["live"])
        err.print(f"[yellow]note:[/] the config of live servers holds commands and credentials and stays here: {names}", soft_wrap=True)


def _export_tools(file: Path, catalog: Path | None) -> None:
    answer = ask(catalog, lambda asked: asked.export(), cleaned=False)  # what goes in again must be what came out
    unfinished = file.with_name(f"{file.name}.part")
    try:
        unfinished.write_text(json.dumps(answer, ensure_ascii=False), encoding="utf-8")
        unfinished.replace(file)
    except OSError as error:
        raise InvalidRequest(f"{file} cannot be written: {error.strerror}.") from error
    err.print(f"{len(answer['tools'])} tools written to", str(file), markup=False, highlight=False, soft_wrap=True)
