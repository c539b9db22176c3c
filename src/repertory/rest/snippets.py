"""How does a program come to use a server or an agent?

What an entry tells of its server (a package to start, or an address) becomes the few lines that each client wants in its config. Whatever
a person has to fill in stays a variable: nothing secret is ever known here.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from repertory.model import Entity, Kind
from repertory.sources.a2a import slug

_VARIABLE = re.compile(r"\$?\{(?:env:)?([^{}]+)\}")
_PLACEHOLDER = re.compile(r"\$\{(\w+)\}")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


class Snippet(NamedTuple):
    """Lines to copy."""

    client: str
    title: str
    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Connection:
    """How a server is reached: by a command, or at an address. Values that nobody knows are `${VARIABLE}`s."""

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    url: str = ""
    sse: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)


def snippets(entity: Entity) -> list[Snippet]:
    """What to copy where, for a server or an agent; nothing where it does not tell how it is reached."""
    if entity.kind is Kind.A2A_AGENT:
        url = str(entity.details.get("url") or "")
        return [Snippet("curl", "Send a message with curl", "sh", _message(url))] if url else []
    found = connection(entity)
    return [write(found) for write in (*_CLIENTS, *((_curl,) if found.url else ()))] if found else []


def connection(entity: Entity) -> Connection | None:
    """The way that an entry tells: an address first, else the first package that we know how to start."""
    name = slug(entity.name.rpartition("/")[2]) or "server"
    for remote in _tables(entity.details.get("remotes")):
        if isinstance(url := remote.get("url"), str) and url:
            headers = {str(one["name"]): _given(one) for one in _tables(remote.get("headers")) if one.get("name")}
            return Connection(name, url=_with_variables(url), sse=remote.get("type") == "sse", headers=headers)
    for package in _tables(entity.details.get("packages")):
        start = _STARTS.get(str(package.get("registryType") or package.get("registry_type") or ""))
        if start is not None and package.get("identifier"):
            env = {str(one["name"]): f"${{{one['name']}}}" for one in _tables(package.get("environmentVariables")) if one.get("name")}
            command, *args = start(package, env)
            return Connection(name, command, (*args, *_arguments(package.get("packageArguments"))), env)
    return None


def _npm(package: Mapping[str, Any], env: Mapping[str, str]) -> list[str]:
    version = package.get("version")
    return ["npx", "-y", f"{package['identifier']}@{version}" if version else str(package["identifier"])]


def _pypi(package: Mapping[str, Any], env: Mapping[str, str]) -> list[str]:
    version = package.get("version")
    return ["uvx", f"{package['identifier']}=={version}" if version else str(package["identifier"])]


def _oci(package: Mapping[str, Any], env: Mapping[str, str]) -> list[str]:
    image, version = str(package["identifier"]), package.get("version")
    tagged = f"{image}:{version}" if version and ":" not in image.rpartition("/")[2] else image
    return [
        "docker",
        "run",
        "-i",
        "--rm",
        *(part for name in env for part in ("-e", name)),
        *_arguments(package.get("runtimeArguments")),
        tagged,
    ]


_STARTS: Mapping[str, Callable[[Mapping[str, Any], Mapping[str, str]], list[str]]] = {
    "npm": _npm,
    "pypi": _pypi,
    "oci": _oci,
    "docker": _oci,
}


def _arguments(value: Any) -> list[str]:
    """Positional and named arguments of a package; what is to be chosen is a variable."""
    found: list[str] = []
    for one in _tables(value):
        named = str(one.get("name") or "") if one.get("type") == "named" else ""
        given = _given({**one, "name": one.get("name") or one.get("valueHint") or "value"}) if one.get("value") or not named else ""
        found += [part for part in (named, given) if part]
    return found


def _given(one: Mapping[str, Any]) -> str:
    """A value as its author wrote it, with our variables; one that is to be filled in is a variable itself."""
    value = one.get("value")
    if isinstance(value, str) and value and one.get("isSecret") is not True:
        return _with_variables(value)
    return f"${{{_variable(str(one['name']))}}}"


def _with_variables(text: str) -> str:
    return _VARIABLE.sub(lambda match: f"${{{_variable(match[1])}}}", text)


def _variable(name: str) -> str:
    return re.sub(r"\W+", "_", name).strip("_").upper() or "VALUE"


def _tables(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


# What each client wants to read


def _claude_desktop(to: Connection) -> Snippet:
    entry = _stdio(to)
    if to.url:  # it starts programs only: mcp-remote is the one that people use to reach an address
        headers = [part for name, value in to.headers.items() for part in ("--header", f"{name}:{value}")]
        entry = {"command": "npx", "args": ["-y", "mcp-remote", to.url, *headers]}
    return Snippet("claude-desktop", "claude_desktop_config.json", "json", _json({"mcpServers": {to.name: entry}}))


def _claude_code(to: Connection) -> Snippet:
    return Snippet("claude-code", ".mcp.json of Claude Code", "json", _json({"mcpServers": {to.name: _typed(to)}}))


def _cursor(to: Connection) -> Snippet:
    entry = _stdio(to) if not to.url else {"url": to.url, **_some(headers=to.headers)}
    return Snippet("cursor", ".cursor/mcp.json", "json", _from_environment(_json({"mcpServers": {to.name: entry}})))


def _vs_code(to: Connection) -> Snippet:
    return Snippet("vscode", ".vscode/mcp.json", "json", _from_environment(_json({"servers": {to.name: _typed(to)}})))


def _codex(to: Connection) -> Snippet:
    key = to.name if _BARE_KEY.fullmatch(to.name) else json.dumps(to.name)
    lines = [f"[mcp_servers.{key}]"]
    if to.url:
        lines += [f"url = {json.dumps(to.url)}"]
        named = {name: match[1] for name, value in to.headers.items() if (match := _PLACEHOLDER.fullmatch(value))}
        fixed = {name: value for name, value in to.headers.items() if name not in named}
        lines += [f"{word} = {_inline(table)}" for word, table in (("env_http_headers", named), ("http_headers", fixed)) if table]
    else:
        lines += [f"command = {json.dumps(to.command)}", f"args = {json.dumps(to.args)}"]
        lines += [f"env = {_inline(to.env)}"] if to.env else []
    return Snippet("codex", "~/.codex/config.toml", "toml", "\n".join(lines) + "\n")


def _gemini(to: Connection) -> Snippet:
    address = {"url" if to.sse else "httpUrl": to.url, **_some(headers=to.headers)}
    return Snippet("gemini", ".gemini/settings.json", "json", _json({"mcpServers": {to.name: address if to.url else _stdio(to)}}))


_CLIENTS: Sequence[Callable[[Connection], Snippet]] = (_claude_desktop, _claude_code, _cursor, _vs_code, _codex, _gemini)


def _curl(to: Connection) -> Snippet:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **to.headers}
    return Snippet("curl", "List its tools with curl", "sh", _post(to.url, headers, call))


def _message(url: str) -> str:
    """https://a2a-protocol.org: one message to an agent."""
    message = {"role": "user", "messageId": "1", "parts": [{"kind": "text", "text": "Hello"}]}
    call = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": message}}
    return _post(url, {"Content-Type": "application/json"}, call)


def _post(url: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> str:
    """A shell fills in variables between double quotes, and nothing else is left for it to read."""
    lines = [f"curl -s {_quoted(url)}", *(f"  -H {_quoted(f'{name}: {value}')}" for name, value in headers.items())]
    return " \\\n".join([*lines, f"  -d {shlex.quote(json.dumps(body))}"]) + "\n"


def _quoted(text: str) -> str:
    parts = _PLACEHOLDER.split(text)  # every second one is the name of a variable
    plain = [re.sub(r'([\\"$`!])', r"\\\1", part) for part in parts[::2]]
    variables = [f"${{{name}}}" for name in parts[1::2]]
    return '"' + "".join(part for pair in zip(plain, [*variables, ""], strict=True) for part in pair) + '"'


def _typed(to: Connection) -> dict[str, Any]:
    if to.url:
        return {"type": "sse" if to.sse else "http", "url": to.url, **_some(headers=to.headers)}
    return {"type": "stdio", **_stdio(to)}


def _stdio(to: Connection) -> dict[str, Any]:
    return {"command": to.command, "args": list(to.args), **_some(env=to.env)}


def _some(**tables: Mapping[str, str]) -> dict[str, Any]:
    return {name: dict(table) for name, table in tables.items() if table}


def _from_environment(text: str) -> str:
    return _PLACEHOLDER.sub(r"${env:\1}", text)


def _inline(table: Mapping[str, str]) -> str:
    return "{ " + ", ".join(f"{json.dumps(name)} = {json.dumps(value)}" for name, value in table.items()) + " }"


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
