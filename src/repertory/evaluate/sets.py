"""How does a labelled set become a catalog?

A set is a folder with `corpus.jsonl` ({id, type, name, description, server, tags, text}) and `queries.jsonl` ({qid, query, relevant,
grades?, exclude?}); `meta.json` may name its category. docs/evaluation.md describes the format.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from repertory.errors import SourceError
from repertory.model import Entity, Kind
from repertory.sources.markdown import MarkdownReader

KINDS = {"tool": Kind.TOOL, "server": Kind.MCP_SERVER, "skill": Kind.SKILL, "agent": Kind.A2A_AGENT, "doc": Kind.DOCUMENT}
ROOT = Path("/")  # documents are read as if they were files here, by their ids
PROVENANCE = "labelled set"

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class LabelledQuery:
    """A question whose answers are known. Nothing relevant: the right answer is none."""

    id: str
    text: str
    grades: dict[str, int]  # how relevant each answer is
    exclude: frozenset[str]  # left out of this query's ranking


@dataclass(frozen=True, slots=True)
class LabelledSet:
    """Entries and the queries whose answers are known."""

    name: str
    category: str
    entities: list[Entity]
    queries: list[LabelledQuery]


def find(folder: Path) -> list[Path]:
    """The sets in a folder: itself, or those inside it."""
    if not folder.is_dir():
        raise SourceError(f"There is no folder {folder}.")
    found = [folder] if (folder / "corpus.jsonl").is_file() else sorted(file.parent for file in folder.glob("*/corpus.jsonl"))
    if not found:
        raise SourceError(f"No labelled set in {folder}: a set is a folder with corpus.jsonl and queries.jsonl.")
    return found


def load(folder: Path) -> LabelledSet:
    """Read a set."""
    meta = folder / "meta.json"
    category = json.loads(meta.read_text("utf-8")).get("category", "") if meta.is_file() else ""
    entities = list(_entities(list(_rows(folder / "corpus.jsonl"))))
    return LabelledSet(folder.name, category, entities, [_query(row) for row in _rows(folder / "queries.jsonl")])


def _rows(file: Path) -> Iterator[Row]:
    try:
        with file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    yield json.loads(line)
                except ValueError as error:
                    raise SourceError(f"{file}:{number}: not JSON ({error}).") from None
    except OSError as error:
        raise SourceError(f"{file} cannot be read: {error.strerror}.") from None


def _query(row: Row) -> LabelledQuery:
    grades = row.get("grades") or {}
    relevant = {str(entry): int(grades.get(entry, 1)) for entry in row["relevant"]}
    return LabelledQuery(str(row["qid"]), row["query"], relevant, frozenset(row.get("exclude") or ()))


def _entities(rows: Sequence[Row]) -> Iterator[Entity]:
    """The path is the row's id, so that a result leads back to its label."""
    pages = {_page(row): row for row in rows if KINDS[row["type"]] is Kind.DOCUMENT}
    reader = MarkdownReader(list(pages))
    for row in rows:
        kind = KINDS[row["type"]]
        if kind is Kind.DOCUMENT:
            yield _document(row, reader, pages)
        else:
            description, tags = _description(row), tuple(row.get("tags") or ())
            details = _DETAILS[kind](row, _body(row).removeprefix(description).strip())
            yield Entity(kind, row["id"], row["name"], description, tags, details=details, provenance=PROVENANCE)


def _description(row: Row) -> str:
    return (row.get("description") or "").strip()


def _body(row: Row) -> str:
    """What the text says besides the name."""
    return str(row["text"]).removeprefix(row["name"]).strip()


def _page(row: Row) -> Path:
    return ROOT / f"{row['id']}.md"


def _document(row: Row, reader: MarkdownReader, pages: Mapping[Path, Row]) -> Entity:
    """A file, as the Markdown reader cuts it (B02); name, tags and aliases are the row's own."""
    (read,) = (item for item in reader.parse(_body(row), _page(row), ROOT, "") if isinstance(item, Entity))
    ids = (
        {f"{Kind.DOCUMENT.prefix}:{page.relative_to(ROOT).as_posix()}": other["id"] for page, other in pages.items()} if read.links else {}
    )
    return replace(
        read,
        path=row["id"],
        name=row["name"],
        description=_description(row) or read.description,
        tags=tuple(dict.fromkeys((*(row.get("tags") or ()), *read.tags))),
        details={**read.details, "title": row["name"], "aliases": row.get("aliases") or []},
        links=tuple(link._replace(target=f"{Kind.DOCUMENT.prefix}:{ids[link.target]}") for link in read.links),
        modified=None,
        provenance=PROVENANCE,
    )


def _tool(row: Row, rest: str) -> dict[str, Any]:
    return {"server": row.get("server") or "", "input_schema": {"properties": _parameters(rest)}}


def _parameters(rest: str) -> dict[str, Any]:
    """Lines of "name: description", as tools' texts have them."""
    pairs = (line.partition(":") for line in rest.splitlines())
    return {name.strip(): {"description": about.strip()} for name, _, about in pairs}


def _server(row: Row, rest: str) -> dict[str, Any]:
    """A title may stand before the description."""
    title, found, offered = rest.partition(_description(row))
    return {"title": title.strip(), "tools": _offers(offered)} if title and found else {"tools": _offers(rest)}


def _offers(rest: str) -> list[dict[str, str]]:
    """The same, as texts of servers and agents tell what they offer."""
    pairs = (line.partition(": ") for line in rest.splitlines() if line.strip())
    return [{"name": name.strip(), "description": about.strip()} for name, _, about in pairs]


_DETAILS: Mapping[Kind, Callable[[Row, str], dict[str, Any]]] = {
    Kind.TOOL: _tool,
    Kind.SKILL: lambda _, rest: {"body": rest},
    Kind.MCP_SERVER: _server,
    Kind.A2A_AGENT: lambda row, rest: {"skills": row.get("skills") or _offers(rest)},
}
