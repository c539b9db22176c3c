"""Which texts of an entry may a model read?

Everything that reaches a prompt: the name, the title, the description, and every string inside the schemas, annotations, instructions and
skills, names of parameters included. Bounded: a stranger decides how much there is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from repertory.model import Entity, Kind

MAX_CHARACTERS = 100_000  # of one entry; the longest honest one we know has 30,000
MAX_NODES = 5_000  # values inside its details
MAX_DEPTH = 40

# Not read by a model as this entry's own words: what a server offers is an entry each, a file's sections are content, not a description.
_ELSEWHERE = frozenset({"tools", "sections", "body", "server", "index"})
_UNREAD = frozenset({"type", "$schema", "$ref", "format", "pattern", "required"})  # keywords of schemas whose values are no prose


class Text(NamedTuple):
    """One text of an entry."""

    where: str
    text: str
    is_name: bool = False  # an identifier, which has no reason to hold anything unusual


def texts_of(entity: Entity) -> tuple[list[Text], bool]:
    """The texts of an entry, and whether there was more than is looked at."""
    found: list[Text] = []
    left = MAX_CHARACTERS
    for text in _every(entity):
        found.append(text if len(text.text) <= left else text._replace(text=text.text[:left]))
        left -= len(text.text)
        if left < 0 or len(found) > MAX_NODES:
            return found, True
    return found, False


def _every(entity: Entity) -> Iterator[Text]:
    yield Text("name", entity.name, is_name=entity.kind is Kind.TOOL)
    yield Text("description", entity.description)
    if entity.tags:
        yield Text("tags", " ".join(entity.tags))
    for key, value in entity.details.items():
        if key not in _ELSEWHERE:
            yield from _inside(value, key, 0)
    if entity.metadata:
        yield from _inside(entity.metadata, "metadata", 0)


def _inside(value: Any, where: str, depth: int) -> Iterator[Text]:
    if isinstance(value, str):
        if value:
            yield Text(where, value)
    elif isinstance(value, Mapping):
        named = where.endswith("properties")  # the keys are names that a model has to write
        for key, inner in value.items() if depth < MAX_DEPTH else ():
            if named:
                yield Text(f"{where}.{key}", str(key), is_name=True)
            if named or key not in _UNREAD or isinstance(inner, Mapping):
                yield from _inside(inner, f"{where}.{key}", depth + 1)
    elif isinstance(value, list | tuple) and depth < MAX_DEPTH:
        for position, inner in enumerate(value):
            yield from _inside(inner, f"{where}.{position}", depth + 1)
