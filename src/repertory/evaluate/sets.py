"""How does a labelled set become a catalog?

A set is a folder with `corpus.jsonl` ({id, type, name, description, server, tags, text}) and `queries.jsonl` ({qid, query, relevant,
grades?, exclude?}); `meta.json` may name its category. docs/evaluation.md describes the format.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repertory.errors import SourceError
from repertory.model import Entity, Kind

KINDS = {"tool": Kind.TOOL, "server": Kind.MCP_SERVER, "skill": Kind.SKILL, "agent": Kind.A2A_AGENT, "doc": Kind.DOCUMENT}


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
    entities = [_entity(row) for row in _rows(folder / "corpus.jsonl")]
    return LabelledSet(folder.name, category, entities, [_query(row) for row in _rows(folder / "queries.jsonl")])


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    try:
        with file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    yield json.loads(line)
                except ValueError as error:
                    raise SourceError(f"{file}:{number}: not JSON ({error}).") from None
    except OSError as error:
        raise SourceError(f"{file} cannot be read: {error.strerror}.") from None


def _query(row: dict[str, Any]) -> LabelledQuery:
    grades = row.get("grades") or {}
    relevant = {str(entry): int(grades.get(entry, 1)) for entry in row["relevant"]}
    return LabelledQuery(str(row["qid"]), row["query"], relevant, frozenset(row.get("exclude") or ()))


def _entity(row: dict[str, Any]) -> Entity:
    """The path is the row's id, so that a result leads back to its label."""
    kind = KINDS[row["type"]]
    name, description = row["name"], row.get("description") or ""
    body = row["text"].removeprefix(name).strip()
    rest = body.removeprefix(description).strip()
    details: dict[str, Any] = {}
    if kind is Kind.TOOL:
        details = {"server": row.get("server") or "", "input_schema": {"properties": _parameters(rest)}}
    elif kind is Kind.DOCUMENT:
        details = {"sections": [{"path": [], "text": body}]}
    elif kind is Kind.SKILL:
        details = {"body": rest}
    elif rest:
        details = {("tools" if kind is Kind.MCP_SERVER else "skills"): [{"name": "", "description": line} for line in rest.splitlines()]}
    return Entity(kind, row["id"], name, description, tuple(row.get("tags") or ()), details=details, provenance="labelled set")


def _parameters(rest: str) -> dict[str, Any]:
    """Lines of "name: description", as tools' texts have them."""
    pairs = (line.partition(":") for line in rest.splitlines())
    return {name.strip(): {"description": about.strip()} for name, _, about in pairs}
