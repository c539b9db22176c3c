"""Which tools does a virtual server put together?

A YAML or JSON file: `virtual_server: {name, description, tags, tools: [{from: server/tool, alias, description, scopes}]}`. A tool is
offered under its alias and with its new description, where it has them; where it comes from and which scopes it needs are kept, and never
searched (A02).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from repertory.model import Entity, Kind, Link
from repertory.sources import attributes
from repertory.sources.attributes import Invalid, Visibility
from repertory.sources.base import Problem
from repertory.sources.content import Unreadable, glimpse, storable
from repertory.sources.values import SUFFIXES, Loading, Parsed

KEY = "virtual_server"
COMPOSES = "composes"  # the relation of a virtual server to the tools that it offers


class VirtualServerReader:
    """Reads virtual servers."""

    def __init__(self) -> None:
        self._loading = Loading()

    def recognises(self, file: Path) -> bool:
        """By its one key. A file that cannot be parsed counts if it has the word."""
        if file.suffix.lower() not in SUFFIXES or KEY not in glimpse(file):
            return False
        try:
            value = self._loading.look(file).value
        except Unreadable:
            return True
        return isinstance(value, dict) and KEY in value

    def read(self, file: Path, root: Path, namespace: str) -> Iterator[Entity | Problem]:
        """The server, and a problem for each of its tools that is wrong."""
        where = storable(str(file))
        try:
            parsed = self._loading.take(file)
        except Unreadable as error:
            yield error.problem(file)
            return
        yield from virtual_server(parsed, where, str(file.absolute()))


def virtual_server(parsed: Parsed, where: str, provenance: str) -> Iterator[Entity | Problem]:
    """The virtual server of a definition, and a problem for each of its tools that is wrong."""
    entry = parsed.value.get(KEY) if isinstance(parsed.value, dict) else None
    try:
        if not isinstance(entry, dict) or not isinstance(entry.get("tools"), list):
            raise Invalid("", f"expected {KEY} with a name and a list of tools")
        tools, problems = _tools(entry["tools"], where, parsed)
        yield from problems
        yield _server(entry, tools, provenance)
    except Invalid as error:
        yield Problem(where, f"{KEY}: {error}", parsed.line(KEY, error.key))


def _server(entry: dict[str, Any], tools: list[dict[str, Any]], provenance: str) -> Entity:
    name = attributes.name(entry)
    return Entity(
        kind=Kind.VIRTUAL_SERVER,
        path=name,
        name=name,
        description=attributes.text(entry, "description"),
        tags=attributes.tags(entry),
        metadata=attributes.table(entry, "metadata"),
        details={"tools": tools},
        links=tuple(Link(f"{Kind.TOOL.prefix}:{tool['from']}", COMPOSES) for tool in tools),
        provenance=provenance,
        **attributes.visibility(entry, Visibility())._asdict(),
    )


def _tools(entries: list[Any], where: str, parsed: Parsed) -> tuple[list[dict[str, Any]], list[Problem]]:
    tools: dict[str, dict[str, Any]] = {}
    problems: list[Problem] = []
    for number, entry in enumerate(entries):
        try:
            tool = _tool(entry)
            if tool["name"] in tools:
                raise Invalid("alias", f"{tool['name']!r} is already the name of {tools[tool['name']]['from']}; give one an alias")
            tools[tool["name"]] = tool
        except Invalid as error:
            problems.append(Problem(where, f"tools[{number}]: {error}", parsed.line(KEY, "tools", number, error.key)))
    return list(tools.values()), problems


def _tool(entry: Any) -> dict[str, Any]:
    """A tool by the name under which it is offered."""
    if not isinstance(entry, dict):
        raise Invalid("", f"it must be an object with from, not {attributes.shown(entry)}")
    origin = attributes.name(entry, "from")
    server, _, name = origin.rpartition("/")
    if not server or not name:
        raise Invalid("from", f"from must be server/tool, not {attributes.shown(origin)}")
    told = {
        "name": attributes.name(entry, "alias") if entry.get("alias") is not None else name,
        "description": attributes.text(entry, "description"),
        "from": origin,
        "scopes": attributes.texts(entry, "scopes"),
    }
    return {key: value for key, value in told.items() if value}
