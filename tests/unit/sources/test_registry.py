"""Which servers do server.json files bring in?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from repertory.model import Entity, Status
from repertory.sources import Problem, read_path
from repertory.sources.registry import OFFICIAL

SERVER: dict[str, Any] = {
    "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
    "name": "io.github.example/weather",
    "title": "Weather",
    "description": "Forecasts.",
    "version": "1.2.0",
    "repository": {"url": "https://github.com/example/weather", "source": "github"},
    "packages": [{"registryType": "pypi", "identifier": "weather", "version": "1.2.0", "transport": {"type": "stdio"}}],
    "remotes": [{"type": "sse", "url": "https://weather.example/sse", "headers": [{"name": "X", "isSecret": True, "default": "s3cret"}]}],
}


def read(file: Path, content: object) -> tuple[list[Entity], list[Problem]]:
    file.write_text(json.dumps(content), encoding="utf-8")
    items = list(read_path(file, "local"))
    return [item for item in items if isinstance(item, Entity)], [item for item in items if isinstance(item, Problem)]


def test_a_server_json_gives_one_server(tmp_path: Path) -> None:
    (server,), problems = read(tmp_path / "server.json", SERVER)
    assert problems == []
    assert (server.id, server.description, server.status) == ("server:io.github.example/weather", "Forecasts.", Status.ACTIVE)
    assert server.details == {
        "title": "Weather",
        "version": "1.2.0",
        "repository": SERVER["repository"],
        "packages": SERVER["packages"],
        "remotes": [{"type": "sse", "url": "https://weather.example/sse", "headers": [{"name": "X", "isSecret": True}]}],
    }


def test_several_in_a_folder(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "server.json").write_text(json.dumps({**SERVER, "name": f"x/{name}"}))
    assert [item.id for item in read_path(tmp_path, "local") if isinstance(item, Entity)] == ["server:x/a", "server:x/b"]


@pytest.mark.parametrize("wrap", [lambda entries: entries, lambda entries: {"servers": entries, "metadata": {"count": 1}}])
def test_of_many_versions_the_latest_is_kept(tmp_path: Path, wrap: Any) -> None:
    versions = ["1.9.0", "1.10.0", "1.10.0-rc.1", "0.1"]
    (server,), problems = read(tmp_path / "list.json", wrap([{**SERVER, "version": version} for version in versions]))
    assert (server.details["version"], problems) == ("1.10.0", [])


def test_the_registry_says_which_is_latest_and_what_is_deleted(tmp_path: Path) -> None:
    def entry(name: str, version: str, status: str, latest: bool) -> dict[str, Any]:
        return {"server": {**SERVER, "name": name, "version": version}, "_meta": {OFFICIAL: {"status": status, "isLatest": latest}}}

    entries = [
        entry("x/a", "2.0.0", "active", False),
        entry("x/a", "1.0.0", "deprecated", True),
        entry("x/b", "1.0.0", "deleted", True),
        entry("x/c", "1.0.0", "sleeping", True),
    ]
    (server,), (problem,) = read(tmp_path / "list.json", entries)
    assert (server.details["version"], server.status) == ("1.0.0", Status.DEPRECATED)
    assert "x/c: status must be one of active, deprecated, deleted" in problem.message


def test_bad_entries_are_problems(tmp_path: Path) -> None:
    entries = [SERVER, {"name": ""}, 7, {**SERVER, "name": "x/y", "title": ["no"]}, {**SERVER, "name": "x/z", "version": "9" * 5000}]
    servers, problems = read(tmp_path / "list.json", entries)
    assert [server.path for server in servers] == ["io.github.example/weather", "x/z"]
    assert len(problems) == 3


def test_a_tool_file_with_a_server_is_still_one(tmp_path: Path) -> None:
    entities, problems = read(tmp_path / "tools.json", {"server": {"name": "s", "description": "d"}, "tools": [{"name": "t"}]})
    assert ([entity.id for entity in entities], problems) == (["server:s", "tool:s/t"], [])
