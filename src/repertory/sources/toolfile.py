"""Which servers and tools does a tool file list?

A file becomes a server entity, if it describes one, and an entity for each tool. Its shapes are told in `toolshape`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from repertory.model import Bucket, Entity, Kind, Link, Status
from repertory.model.offer import access_of
from repertory.sources import attributes, toolshape
from repertory.sources.attributes import Invalid, Visibility
from repertory.sources.base import Problem
from repertory.sources.content import Unreadable, glimpse, storable
from repertory.sources.registry import kept
from repertory.sources.toolshape import Contents
from repertory.sources.values import SUFFIXES, Loading, Step

PART_OF = "part_of"  # the relation of a tool to its server


class ToolFileReader:
    """Reads tool files."""

    def __init__(self) -> None:
        self._loading = Loading()

    def recognises(self, file: Path) -> bool:
        """By its shape. A file that cannot be parsed counts if it names tools: then `read` says what is wrong."""
        if file.suffix.lower() not in SUFFIXES:
            return False
        head = glimpse(file)
        if not toolshape.may_hold_tools(head):
            return False
        try:
            return toolshape.contents(self._loading.look(file).value) is not None
        except Unreadable:
            return toolshape.names_tools(head)

    def read(self, file: Path, root: Path, namespace: str) -> Iterator[Entity | Problem]:
        """The server first, then its tools.

        A server that is wrong keeps its tools out: they would be found under another name, and by others than its
        audience.
        """
        try:
            parsed = self._loading.take(file)
        except Unreadable as error:
            yield error.problem(file)
            return
        contents = toolshape.contents(parsed.value)
        if contents is None:
            yield Problem(storable(str(file)), "holds no tools; expected {server, tools}, {tools}, an array, or one tool")
            return
        yield from Listing(contents, str(file.absolute()), storable(str(file)), namespace, parsed.line).entities()


def _nowhere(*_steps: Step) -> int | None:
    return None


class Listing:
    """A server and its tools as they were written down, or as a running server told them: both give the same entities.

    `where` is what problems name; `line` finds the line of a value, where there are lines.
    """

    def __init__(
        self, contents: Contents, provenance: str, where: str, namespace: str = "", line: Callable[..., int | None] = _nowhere
    ) -> None:
        self._contents = contents
        self._provenance = provenance
        self._where = where
        self._namespace = namespace
        self._line = line
        self._problems: list[Problem] = []

    def entities(self) -> Iterator[Entity | Problem]:
        """The server, where there is one, its tools, and what was wrong."""
        server = None
        if self._contents.server is not None:
            try:
                server = self._server(self._contents.server)
            except Invalid as error:
                line = self._line("server", error.key)
                yield Problem(self._where, f"server: {error}; until then its tools stay out too", line)
                return
        tools = self._tools(server)
        if server is not None:
            yield with_tools(server, tools)
        yield from tools
        yield from self._problems

    def _server(self, entry: Any) -> Entity:
        if not isinstance(entry, dict):
            raise Invalid("", f"it must be an object with a name, not {attributes.shown(entry)}")
        name = attributes.name(entry)
        return Entity(
            kind=Kind.MCP_SERVER,
            path=name,
            name=name,
            description=attributes.text(entry, "description"),
            tags=attributes.tags(entry),
            metadata=attributes.table(entry, "metadata"),
            details={
                **{key: text for key in ("title", "version", "instructions") if (text := attributes.text(entry, key))},
                **{key: entry[key] for key in ("prompts", "resources") if type(entry.get(key)) is int},
                **kept(entry),
            },
            provenance=self._provenance,
            **attributes.visibility(entry, Visibility())._asdict(),
        )

    def _tools(self, server: Entity | None) -> list[Entity]:
        tools: dict[str, Entity] = {}
        numbers: dict[str, int] = {}
        for number, entry in enumerate(self._contents.entries):
            try:
                tool = self._tool(entry, number, server)
                if tool.path in tools:
                    first = self._position(numbers[tool.path])
                    raise Invalid("name", f"{tool.path!r} is already at {first}, which stays; rename one of them")
                tools[tool.path] = tool
                numbers[tool.path] = number
            except Invalid as error:
                self._report(number, error)
        return list(tools.values())

    def _tool(self, entry: Any, number: int, server: Entity | None) -> Entity:
        tool = toolshape.unwrap(entry)
        name = attributes.name(tool)
        above = Visibility(server.status, server.enabled, server.audience, server.scopes) if server else Visibility()
        server_name = toolshape.server_name(entry, tool) or (server.name if server else "")
        home = server if server and server.name == server_name else None
        details = {
            "server": server_name or None,
            "title": attributes.text(tool, "title") or None,
            "input_schema": toolshape.input_schema(tool),
            "output_schema": toolshape.output_schema(tool),
            "annotations": attributes.table(tool, "annotations") or None,
            "icons": tool.get("icons"),
            "index": self._index(entry, number),
        }
        return Entity(
            kind=Kind.TOOL,
            path="/".join(filter(None, (server_name or self._namespace, name))),
            name=name,
            description=attributes.text(tool, "description"),
            tags=attributes.tags(tool) or (home.tags if home else ()),
            metadata=attributes.table(tool, "metadata"),
            details={key: value for key, value in details.items() if value is not None},
            links=(Link(home.id, PART_OF),) if home else (),
            provenance=self._provenance,
            **attributes.visibility(tool, above)._asdict(),
        )

    def _index(self, entry: Any, number: int) -> dict[str, Any] | None:
        """An entry of an index file as it stands there, with the file's own keys: an export must lose nothing (C06)."""
        header = self._contents.header
        if header is None or not isinstance(entry.get("tool"), dict):
            return None
        kept = {**entry, "file": dict(header)}
        if not _is_vector(entry.get("embedding"), header.get("embeddingDimensions")):
            message = "its embedding is not the list of numbers that the file promises; the tool goes in without it"
            self._report(number, Invalid("embedding", message))
            kept["embedding"] = None
        return kept

    def _position(self, number: int) -> str:
        at = self._contents.at
        return "the tool" if at is None else f"{''.join(map(str, at))}[{number}]"

    def _report(self, number: int, error: Invalid) -> None:
        at = self._contents.at
        steps: tuple[Step, ...] = (error.key,) if at is None else (*at, number, error.key)
        line = self._line(*steps)
        self._problems.append(Problem(self._where, f"{self._position(number)}: {error}", line))


def with_tools(server: Entity, tools: Sequence[Entity]) -> Entity:
    """The server with its tools, as far as who finds it may find them (A13); each offer notes who else may not see its tool (A18)."""
    offered = [
        tool
        for tool in tools
        if Link(server.id, PART_OF) in tool.links
        and tool.status in (server.status, Status.ACTIVE, Status.BETA)
        and tool.enabled >= server.enabled
    ]
    listed = [{"name": tool.name, "description": tool.description, **access_of(Bucket.of(tool))} for tool in offered]
    links = tuple(Link(tool.id, "has_tool") for tool in offered)
    return replace(server, details={**server.details, "tools": listed}, links=links)


def _is_vector(value: Any, dimensions: Any) -> bool:
    """Whether a value is an embedding of the promised length, or none at all."""
    if value is None or value == []:
        return True
    if not isinstance(value, list) or not all(type(number) in (int, float) for number in value):
        return False
    return not isinstance(dimensions, int) or len(value) == dimensions
