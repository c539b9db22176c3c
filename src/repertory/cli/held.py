"""How does what is held back look in a terminal?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from repertory.cli.render import findings
from repertory.guard.hidden import visible

STYLES = {"same": "", "removed": "red strike", "added": "green"}
KEPT = 60  # characters of what stayed the same around a change
REASONS = {
    "changed": "changed since it was accepted",
    "new": "new, and nobody has approved it yet",
    "rejected": "rejected; it stays out until it changes",
}


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
