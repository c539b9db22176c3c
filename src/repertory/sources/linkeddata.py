"""Which edges does a Markdown-LD file state?

E03: a fence marked `json-ld` holds an object, a list of them, or `{"@graph": [...]}`. Every property whose value is `{"@id": ...}`, or a
list with such values, is an edge from the object's own `@id` to that one. An id is an entry's (`tool:mail/send`), a page of the same
folder, or empty for the file itself. What leads out of the catalog (https:...) and plain values say nothing here, and contexts are not
resolved: an edge is called what its property is called, without prefix or address.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from repertory.model import Edge, Kind
from repertory.sources import attributes
from repertory.sources.content import Unreadable
from repertory.sources.sections import Block, Section
from repertory.sources.values import parse_json

MAX_STATEMENTS = 10_000  # of one block
MAX_RELATION = 64  # characters

_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})[ \t]*(?:json-?ld|application/ld\+json)\b[^\n]*\n", re.IGNORECASE)
_ADDRESS = re.compile(r"_:|[A-Za-z][A-Za-z0-9+.-]*:")  # a blank node or a scheme
_RELATION = re.compile(r"[^:/#]+\Z")  # what remains of "schema:isPartOf" and "https://schema.org/isPartOf"

_PREFIXES = frozenset(kind.prefix for kind in Kind)

Resolve = Callable[[str], str | None]  # the entry that an id means


def read(outline: Iterable[Section], text: str, resolve: Resolve) -> tuple[list[Edge], list[Unreadable]]:
    """The edges of every JSON-LD fence of a file, and what is wrong with those that have none to give. `resolve` knows the pages."""
    found: dict[Edge, None] = {}
    problems: list[Unreadable] = []
    for block in (block for section in outline for block in section.blocks if block.is_code and _FENCE.match(block.text)):
        try:
            found |= dict.fromkeys(_statements(block, resolve))
        except Unreadable as error:
            line = text[: text.find(block.text)].count("\n") + (error.line or 1)
            problems.append(Unreadable(f"the JSON-LD block {error}", line))
    return list(found), problems


def is_id(name: str) -> bool:
    """Whether a name is the id of an entry: "tool:calendar/create_event"."""
    prefix, _, path = name.partition(":")
    return bool(path) and prefix in _PREFIXES


def _statements(block: Block, resolve: Resolve) -> list[Edge]:
    """The edges of one fence; lines are counted from the fence."""
    lines = block.text.rstrip().split("\n")
    try:
        value = parse_json("\n".join(lines[1:-1] if lines[-1].strip().startswith(("```", "~~~")) else lines[1:])).value
    except Unreadable as error:
        raise Unreadable(str(error), None if error.line is None else error.line + 1) from error
    found = list(dict.fromkeys(_edges(value, "", resolve)))
    if len(found) > MAX_STATEMENTS:
        raise Unreadable(f"states {len(found)} edges; at most {MAX_STATEMENTS} are read from one block, split it")
    return found


def _edges(value: Any, above: str, resolve: Resolve) -> Iterator[Edge]:
    """`above` is the id of an object without one of its own: the file's."""
    if isinstance(value, list):
        for item in value:
            yield from _edges(item, above, resolve)
        return
    if not isinstance(value, dict):
        raise Unreadable(f"must hold objects with an @id, not {attributes.shown(value)}")
    name = value.get("@id", above)
    if not isinstance(name, str):
        raise Unreadable(f"has an @id that is no text: {attributes.shown(name)}")
    origin = _entry(name, resolve)
    for key, told in value.items():
        if key == "@graph":
            yield from _edges(told, above, resolve)
        elif not key.startswith("@"):
            for item in told if isinstance(told, list) else [told]:
                if isinstance(item, dict) and "@id" in item:
                    yield from _edges(item, name, resolve)  # it may say more of itself
                    target = _entry(item["@id"], resolve)
                    if origin is not None and target is not None and origin != target:
                        yield Edge(origin, _relation(key), target)


def _entry(name: str, resolve: Resolve) -> str | None:
    """The entry of an id; None where it leads out of the catalog. An entry that comes in later, or never, does no harm."""
    if is_id(name):
        return name
    if _ADDRESS.match(name):
        return None
    found = resolve(name)
    if found is None:
        raise Unreadable(f"names {attributes.shown(name)}, and there is no such page; use an entry's id or a page's path")
    return found


def _relation(key: str) -> str:
    found = _RELATION.search(key)
    if found is None or len(found[0]) > MAX_RELATION:
        raise Unreadable(f"has a property {attributes.shown(key)} that names no relation; at most {MAX_RELATION} characters are one")
    return found[0]
