"""Which virtual servers do files bring in?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from repertory.model import Entity, Kind, Link, Status
from repertory.sources import Problem, read_path


def read(file: Path, content: object) -> tuple[list[Entity], list[Problem]]:
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    items = list(read_path(file, "local"))
    return [item for item in items if isinstance(item, Entity)], [item for item in items if isinstance(item, Problem)]


def test_tools_have_the_names_under_which_they_are_offered(tmp_path: Path) -> None:
    tools = [
        {"from": "calendar/list_events", "alias": "arrivals", "description": "Ships", "scopes": ["a", "b"]},
        {"from": "io.github.example/mail/send"},
    ]
    about = {"name": "desk", "description": "For the desk", "tags": ["x"], "status": "beta", "groups": ["crew"], "tools": tools}
    (server,), problems = read(tmp_path / "desk.json", {"virtual_server": about})
    assert problems == []
    assert (server.id, server.kind, server.tags, server.status) == ("virtual:desk", Kind.VIRTUAL_SERVER, ("x",), Status.BETA)
    assert server.audience == {"crew"}
    assert server.details["tools"] == [
        {"name": "arrivals", "description": "Ships", "from": "calendar/list_events", "scopes": ["a", "b"]},
        {"name": "send", "from": "io.github.example/mail/send"},
    ]
    assert server.links == (Link("tool:calendar/list_events", "composes"), Link("tool:io.github.example/mail/send", "composes"))


def test_each_bad_tool_is_a_problem_with_its_line(tmp_path: Path) -> None:
    content = (
        "virtual_server:\n  name: desk\n  tools:\n  - from: a/b\n  - from: c/b\n  - from: alone\n  - 7\n  - {from: d/e, scopes: {x: 1}}\n"
    )
    (server,), problems = read(tmp_path / "desk.yaml", content)
    assert [tool["from"] for tool in server.details["tools"]] == ["a/b"]
    assert [problem.line for problem in problems] == [5, 6, 7, 8]
    assert "'b' is already the name of a/b" in problems[0].message


@pytest.mark.parametrize("wrong", [None, [], {"name": "x"}, {"name": "", "tools": []}, {"name": "x", "tools": {}}])
def test_what_is_no_virtual_server_says_so(tmp_path: Path, wrong: Any) -> None:
    entities, (problem,) = read(tmp_path / "desk.json", {"virtual_server": wrong})
    assert entities == []
    assert problem.message.startswith("virtual_server: ")
