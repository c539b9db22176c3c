"""How do answers look in a terminal?"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from repertory.model import Kind

COLOURS = {
    Kind.MCP_SERVER: "magenta",
    Kind.TOOL: "cyan",
    Kind.A2A_AGENT: "green",
    Kind.SKILL: "yellow",
    Kind.VIRTUAL_SERVER: "blue",
    Kind.DOCUMENT: "white",
}
INDENT = 6  # under the score
MATCHING = 5  # tools of a server that are listed
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
LEVELS = {"block": "red", "warn": "yellow", "note": "dim"}  # of findings
STATES = {"ok": "green", "new": "dim", "broken": "red"}
LABELS = {Kind.MCP_SERVER: "server", Kind.A2A_AGENT: "agent", Kind.VIRTUAL_SERVER: "virtual"}


def clean(answer: Any) -> Any:
    """The same answer without control characters: entries are written by others, and a terminal obeys escape sequences."""
    if isinstance(answer, str):
        return _CONTROL.sub("", answer)
    if isinstance(answer, dict):
        return {clean(key): clean(value) for key, value in answer.items()}
    return [clean(item) for item in answer] if isinstance(answer, list | tuple) else answer


def kind_label(kind: str) -> Text:
    """A kind as a short coloured word."""
    return Text(LABELS.get(Kind(kind), kind), style=COLOURS[Kind(kind)])


def search_results(answer: Mapping[str, Any], width: int, *, explain: bool) -> RenderableType:
    """A ranked list: a line that names each result, two that describe it, and why it is there when asked for."""
    if not answer["results"]:
        return Text("Nothing found.", style="dim")
    rows: list[RenderableType] = []
    ranked = answer["search_mode"] != "browse"
    for result in answer["results"]:
        name = Text.assemble((result["path"], "bold"), (f"  {result['anchor']}" if result["anchor"] else "", "dim"))
        head = Text.assemble(f"{result['score']:.2f}  " if ranked else " " * INDENT, kind_label(result["kind"]), "  ", name)
        if result.get("stale"):
            head.append("  its source is broken", style="yellow")
        head.truncate(width, overflow="ellipsis")
        about = textwrap.shorten(result["excerpt"] or result["description"], max(40, 2 * (width - INDENT) - 10), placeholder=" …")
        rows += [head, Padding(Text(about), (0, 0, 0, INDENT))] if about else [head]
        if explain:
            rows.append(Padding(_why(result), (0, 0, 0, INDENT)))
    for title in ("related", "next_steps"):
        rows += _relations(title.replace("_", " "), answer.get(title, ()))
    return Group(*rows)


def _why(result: Mapping[str, Any]) -> Tree:
    """F03, as a compact tree: how sure, by which lanes, through which words, with which boosts."""
    sure = "" if result["confidence"] is None else f"   confidence {result['confidence']:.2f}"
    tree = Tree(Text(f"why{sure}", style="dim"), guide_style="dim")
    for lane in result["evidence"]:
        rank = f"rank {lane['rank']}" if lane["rank"] else "scored only"
        tree.add(Text(f"{lane['lane']:<8} {rank:<11} score {lane['score']:.3f}   adds {lane['contribution']:.4f}", style="dim"))
    for boost in result["boosts"]:
        tree.add(Text(f"{'boost':<8} {boost['reason']}   times {boost['factor']:g}", style="dim"))
    if result["matched"]:
        matched = "; ".join(f"{field}: {', '.join(words)}" for field, words in result["matched"].items())
        tree.add(Text(f"{'words':<8} {matched}", style="dim"))
    for tool in result.get("matching_tools", ())[:MATCHING]:
        tree.add(Text(f"{'tool':<8} {tool['name']}   score {tool['score']:.2f}", style="dim"))
    return tree


def _relations(title: str, relations: Sequence[Mapping[str, Any]]) -> list[RenderableType]:
    if not relations:
        return []
    lines = (Text.assemble("  ", kind_label(one["kind"]), f"  {one['path']}  ", (one["reason"], "dim")) for one in relations)
    return [Text(f"\n{title}", style="dim"), *lines]


def search_footer(answer: Mapping[str, Any]) -> Text:
    """What answered, and how fast."""
    count = len(answer["results"])
    text = f"{count} result{'' if count == 1 else 's'} · {answer['search_mode']} · {answer['took_ms']:.1f} ms"
    if "lanes" in answer:
        text += " · " + ", ".join(f"{lane} {size}" for lane, size in answer["lanes"].items())
    if answer.get("anchors"):
        text += " · identifiers: " + ", ".join(answer["anchors"])
    if answer.get("withheld"):
        text += " · withheld: " + ", ".join(f"{count} {reason}" for reason, count in answer["withheld"].items())
    return Text(text, style="dim")


def diagnostics(answer: Mapping[str, Any]) -> list[Text]:
    """What the caller should know besides."""
    said = [one["message"] for one in answer.get("diagnostics", ())]
    if corrected := answer.get("corrected"):
        said.append("Searched for " + ", ".join(f"{meant!r} instead of {typed!r}" for typed, meant in corrected.items()) + ".")
    if rewritten := answer.get("rewritten"):
        said.append(f"Searched for {rewritten!r} too.")
    return [Text(f"note: {message}", style="yellow") for message in said]


def classification(answer: Mapping[str, Any]) -> RenderableType:
    """What a query is, and why."""
    what = f"{answer['type']}, {answer['complexity']}" + ("" if answer["needs_retrieval"] else ": nothing to look for")
    advice = f"--strategy {answer['strategy']} --limit {answer['limit']}"
    return Group(Text.assemble((what, "bold"), f"   {advice}"), *(Text(f"  {reason}", style="dim") for reason in answer["reasons"]))


def category_list(answer: Mapping[str, Any]) -> RenderableType:
    """The best categories, each with its best tools."""
    if not answer["categories"]:
        return Text("Nothing found.", style="dim")
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for column in ("category", "score", "best tools"):
        table.add_column(column, overflow="fold")
    for one in answer["categories"]:
        table.add_row(Text(one["name"], style="bold"), f"{one['score']:.2f}", Text(", ".join(t.partition(":")[2] for t in one["tools"])))
    return table


def entry_list(answer: Mapping[str, Any], offset: int) -> RenderableType:
    """A table of entries that fits the terminal."""
    if not answer["entries"]:
        empty = "Nothing here yet. Add something: repertory add PATH"
        return Text(f"There are only {answer['total']} entries." if answer["total"] else empty, style="dim")
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", expand=True)
    table.add_column("kind", no_wrap=True)
    table.add_column("id", ratio=1, overflow="fold")
    table.add_column("description", ratio=1, no_wrap=True, overflow="ellipsis")
    for entry in answer["entries"]:
        table.add_row(kind_label(entry["kind"]), escape(entry["id"]), Text(" ".join(entry["description"].split())))
    last = offset + len(answer["entries"])
    return Group(table, Text(f"{offset + 1}-{last} of {answer['total']}", style="dim"))


def source_list(answer: Mapping[str, Any]) -> RenderableType:
    """A table of sources that fits the terminal, and below it why some are broken."""
    if not answer["sources"]:
        return Text("Nothing here yet. Add something: repertory add PATH", style="dim")
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", expand=True)
    table.add_column("source", overflow="fold")
    table.add_column("state", no_wrap=True)
    table.add_column("entries", no_wrap=True, justify="right")
    table.add_column("last success", no_wrap=True)
    table.add_column("from", ratio=1, no_wrap=True, overflow="ellipsis")
    for source in answer["sources"]:
        state = Text(source["state"], style=STATES[source["state"]])
        when = (source["succeeded"] or "never")[:16].replace("T", " ")
        config = source["location"].removesuffix(f"#{source['name']}")  # its name is in the line already
        table.add_row(Text(source["name"]), state, str(source["entries"]), when, Text(config))
    broken = [source for source in answer["sources"] if source["error"]]
    return Group(table, *(Text.assemble(("broken  ", "red"), f"{source['name']}: {source['error']}") for source in broken))


def entry(answer: Mapping[str, Any]) -> RenderableType:
    """One entry, everything that is known of it."""
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column()
    state = answer["status"] + ("" if answer["enabled"] else ", disabled")
    for label, value in (
        ("id", answer["id"]),
        ("status", state),
        ("tags", ", ".join(answer["tags"])),
        ("modified", answer["modified"] or ""),
        ("from", answer["provenance"]),
    ):
        if value:
            facts.add_row(label, Text(value))
    parts: list[RenderableType] = [
        Text.assemble((answer["name"], "bold"), "  ", kind_label(answer["kind"])),
        Text(answer["description"]),
        Text(),
        facts,
        *findings(answer.get("findings", ())),
    ]
    parts += _neighbours(answer)
    for name, value in answer["details"].items():
        parts += _detail(name, value)
    return Group(*parts)


def _neighbours(answer: Mapping[str, Any], most: int = 12) -> list[RenderableType]:
    """Each neighbour once, as this entry sees it where both sides declare the edge."""
    found: dict[str, str] = {}
    for origin, relation, target in answer["edges"]:
        if origin == answer["id"]:
            found[target] = f"{relation} {target}"
        else:
            found.setdefault(origin, f"{origin} {relation} this")
    lines: list[RenderableType] = [Text(f"  {line}", style="dim") for line in list(found.values())[:most]]
    return [*lines, Text(f"  and {len(found) - most} more", style="dim")] if len(found) > most else lines


def _detail(name: str, value: Any) -> list[RenderableType]:
    if value in (None, "", [], {}):
        return []
    if name == "sections":
        return [part for section in value for part in (Text(" > ".join(section["path"]), style="bold dim"), Text(section["text"]), Text())]
    if isinstance(value, str) and "\n" in value:
        return [
            Text(name, style="bold dim"),
            Syntax(value, "markdown", theme="ansi_dark", background_color="default", word_wrap=True),
        ]
    if isinstance(value, dict | list):
        import yaml

        shown = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=10_000)
        return [
            Text(name, style="bold dim"),
            Syntax(shown, "yaml", theme="ansi_dark", background_color="default", word_wrap=True),
        ]
    return [Text.assemble((f"{name}  ", "dim"), str(value))]


def report(answer: Mapping[str, Any]) -> Text:
    """What an indexing run did, in one line."""
    if answer["parts"]:
        return Text("\n").join(report(part) for part in answer["parts"])
    words = [f"{answer[name]} {name}" for name in ("added", "changed", "moved", "removed", "unchanged") if answer[name]]
    note = " (dry run: nothing was written)" if answer["dry_run"] else ""
    state = "broken, " if answer["broken"] else ""
    return Text(f"{answer['source']}: {state}{', '.join(words) or 'nothing added'}{note}.")


def guarded(console: Console, answer: Mapping[str, Any]) -> None:
    """What the guard made of what came in."""
    if answer["held"]:
        console.print(Text(f"{answer['held']} held back: `repertory review` shows why.", style="red"))
    if answer["flagged"]:
        console.print(Text(f"{answer['flagged']} with findings; the worst: {answer['worst']}", style="yellow"))


def findings(listed: Sequence[Mapping[str, Any]]) -> list[Text]:
    """What the guard saw, one line each."""
    return [
        Text.assemble((f"{one['level']:<6}", LEVELS[one["level"]]), f"{one['code']} in {one['where']}: {one['excerpt']}") for one in listed
    ]


def _where(problem: Mapping[str, Any]) -> str:
    return f"{problem['file']}:{problem['line']}" if problem["line"] else str(problem["file"])


def problems(console: Console, answer: Mapping[str, Any], most: int = 20) -> None:
    """What could not be read."""
    found = [(part, problem) for part in answer["parts"] or [answer] for problem in part["problems"]]
    for part, problem in found[:most]:
        label = ("broken    ", "red") if part["broken"] else ("left out  ", "yellow")
        console.print(Text.assemble(label, f"{_where(problem)}: {problem['message']}"))
    if len(answer["problems"]) > most:
        console.print(Text(f"and {len(answer['problems']) - most} more problems", style="yellow"))
