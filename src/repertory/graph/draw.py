"""How is a graph written down?

As JSON-LD for machines, as Mermaid and DOT for pictures, as plain JSON for who draws it. Names are written by others:
what a format reads as its own is escaped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any
from urllib.parse import quote

from repertory.model import Edge

MAX_EDGES = 5000  # in one drawing: no picture of more is readable, and Mermaid stops at 500 unless told otherwise
VOCABULARY = "urn:repertory:relation:"  # a relation is this and its name
ENTRIES = "urn:repertory:"  # an entry or node is this and its id

_KEYWORD = re.compile(r"[^\w]+")


class Format(StrEnum):
    """The word for a format on every surface."""

    MERMAID = "mermaid"
    DOT = "dot"
    JSONLD = "jsonld"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class Drawing:
    """A graph, written down."""

    format: Format
    text: str
    edges: int
    cut: bool  # there are more edges than are shown

    def as_json(self) -> dict[str, Any]:
        """Plain JSON, the same on every surface."""
        return asdict(self)


def draw(edges: Iterable[Edge], format: Format, alone: Iterable[str] = ()) -> str:
    """The graph of these edges, with what stands alone, in a stable order."""
    known = sorted(set(edges))
    ends = {end for edge in known for end in (edge.origin, edge.target)}
    return _FORMATS[format](known, sorted(ends.union(alone)))


def _mermaid(edges: Sequence[Edge], ends: Sequence[str]) -> str:
    """https://mermaid.js.org/syntax/flowchart.html: ids of our own, names in quoted labels."""
    number = {end: f"n{position}" for position, end in enumerate(ends)}
    lines = ["graph LR"]
    lines += [f'    {number[end]}["{_entities(end)}"]' for end in ends]
    lines += [f'    {number[edge.origin]} -->|"{_entities(_words(edge.relation))}"| {number[edge.target]}' for edge in edges]
    return "\n".join(lines) + "\n"


def _entities(text: str) -> str:
    """Everything that Mermaid, Markdown or HTML could take for its own, as a numeric entity: a label may hold "#35;" but no "#"."""
    return "".join(character if character.isalnum() or character in " -_./:" else f"#{ord(character)};" for character in text)


def _dot(edges: Sequence[Edge], ends: Sequence[str]) -> str:
    """https://graphviz.org/doc/info/lang.html: quoted ids."""
    lines = ["digraph repertory {", "    rankdir=LR;", "    node [shape=box];"]
    lines += [f"    {_quoted(end)};" for end in ends]
    lines += [f"    {_quoted(edge.origin)} -> {_quoted(edge.target)} [label={_quoted(_words(edge.relation))}];" for edge in edges]
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    plain = "".join(character if character.isprintable() else " " for character in text)
    escaped = plain.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _jsonld(edges: Sequence[Edge], ends: Sequence[str]) -> str:
    """https://www.w3.org/TR/json-ld11/: one node object per end; every relation is a property whose values are ids."""
    terms = {relation: _term(relation) for relation in sorted({edge.relation for edge in edges})}
    context: dict[str, Any] = {"label": "http://www.w3.org/2000/01/rdf-schema#label"}
    context |= {term: {"@id": VOCABULARY + term, "@type": "@id", "@container": "@set"} for term in terms.values()}
    nodes: dict[str, dict[str, Any]] = {end: {"@id": _iri(end), "@type": _type(end), "label": end} for end in ends}
    for edge in edges:
        nodes[edge.origin].setdefault(terms[edge.relation], []).append(_iri(edge.target))
    return json.dumps({"@context": context, "@graph": list(nodes.values())}, ensure_ascii=False, indent=2) + "\n"


def _json(edges: Sequence[Edge], ends: Sequence[str]) -> str:
    """Nodes with what their ids say of them, and edges."""
    nodes = [{"id": end, "kind": end.partition(":")[0], "name": end.partition(":")[2]} for end in ends]
    return json.dumps({"nodes": nodes, "edges": [edge._asdict() for edge in edges]}, ensure_ascii=False) + "\n"


def _term(relation: str) -> str:
    """A relation as a JSON-LD term: no keyword, no IRI, and not the one that we use ourselves."""
    term = _KEYWORD.sub("_", relation).strip("_") or "related"
    return f"{term}_" if term == "label" else term


def _iri(end: str) -> str:
    return ENTRIES + quote(end, safe=":/-._~")


def _type(end: str) -> str:
    """What the id says it is: urn:repertory:type:tool."""
    return f"{ENTRIES}type:{quote(end.partition(':')[0], safe='')}"


def _words(relation: str) -> str:
    return relation.replace("_", " ")


_FORMATS: dict[Format, Callable[[Sequence[Edge], Sequence[str]], str]] = {
    Format.MERMAID: _mermaid,
    Format.DOT: _dot,
    Format.JSONLD: _jsonld,
    Format.JSON: _json,
}
