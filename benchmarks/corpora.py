"""How does a labelled set become a catalog?

A set is a folder with `corpus.jsonl` ({id, type, name, description, server, tags, text}) and `queries.jsonl` ({qid, query, relevant,
grades?, exclude?}).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repertory.model import Entity, Kind

KINDS = {"tool": Kind.TOOL, "server": Kind.MCP_SERVER, "skill": Kind.SKILL, "agent": Kind.A2A_AGENT, "doc": Kind.DOCUMENT}


@dataclass(frozen=True, slots=True)
class LabelledSet:
    """Entries and the queries whose answers are known."""

    name: str
    entities: list[Entity]
    queries: list[dict[str, Any]]


def load(folder: Path) -> LabelledSet:
    """Read a set."""
    return LabelledSet(folder.name, [_entity(row) for row in _rows(folder / "corpus.jsonl")], list(_rows(folder / "queries.jsonl")))


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def _entity(row: dict[str, Any]) -> Entity:
    """The path is the row's id, so that a result leads back to its label."""
    kind = KINDS[row["type"]]
    name, text = row["name"], row["text"]
    body = text.removeprefix(name).strip()
    description = row.get("description") or ""
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
    tags = tuple(row.get("tags") or ())
    return Entity(kind, row["id"], name, description, tags, details=details, provenance="labelled set")


def _parameters(rest: str) -> dict[str, Any]:
    found = {}
    for line in rest.splitlines():
        name, _, about = line.partition(":")
        found[name.strip()] = {"description": about.strip()}
    return found
