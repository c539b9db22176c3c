"""Which entries does a definition describe?

What is registered by a program goes through the readers of files: a server with its tools as in a tool file or a server.json, an agent by
its card, a skill or a document by its Markdown, a virtual server by its definition. What they refuse in a file they refuse here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from repertory.model import Entity, Kind
from repertory.sources import a2a, attributes, registry, skills, toolshape, virtual
from repertory.sources.attributes import Invalid, Visibility
from repertory.sources.base import Gone, Problem
from repertory.sources.markdown import MarkdownReader
from repertory.sources.toolfile import Listing
from repertory.sources.toolshape import Contents
from repertory.sources.values import Parsed, plain

WHERE = "the definition"  # in messages, where a file would be named
TEXT = "markdown"  # the key of a skill or document that comes as text
_COMMON = ("tags", "metadata", "status", "enabled", "audience", "groups", "scopes")  # what every kind may say of itself

Items = Iterator[Entity | Problem | Gone]


def read(kind: Kind, definition: Mapping[str, Any]) -> list[Entity]:
    """The entry first, then what comes with it: a server's tools. Raises `Invalid` with everything that is wrong."""
    value = plain(dict(definition))
    items = list(_READERS[kind](value))
    wrong = [item.message for item in items if isinstance(item, Problem)]
    found = [item for item in items if isinstance(item, Entity)]
    if wrong or not found or found[0].kind is not kind:
        raise Invalid("definition", "; ".join(wrong) or f"it describes no {kind.value}")
    return [_as_it_says(found[0], value), *found[1:]]


def _as_it_says(entity: Entity, value: Mapping[str, Any]) -> Entity:
    """Tags, metadata and who may find it, where the format itself has no place for them."""
    told: dict[str, Any] = {}
    if "tags" in value:
        told["tags"] = attributes.tags(value)
    if "metadata" in value:
        told["metadata"] = attributes.table(value, "metadata")
    if any(key in value for key in _COMMON[2:]):
        told |= attributes.visibility(value, Visibility())._asdict()
    return replace(entity, **told)


def _server(value: dict[str, Any]) -> Items:
    bare = {key: item for key, item in value.items() if key not in _COMMON}  # these words are ours: a registry has fewer statuses
    if "tools" not in value and (records := registry.records(bare)) is not None:
        yield from registry.servers(records, WHERE, lambda _: "")
        return
    contents = toolshape.contents(value) if "server" in value else None
    if contents is None:
        tools = value.get("tools")
        if tools is not None and not isinstance(tools, list):
            raise Invalid("tools", f"tools must be a list, not {attributes.shown(tools)}")
        contents = Contents(tools or [], server={key: item for key, item in value.items() if key != "tools"})
    yield from Listing(contents, "", WHERE, "").entities()


def _tool(value: dict[str, Any]) -> Items:
    yield from Listing(Contents([value], at=None), "", WHERE, "").entities()


def _agent(value: dict[str, Any]) -> Items:
    yield from a2a.agent(_parsed(value), WHERE, "")


def _skill(value: dict[str, Any]) -> Items:
    if isinstance(text := value.get(TEXT), str):
        yield from skills.skill(text, None, WHERE, "")
    else:
        yield from skills.described(_parsed(value), str(value.get("body") or ""), None, WHERE, "")


def _virtual(value: dict[str, Any]) -> Items:
    yield from virtual.virtual_server(_parsed(value if virtual.KEY in value else {virtual.KEY: value}), WHERE, "")


def _document(value: dict[str, Any]) -> Items:
    text, path = value.get(TEXT), attributes.name(value, "path") if "path" in value else attributes.name(value)
    if not isinstance(text, str) or not text.strip():
        raise Invalid(TEXT, f"a document comes as {TEXT}: its whole text")
    root = Path("/")  # nothing is read from there: a document of its own has no neighbours that its links could mean
    if ".." in Path(path).parts or path.startswith("/"):
        raise Invalid("path", f"path must be relative, without .., not {attributes.shown(path)}")
    for item in MarkdownReader(listed=()).parse(text, root / path, root, ""):
        named = isinstance(item, Entity) and "name" in value
        yield replace(item, name=attributes.name(value)) if named and isinstance(item, Entity) else item


def _parsed(value: dict[str, Any]) -> Parsed:
    return Parsed(value, json.dumps(value))


_READERS: Mapping[Kind, Callable[[dict[str, Any]], Items]] = {
    Kind.MCP_SERVER: _server,
    Kind.TOOL: _tool,
    Kind.A2A_AGENT: _agent,
    Kind.SKILL: _skill,
    Kind.VIRTUAL_SERVER: _virtual,
    Kind.DOCUMENT: _document,
}
