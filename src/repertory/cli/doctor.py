"""Is everything well, and where does each setting come from?"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from typing import Any

from pydantic import SecretStr
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

import repertory
from repertory.cli.session import session
from repertory.errors import EmbedderError, IndexUnavailable, RepertoryError
from repertory.settings import Settings


async def examine(settings: Settings, origins: Mapping[str, str], *, repair: bool = False) -> dict[str, Any]:
    """Everything a person would want to know before asking for help; on request, with the index built anew first."""
    shown = {name: {"value": _shown(getattr(settings, name)), "origin": origins[name]} for name in Settings.model_fields}
    checks: list[dict[str, Any]] = []
    try:
        async with session(settings) as asked:
            if repair:
                await asked.rebuild()
            status = await asked.status()
        held = f"{status['documents']} documents, revision {status['revision']}"
        checks.append({"check": "catalog", "ok": True, "message": held})
        differences = status["differences"]
        message = (
            "equals the catalog" if not differences else f"{len(differences)} differences, e.g. {differences[0]}; repair it with --repair"
        )
        checks.append({"check": "index", "ok": not differences, "message": message})
        checks.append({"check": "vectors", "ok": not status["waiting"], "message": _vectors(status)})
    except RepertoryError as error:
        status = {"sources": []}
        about = "index" if isinstance(error, IndexUnavailable) else "catalog"
        checks.append({"check": about, "ok": False, "message": str(error)})
    checks.append(await _check_model(settings))
    return {
        "version": repertory.__version__,
        "python": platform.python_version(),
        "healthy": all(check["ok"] for check in checks),
        "checks": checks,
        "sources": status["sources"],
        "settings": shown,
    }


def _vectors(status: Mapping[str, Any]) -> str:
    """C07: the model that answers, and the one that is on its way."""
    waiting, changing = status["waiting"], status["changing"]
    if changing:
        return f"{changing['from']} answers until {waiting} of {changing['texts']} texts have vectors of {changing['to']}, too"
    if waiting:
        return f"{waiting} texts wait for a vector of {status['model']}"
    return f"complete, of {status['model']}" if status["model"] else "none"


async def _check_model(settings: Settings) -> dict[str, Any]:
    from repertory.embedders.choose import make_embedder, verify

    embedder = None
    try:
        embedder = make_embedder(settings)
        if embedder is None:
            return {"check": "model", "ok": True, "message": "none: words alone"}
        await verify(settings)
        embedded = await embedder.embed_query("Is everything well?")
        return {
            "check": "model",
            "ok": True,
            "message": f"{embedder.model} answers, {embedded.vectors.shape[1]} dimensions",
        }
    except EmbedderError as error:
        return {"check": "model", "ok": False, "message": str(error)}
    finally:
        if embedder is not None:
            await embedder.close()


def _shown(value: object) -> str:
    if isinstance(value, SecretStr):
        return "(set)"
    return "" if value is None else str(value)


def render_findings(findings: Mapping[str, Any]) -> RenderableType:
    """The findings as tables."""
    checks = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for check in findings["checks"]:
        mark = Text("ok", style="green") if check["ok"] else Text("problem", style="red")
        checks.add_row(mark, check["check"], Text(check["message"]))
    parts: list[RenderableType] = [
        Text(f"Repertory {findings['version']} on Python {findings['python']}", style="bold"),
        checks,
    ]
    if findings["sources"]:
        sources = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
        for column in ("source", "state", "entries", "problems", "read", "location"):
            sources.add_column(column, overflow="fold")
        for source in findings["sources"]:
            sources.add_row(
                Text(source["name"]),
                source["state"],
                str(source["entries"]),
                str(source["problems"]),
                source["succeeded"],
                Text(source["location"]),
            )
        parts += [Text(), sources]
    settings = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for column in ("setting", "value", "from"):
        settings.add_column(column, overflow="fold")
    for name, setting in findings["settings"].items():
        settings.add_row(name, Text(setting["value"]), Text(setting["origin"], style="dim" if setting["origin"] == "default" else ""))
    return Group(*parts, Text(), settings)
