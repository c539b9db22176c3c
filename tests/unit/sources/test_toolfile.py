"""Which servers and tools does a tool file bring in?"""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from repertory import access
from repertory.model import PUBLIC, Entity, Filter, Kind, Link, Status
from repertory.sources import Problem, read_path

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def read(file: Path, content: object, namespace: str = "local") -> tuple[list[Entity], list[Problem]]:
    """Write the content (text as it is, anything else as JSON), and read the file."""
    file.write_text(dedent(content) if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    items = list(read_path(file, namespace))
    return [item for item in items if isinstance(item, Entity)], [item for item in items if isinstance(item, Problem)]


def test_a_server_file_gives_the_server_and_its_tools_linked_both_ways(tmp_path: Path) -> None:
    entities, problems = read(
        tmp_path / "weather.yaml",
        """
        server:
          name: weather
          title: Weather service
          description: Forecasts for cities.
          version: 1.2.0
          tags: [weather, forecast]
          metadata: {owner: ops, region: {name: eu}}
        tools:
          - name: get_forecast
            title: Forecast
            description: The next days.
            inputSchema: {type: object, properties: {city: {type: string}}}
            outputSchema: {type: object}
            annotations: {readOnlyHint: true}
          - name: get_alerts
            tags: [alerts]
        """,
    )
    assert problems == []
    server, forecast, alerts = entities
    assert (server.id, server.kind, server.name) == ("server:weather", Kind.MCP_SERVER, "weather")
    assert server.description == "Forecasts for cities."
    assert server.tags == ("weather", "forecast")
    assert server.metadata == {"owner": "ops", "region": {"name": "eu"}}
    assert server.details == {
        "title": "Weather service",
        "version": "1.2.0",
        "tools": [
            {"name": "get_forecast", "description": "The next days."},
            {"name": "get_alerts", "description": ""},
        ],
    }
    assert server.links == (Link(forecast.id, "has_tool"), Link(alerts.id, "has_tool"))
    assert (forecast.id, forecast.name) == ("tool:weather/get_forecast", "get_forecast")
    assert forecast.tags == ("weather", "forecast"), "a tool without tags has its server's"
    assert forecast.details == {
        "server": "weather",
        "title": "Forecast",
        "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}},
        "output_schema": {"type": "object"},
        "annotations": {"readOnlyHint": True},
    }
    assert forecast.links == (Link("server:weather", "part_of"),)
    assert alerts.tags == ("alerts",)
    assert alerts.details == {"server": "weather"}
    assert forecast.provenance == str(tmp_path / "weather.yaml")


@pytest.mark.parametrize(
    "content",
    [
        [{"name": "add", "description": "Adds.", "inputSchema": SCHEMA}],
        {"tools": [{"name": "add", "description": "Adds.", "input_schema": SCHEMA}]},
        {"name": "add", "description": "Adds.", "inputSchema": SCHEMA},
        {"name": "add", "description": "Adds.", "parameters": SCHEMA},
        [{"type": "function", "function": {"name": "add", "description": "Adds.", "parameters": SCHEMA}}],
        {"type": "function", "function": {"name": "add", "description": "Adds.", "parameters": SCHEMA}},
        [{"type": "function", "name": "add", "description": "Adds.", "parameters": SCHEMA, "strict": True}],
    ],
    ids=["array", "tools", "one tool", "parameters", "functions", "one function", "flat functions"],
)
def test_loose_tools_in_every_shape_are_the_same_tool(tmp_path: Path, content: object) -> None:
    entities, problems = read(tmp_path / "tools.json", content)
    assert problems == []
    (tool,) = entities
    assert tool.id == "tool:local/add"
    assert tool.description == "Adds."
    assert tool.details == {"input_schema": SCHEMA}
    assert tool.links == ()


def test_an_entry_can_name_its_own_server(tmp_path: Path) -> None:
    content = {
        "server": {"name": "here", "tags": ["near"]},
        "tools": [{"name": "a"}, {"name": "b", "server": "there"}, {"name": "c", "serverName": "elsewhere"}],
    }
    entities, _ = read(tmp_path / "tools.json", content)
    server, *tools = entities
    assert [tool.path for tool in tools] == ["here/a", "there/b", "elsewhere/c"]
    assert [tool.links for tool in tools] == [(Link("server:here", "part_of"),), (), ()]
    assert [tool.tags for tool in tools] == [("near",), (), ()]
    assert server.details["tools"] == [{"name": "a", "description": ""}]


def test_a_server_without_tools_is_still_a_server(tmp_path: Path) -> None:
    entities, problems = read(tmp_path / "s.yaml", "server: {name: quiet, description: Says little.}\n")
    assert [entity.id for entity in entities] == ["server:quiet"]
    assert problems == []


def test_C06_an_index_file_keeps_everything_an_export_needs(tmp_path: Path) -> None:
    entry = {
        "tool": {"name": "add", "description": "Adds.", "input_schema": SCHEMA, "_meta": {"x": 1}},
        "searchableText": "add adds city",
        "tokens": ["add", "adds", "city"],
        "embedding": [0.5, -0.25, 1],
        "serverName": "sums",
    }
    header = {
        "version": "1.0",
        "createdAt": "2025-01-01T00:00:00Z",
        "embeddingProvider": "openai",
        "embeddingDimensions": 3,
    }
    entities, problems = read(tmp_path / "index.json", {**header, "tools": [entry]})
    assert problems == []
    (tool,) = entities
    assert tool.id == "tool:sums/add", "a server that is only named is no entity"
    assert tool.details["server"] == "sums"
    assert tool.details["input_schema"] == SCHEMA
    assert tool.details["index"] == {**entry, "file": header}


@pytest.mark.parametrize("embedding", [[1.0], ["a", "b"], "AAAA", [float("nan"), 0.0]])
def test_a_damaged_embedding_costs_the_embedding_and_not_the_tool(tmp_path: Path, embedding: object) -> None:
    content = {"embeddingDimensions": 2, "tools": [{"tool": {"name": "a"}, "embedding": embedding}]}
    (tool,), (problem,) = read(tmp_path / "index.json", content)
    assert tool.details["index"]["embedding"] is None
    assert problem.message.startswith("tools[0]: its embedding")


def test_the_same_tool_of_two_servers_in_an_index_file_is_no_duplicate(tmp_path: Path) -> None:
    content = {"tools": [{"tool": {"name": "a"}, "serverName": name} for name in ("one", "two", "one")]}
    entities, problems = read(tmp_path / "index.json", content)
    assert [entity.path for entity in entities] == ["one/a", "two/a"]
    assert len(problems) == 1


def test_each_bad_tool_is_a_problem_with_its_line_and_the_rest_goes_in(tmp_path: Path) -> None:
    file = tmp_path / "tools.yaml"
    long_name = "x" * 201
    entities, problems = read(
        file,
        f"""\
        server: {{name: s}}
        tools:
          - name: good
          - description: nameless
          - name: good
          - name: {long_name}
          - name: bad_schema
            description: d
            inputSchema: [1, 2]
          - just text
          - name: "two\\nlines"
          - name: 42
          - name: last
        """,
    )
    assert [entity.name for entity in entities] == ["s", "good", "last"]
    found = {problem.where.removeprefix(f"{file}:"): problem.message for problem in problems}
    assert found.keys() == {"4", "5", "6", "9", "10", "11", "12"}
    assert "tools[1]" in found["4"]
    assert "no name" in found["4"]
    assert "'s/good' is already at tools[0]" in found["5"]
    assert "201 characters" in found["6"]
    assert long_name not in found["6"], "a message stays readable"
    assert "inputSchema must be an object" in found["9"]
    assert "'just text'" in found["10"]
    assert "control characters" in found["11"]
    assert "42" in found["12"]


def test_a_name_of_200_characters_is_allowed(tmp_path: Path) -> None:
    entities, problems = read(tmp_path / "t.json", {"tools": [{"name": "n" * 200}]})
    assert len(entities) == 1
    assert problems == []


def test_json_problems_have_their_line_too(tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    text = '{\n\t"tools": [\n\t\t{"name": "a"},\n\t\t{"name": "b",\n\t\t "status": "gone"}\n\t]\n}\n'
    _, (problem,) = read(file, text)
    assert problem.where == f"{file}:5"


def test_status_enabled_and_audience_are_honoured(tmp_path: Path) -> None:
    content = {
        "tools": [
            {"name": "a", "status": "Deprecated", "enabled": False, "audience": ["ops", "sre"]},
            {"name": "b", "groups": "ops"},
            {"name": "c", "status": None, "enabled": None},
        ]
    }
    (a, b, c), problems = read(tmp_path / "t.json", content)
    assert problems == []
    assert (a.status, a.enabled, a.audience) == (Status.DEPRECATED, False, frozenset({"ops", "sre"}))
    assert b.audience == frozenset({"ops"})
    assert (c.status, c.enabled, c.audience) == (Status.ACTIVE, True, frozenset({PUBLIC}))


@pytest.mark.parametrize(
    "bad",
    [
        {"status": "retired"},
        {"status": 1},
        {"status": ["active"]},
        {"enabled": "false"},
        {"audience": 7},
        {"audience": []},
        {"audience": None},
        {"audience": [True]},
        {"audience": ["a"], "groups": ["b"]},
        {"tags": {"a": 1}},
        {"tags": [True]},
        {"description": ["x"]},
        {"metadata": "x"},
        {"annotations": "x"},
        {"outputSchema": "x"},
        {"server": {"name": "x"}},
    ],
    ids=str,
)
def test_an_entry_with_a_bad_value_stays_out(tmp_path: Path, bad: dict[str, Any]) -> None:
    entities, problems = read(tmp_path / "t.json", {"tools": [{"name": "bad", **bad}, {"name": "good"}]})
    assert [entity.name for entity in entities] == ["good"]
    assert len(problems) == 1
    assert problems[0].message.startswith("tools[0]: ")


def test_A18_tools_inherit_who_may_find_their_server(tmp_path: Path) -> None:
    content = {
        "server": {"name": "s", "status": "beta", "enabled": False, "audience": ["ops"]},
        "tools": [{"name": "a"}, {"name": "b", "audience": ["dev"], "enabled": True, "status": "active"}],
    }
    (server, a, b), _ = read(tmp_path / "t.json", content)
    assert (server.status, server.enabled, server.audience) == (Status.BETA, False, frozenset({"ops"}))
    assert (a.status, a.enabled, a.audience) == (Status.BETA, False, frozenset({"ops"}))
    assert (b.status, b.audience) == (Status.ACTIVE, frozenset({"dev"}))
    assert not b.enabled, "what is off above is off below"


def test_A18_a_server_does_not_tell_of_tools_that_its_finders_may_not_find(tmp_path: Path) -> None:
    content = {
        "server": {"name": "s"},
        "tools": [
            {"name": "open"},
            {"name": "secret", "audience": ["ops"]},
            {"name": "off", "enabled": False},
            {"name": "draft", "status": "draft"},
        ],
    }
    (server, *tools), _ = read(tmp_path / "t.json", content)
    assert [tool["name"] for tool in server.details["tools"]] == ["open", "secret"]
    seen = access.offered(server, Filter(audience=frozenset({PUBLIC}), scopes=frozenset()))
    assert seen.details["tools"] == [{"name": "open", "description": ""}]
    assert server.links == (Link("tool:s/open", "has_tool"), Link("tool:s/secret", "has_tool"))
    assert [tool.links for tool in tools] == [(Link("server:s", "part_of"),)] * 4


@pytest.mark.parametrize(
    "server",
    [{"title": "no name"}, "text", {"name": "s", "audience": []}, {"name": "s", "status": "x"}],
)
def test_a_bad_server_keeps_its_tools_out(tmp_path: Path, server: object) -> None:
    entities, (problem,) = read(tmp_path / "t.json", {"server": server, "tools": [{"name": "a"}]})
    assert entities == []
    assert problem.message.startswith("server: ")
    assert "tools stay out" in problem.message


def test_yaml_keys_stay_as_written_and_dates_become_text(tmp_path: Path) -> None:
    (tool,), _ = read(
        tmp_path / "t.yaml",
        """
        name: switch
        inputSchema:
          type: object
          properties:
            on: {type: boolean, default: yes}
            404: {type: string, default: 2024-05-06}
            when: {type: string, default: 2024-99-99}
            never: {type: number, default: .nan}
        """,
    )
    properties = tool.details["input_schema"]["properties"]
    assert list(properties) == ["on", "404", "when", "never"]
    assert properties["on"]["default"] is True
    assert properties["404"]["default"] == "2024-05-06"
    assert properties["when"]["default"] == "2024-99-99"
    assert properties["never"]["default"] is None
    json.dumps(tool.as_json(), allow_nan=False)


def test_shared_yaml_anchors_are_understood(tmp_path: Path) -> None:
    (a, b), problems = read(
        tmp_path / "t.yaml",
        """
        tools:
          - {name: a, inputSchema: &city {type: object, properties: {city: {type: string}}}}
          - {name: b, inputSchema: {<<: *city, required: [city]}}
        """,
    )
    assert problems == []
    assert b.details["input_schema"] == {**a.details["input_schema"], "required": ["city"]}


def test_characters_that_cannot_be_stored_are_replaced(tmp_path: Path) -> None:
    (tool,), _ = read(tmp_path / "t.json", '{"tools": [{"name": "a", "description": "x\\ud800y\\u0000z"}]}')
    assert tool.description == "x\ufffdy\ufffdz"
