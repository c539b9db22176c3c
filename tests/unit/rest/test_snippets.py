"""Can clients read what they are told to copy?"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.catalogs import server

from repertory.model import Entity, Kind
from repertory.rest.snippets import snippets
from repertory.sources import clients
from repertory.sources.serverspec import Transport

FILES = {
    "claude-desktop": "desktop.json",
    "claude-code": "mcp.json",
    "cursor": "cursor.json",
    "vscode": "vscode.json",
    "codex": "config.toml",
    "gemini": "g.json",
}
PACKAGE = {
    "registryType": "npm",
    "identifier": "@acme/weather",
    "version": "1.2.0",
    "environmentVariables": [{"name": "WEATHER_KEY", "isSecret": True, "value": "hunter2"}],
    "packageArguments": [{"type": "named", "name": "--units", "value": "metric"}, {"type": "positional", "valueHint": "city"}],
}
REMOTE = {
    "type": "streamable-http",
    "url": "https://{tenant}.example.com/mcp",
    "headers": [
        {"name": "X-Key", "isSecret": True, "value": "hunter2"},
        {"name": "Authorization", "value": "Bearer {token}"},
        {"name": "X-Plain", "value": 'a"b$c`d'},
    ],
}


def read(text: str, client: str, place: Path) -> Any:
    file = place / FILES[client]
    file.write_text(text)
    found = clients.read(file)
    assert not found.problems
    ((name, spec),) = found.specs.items()
    assert name == "weather"
    return spec


@pytest.mark.parametrize("client", FILES)
def test_a_package_is_started_by_every_client(client: str, tmp_path: Path) -> None:
    text = {one.client: one.text for one in snippets(server("io.github.acme/weather", details={"packages": [PACKAGE]}))}[client]
    spec = read(text, client, tmp_path)
    assert (spec.command, spec.args) == ("npx", ("-y", "@acme/weather@1.2.0", "--units", "metric", spec.args[-1]))
    assert spec.args[-1] in ("${CITY}", "${env:CITY}")
    assert spec.env == {"WEATHER_KEY": "${env:WEATHER_KEY}" if client in ("cursor", "vscode") else "${WEATHER_KEY}"}
    assert "hunter2" not in text


@pytest.mark.parametrize("client", FILES)
def test_an_address_is_reached_by_every_client(client: str, tmp_path: Path) -> None:
    text = {one.client: one.text for one in snippets(server("io.github.acme/weather", details={"remotes": [REMOTE]}))}[client]
    assert "hunter2" not in text
    spec = read(text, client, tmp_path)
    if client == "claude-desktop":
        assert spec.args[:3] == ("-y", "mcp-remote", "https://${TENANT}.example.com/mcp")
    else:
        assert spec.transport is Transport.HTTP
        assert spec.url.replace("env:", "") == "https://${TENANT}.example.com/mcp"


def test_a_shell_fills_in_variables_and_nothing_else(tmp_path: Path) -> None:
    text = {one.client: one.text for one in snippets(server("weather", details={"remotes": [REMOTE]}))}["curl"]
    shown = subprocess.run(
        ["bash", "-c", text.replace("curl -s", "printf '%s\\n'", 1)],
        env={"TENANT": "north", "TOKEN": "abc", "X_KEY": "k"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert shown[0] == "https://north.example.com/mcp"
    assert {"Authorization: Bearer abc", "X-Key: k", 'X-Plain: a"b$c`d'} <= set(shown)
    assert json.loads(shown[-1])["method"] == "tools/list"


@pytest.mark.parametrize(
    ("package", "command"),
    [
        ({"registryType": "pypi", "identifier": "weather"}, ["uvx", "weather"]),
        (
            {"registryType": "oci", "identifier": "ghcr.io/acme/weather", "version": "2"},
            ["docker", "run", "-i", "--rm", "ghcr.io/acme/weather:2"],
        ),
    ],
)
def test_each_kind_of_package_has_its_command(package: dict[str, Any], command: list[str]) -> None:
    entry = json.loads(snippets(server("weather", details={"packages": [package]}))[1].text)["mcpServers"]["weather"]
    assert [entry["command"], *entry["args"]] == command


def test_what_does_not_tell_how_it_is_reached_has_no_snippet() -> None:
    assert snippets(server("weather")) == []
    assert snippets(server("weather", details={"remotes": [{}, 3], "packages": [{"registryType": "mcpb", "identifier": "x"}]})) == []
    agent = Entity(Kind.A2A_AGENT, "clerk", "Clerk", details={"url": "https://clerk.example.com/a2a"})
    assert "message/send" in snippets(agent)[0].text
