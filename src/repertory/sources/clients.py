"""Which servers does the config of another program name?

`mcpServers` (Claude Desktop and Code, Cursor, Gemini), `servers` (VS Code) in JSON with comments, `mcp_servers` (Codex) in TOML. Nothing is
started here, and placeholders stay as they are.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repertory.sources import attributes
from repertory.sources.attributes import Invalid
from repertory.sources.base import Problem
from repertory.sources.content import Unreadable, glimpse, read_text, storable
from repertory.sources.serverspec import TIME_LIMIT, ServerSpec, Transport
from repertory.sources.values import JSON_SUFFIX, Parsed, parse_json, plain

TOML_SUFFIX = ".toml"
JSON_SUFFIXES = frozenset({JSON_SUFFIX, ".jsonc"})
MAX_TIME = 300.0  # seconds that a config can ask for one server: more is a mistake in the unit
SEPARATOR = "#"  # between the config and the name of a server, in the location of a source

_NAMES_SERVERS = re.compile(r"""["']?(?:mcpServers|servers|mcp_servers)["']?\s*[.:\]]""")
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_LAST_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])')
_TYPES = {  # what configs call the transports
    "stdio": Transport.STDIO,
    "local": Transport.STDIO,
    "http": Transport.HTTP,
    "streamable-http": Transport.HTTP,
    "streamableHttp": Transport.HTTP,
    "streamable_http": Transport.HTTP,
    "sse": Transport.SSE,
}


@dataclass(frozen=True, slots=True)
class Config:
    """The servers of one config, by name, and what is wrong with others."""

    file: Path
    specs: Mapping[str, ServerSpec]
    problems: Mapping[str, Problem]  # by the name of the server
    disabled: frozenset[str] = frozenset()  # named, but switched off by whoever wrote it

    def location(self, name: str) -> str:
        """Where the entries of one of its servers come from."""
        return f"{self.file}{SEPARATOR}{name}"


def is_config(file: Path) -> bool:
    """Whether a file names servers. One that cannot be parsed does if it looks like it: then `read` says what is wrong."""
    if file.suffix.lower() not in JSON_SUFFIXES | {TOML_SUFFIX} or not file.is_file() or not _NAMES_SERVERS.search(glimpse(file)):
        return False
    try:
        return _servers(_load(file).value) is not None
    except Unreadable:
        return '"mcpServers"' in glimpse(file) or file.suffix.lower() == TOML_SUFFIX


def read(file: Path) -> Config:
    """The servers that a config names. Raises `Unreadable` for a file that is no config."""
    parsed = _load(file)
    found = _servers(parsed.value)
    if found is None:
        raise Unreadable("names no servers; expected mcpServers, servers or mcp_servers")
    steps, servers = found
    specs: dict[str, ServerSpec] = {}
    problems: dict[str, Problem] = {}
    disabled: set[str] = set()
    for name, entry in servers.items():
        try:
            named = attributes.name({"name": name})
            if isinstance(entry, dict) and (entry.get("disabled") is True or entry.get("enabled") is False):
                disabled.add(named)
            else:
                specs[named] = _spec(named, entry)
        except Invalid as error:
            where = f"{storable(str(file))}{SEPARATOR}{name}"
            problems[name] = Problem(where, f"the server is left out: {error}", parsed.line(*steps, name, error.key))
    return Config(file, specs, problems, frozenset(disabled))


def without_comments(text: str) -> str:
    """JSON with comments and last commas as plain JSON, on the same lines."""

    def blank(match: re.Match[str]) -> str:
        return match[1] or re.sub(r"[^\n]", " ", match[0])

    return _LAST_COMMA.sub(blank, _COMMENT.sub(blank, text))


def _load(file: Path) -> Parsed:
    text = read_text(file)
    if file.suffix.lower() != TOML_SUFFIX:
        return parse_json(without_comments(text))
    try:
        return Parsed(plain(tomllib.loads(text)), "")
    except tomllib.TOMLDecodeError as error:
        raise Unreadable(f"is not valid TOML: {error}") from error


def _servers(value: Any) -> tuple[tuple[str, ...], dict[str, Any]] | None:
    """The servers in a config, and the keys that lead to them."""
    for steps in (("mcpServers",), ("mcp_servers",), ("servers",), ("mcp", "servers")):
        held = value
        for step in steps:
            held = held.get(step) if isinstance(held, dict) else None
        # `servers` is the name of many things: there, one that can be reached must be among them.
        if isinstance(held, dict) and (steps[-1] != "servers" or any(map(_is_server, held.values()))):
            return steps, held
    return None


def _is_server(entry: Any) -> bool:
    return isinstance(entry, dict) and not entry.keys().isdisjoint(("command", "url", "httpUrl"))


def _spec(name: str, entry: Any) -> ServerSpec:
    if not isinstance(entry, dict):
        raise Invalid("", "it must be an object with a command or a url")
    transport = _transport(entry)
    seconds = entry.get("startup_timeout_sec")
    return ServerSpec(
        name=name,
        transport=transport,
        command=attributes.text(entry, "command"),
        args=tuple(_arguments(entry)),
        env=_texts(entry, "env"),
        cwd=attributes.text(entry, "cwd") or None,
        url=attributes.text(entry, "httpUrl") or attributes.text(entry, "url"),
        headers=_headers(entry),
        timeout=min(seconds, MAX_TIME) if isinstance(seconds, int | float) and seconds > 0 else TIME_LIMIT,
    )


def _transport(entry: Mapping[str, Any]) -> Transport:
    word = attributes.text(entry, "type") or attributes.text(entry, "transport")
    if word and word not in _TYPES:
        raise Invalid("type", f"type is {attributes.shown(word)}; known are stdio, http and sse")
    asked = _TYPES.get(word)
    address = attributes.text(entry, "httpUrl") or attributes.text(entry, "url")
    if attributes.text(entry, "command") and asked in (None, Transport.STDIO):
        return Transport.STDIO
    if not address:
        raise Invalid("command", "it has neither a command nor a url; give it one")
    if not address.startswith(("http://", "https://", "${")):
        raise Invalid("url", "its url must start with http:// or https://")
    if asked in (Transport.HTTP, Transport.SSE):
        return asked
    return transport_of(address)


def transport_of(address: str) -> Transport:
    """How messages most likely travel to an address."""
    return Transport.SSE if address.split("?")[0].rstrip("/").endswith("/sse") else Transport.HTTP


def _arguments(entry: Mapping[str, Any]) -> list[str]:
    arguments = entry.get("args") or []
    if not isinstance(arguments, list) or any(isinstance(one, dict | list | None) for one in arguments):
        raise Invalid("args", "args must be a list of texts")
    return [_text(one) for one in arguments]


def _texts(entry: Mapping[str, Any], key: str) -> dict[str, str]:
    held = entry.get(key) or {}
    if not isinstance(held, dict) or any(isinstance(one, dict | list | None) for one in held.values()):
        raise Invalid(key, f"{key} must hold texts only")  # which is told without its values: they may be secrets
    return {name: _text(value) for name, value in held.items()}


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _headers(entry: Mapping[str, Any]) -> dict[str, str]:
    """Headers under every name that configs have for them; Codex names variables instead of values."""
    headers = {**_texts(entry, "headers"), **_texts(entry, "http_headers")}
    headers |= {name: f"${{{variable}}}" for name, variable in _texts(entry, "env_http_headers").items()}
    if variable := attributes.text(entry, "bearer_token_env_var"):
        headers["Authorization"] = f"Bearer ${{{variable}}}"
    return headers
