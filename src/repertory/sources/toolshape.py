"""In which shapes are tools written down?

A server with its tools, tools alone (an array, `{tools: [...]}`, one object), or an index file (C06); each tool as in
MCP or as an OpenAI function.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from repertory.sources import attributes
from repertory.sources.attributes import Invalid
from repertory.sources.values import Step

_KEYS = re.compile(r"""\b(?:tools|inputSchema|input_schema)["']?[ \t]{0,8}:""")
# In files of many other kinds too, but not in the lock files that take seconds to parse.
_OTHER_KEYS = re.compile(r"""\b(?:server|parameters)["']?[ \t]{0,8}:|\btype["']?[ \t]{0,8}:\s{0,8}["']?function\b""")


@dataclass(frozen=True, slots=True)
class Contents:
    """What a tool file holds, whatever its shape."""

    entries: Sequence[Any]
    at: tuple[Step, ...] | None = ("tools",)  # the steps to the entries; None: the whole file is the only entry
    server: Any = None
    header: Mapping[str, Any] | None = None  # of an index file


def names_tools(text: str) -> bool:
    """Whether a text that cannot be parsed was surely meant to be a tool file."""
    return _KEYS.search(text) is not None


def may_hold_tools(text: str) -> bool:
    """Whether parsing a text can bring tools to light."""
    return names_tools(text) or _OTHER_KEYS.search(text) is not None


def contents(value: Any) -> Contents | None:
    """The tools and the server in a value; None if it is no tool file."""
    if isinstance(value, list):
        return Contents(value, at=()) if any(_is_tool(item) for item in value) else None
    if not isinstance(value, dict):
        return None
    tools, server = value.get("tools"), value.get("server")
    if isinstance(tools, list) and (server is not None or not tools or any(_is_named(item) for item in tools)):
        is_index = any(isinstance(item, dict) and isinstance(item.get("tool"), dict) for item in tools)
        header = {key: item for key, item in value.items() if key not in ("tools", "server")} if is_index else None
        return Contents(tools, server=server, header=header)
    if tools is None and isinstance(server, dict) and "name" in server and "description" in server:
        return Contents((), server=server)
    return Contents([value], at=None) if _is_tool(value) else None


def _is_tool(value: Any) -> bool:
    """Whether an object is a tool even where nothing around it says so: a name and a description may be anything's."""
    if not isinstance(value, dict):
        return False
    if "inputSchema" in value or "input_schema" in value:
        return True
    if value.get("type") == "function":
        return "function" in value or "name" in value
    parameters = value.get("parameters")
    return "name" in value and isinstance(parameters, dict) and "type" in parameters


def _is_named(value: Any) -> bool:
    return _is_tool(value) or (isinstance(value, dict) and not value.keys().isdisjoint(("name", "tool", "function")))


def unwrap(entry: Any) -> dict[str, Any]:
    """The tool inside an index entry or an OpenAI function; what stands around it is kept beside it."""
    for key in ("tool", "function"):
        if isinstance(entry, dict) and isinstance(entry.get(key), dict):
            entry = {**{other: value for other, value in entry.items() if other != key}, **entry[key]}
    if not isinstance(entry, dict):
        raise Invalid("", f"it must be an object with a name, not {attributes.shown(entry)}")
    return entry


def server_name(entry: Mapping[str, Any], tool: Mapping[str, Any]) -> str:
    """The server that an entry names for itself; empty if it names none."""
    for holder in (entry, tool):
        for key in ("server", "serverName"):
            if holder.get(key) is not None:
                return attributes.name(holder, key)
    return ""


def input_schema(tool: Mapping[str, Any]) -> dict[str, Any] | None:
    """What a tool takes."""
    return _schema(tool, ("inputSchema", "input_schema", "parameters"))


def output_schema(tool: Mapping[str, Any]) -> dict[str, Any] | None:
    """What a tool gives back."""
    return _schema(tool, ("outputSchema", "output_schema"))


def _schema(tool: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any] | None:
    key = next((key for key in keys if tool.get(key) is not None), None)
    return attributes.table(tool, key) if key else None
