"""Is what was registered or decided in the catalog, and nothing else?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.catalogs import ask, ids

import repertory
from repertory.app import Repertory
from repertory.errors import Changed, Conflict, NotFound, SourceError
from repertory.model import Filter, Kind, Principal, SearchRequest, Status

WEATHER: dict[str, Any] = {
    "name": "weather",
    "description": "Forecasts for any city.",
    "tags": ["climate"],
    "remotes": [{"type": "streamable-http", "url": "https://weather.example.com/mcp"}],
    "tools": [
        {
            "name": "forecast",
            "description": "Tomorrow's rain.",
            "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}},
        },
        {"name": "tides", "description": "When the sea rises."},
    ],
}
CARD = {"name": "Harbour Pilot", "description": "Brings ships in.", "url": "https://p.example.com", "skills": [], "capabilities": {}}
SKILL = "---\nname: tie-knots\ndescription: Tie a bowline.\n---\n# Steps\nMake a loop."


async def visible(rep: Repertory) -> set[str]:
    return {entity.id for entity in (await rep.entries(limit=1000))[0]}


async def test_a_server_is_registered_with_its_tools_and_found_at_once(rep: Repertory) -> None:
    entity = await rep.register(Kind.MCP_SERVER, WEATHER, "ada")
    assert entity.id == "server:weather"
    assert [tool["name"] for tool in entity.details["tools"]] == ["forecast", "tides"]
    assert ids(await ask(rep, "rain tomorrow"))[0] == "tool:weather/forecast"
    assert (await rep.sources())[0].location == "registry:"
    assert [(one.who, one.action, one.target) for one in rep._store.events(limit=5)] == [("ada", "entry.register", "server:weather")]


@pytest.mark.parametrize(
    ("kind", "definition", "entity_id"),
    [
        (Kind.A2A_AGENT, CARD, "agent:harbour-pilot"),
        (Kind.SKILL, {"markdown": SKILL}, "skill:tie-knots"),
        (Kind.SKILL, {"name": "tie-knots", "description": "Tie a bowline.", "body": "Make a loop."}, "skill:tie-knots"),
        (Kind.VIRTUAL_SERVER, {"name": "coast", "tools": [{"from": "weather/tides"}]}, "virtual:coast"),
        (Kind.DOCUMENT, {"path": "log/today.md", "markdown": "# Today\nA calm sea."}, "doc:log/today.md"),
        (Kind.TOOL, {"name": "add", "description": "Adds.", "server": "sums", "input_schema": {"type": "object"}}, "tool:sums/add"),
        (Kind.MCP_SERVER, {"name": "io.github.a/b", "version": "1", "packages": [{"identifier": "x"}]}, "server:io.github.a/b"),
    ],
)
async def test_every_kind_is_registered_as_its_file_would_be(
    rep: Repertory, kind: Kind, definition: dict[str, Any], entity_id: str
) -> None:
    entity = await rep.register(kind, {**definition, "status": "beta", "audience": ["sea"], "tags": ["one", "#two"]})
    assert (entity.id, entity.status, sorted(entity.audience), entity.tags) == (entity_id, Status.BETA, ["sea"], ("one", "two"))
    with pytest.raises(Conflict, match=entity_id):
        await rep.register(kind, definition)
    await rep.unregister(entity_id)
    assert await visible(rep) == set()


@pytest.mark.parametrize(
    ("kind", "definition", "reason"),
    [
        (Kind.TOOL, {"description": "Nameless."}, "no name"),
        (Kind.TOOL, {"name": "x", "inputSchema": 3}, "inputSchema must be an object"),
        (Kind.SKILL, {"name": "Not A Name", "description": "x"}, "lower-case"),
        (Kind.SKILL, {"markdown": "no head"}, "front matter"),
        (Kind.A2A_AGENT, {**CARD, "skills": [{}]}, "skills"),
        (Kind.VIRTUAL_SERVER, {"name": "x"}, "list of tools"),
        (Kind.VIRTUAL_SERVER, {"name": "x", "tools": [{"from": "nowhere"}]}, "server/tool"),
        (Kind.MCP_SERVER, {"name": "x", "tools": [{}]}, "no name"),
        (Kind.MCP_SERVER, {"name": "x", "tools": 3}, "tools must be a list"),
        (Kind.MCP_SERVER, {"name": "x", "status": "asleep"}, "status must be one of"),
        (Kind.MCP_SERVER, {"name": "x", "audience": []}, "names no group"),
        (Kind.DOCUMENT, {"path": "../etc.md", "markdown": "x"}, "relative"),
        (Kind.DOCUMENT, {"path": "x.md"}, "whole text"),
    ],
)
async def test_what_no_file_could_say_is_refused_whole(rep: Repertory, kind: Kind, definition: dict[str, Any], reason: str) -> None:
    with pytest.raises(SourceError, match=reason):
        await rep.register(kind, definition)
    assert await visible(rep) == set()


async def test_A14_a_replaced_entry_is_found_by_nothing_of_its_old_content(rep: Repertory) -> None:
    entity = await rep.register(Kind.MCP_SERVER, WEATHER)
    changed = {**WEATHER, "description": "Snow reports.", "tools": [{"name": "avalanche", "description": "Danger of slides."}]}
    after = await rep.replace(entity.id, Kind.MCP_SERVER, changed, entity.etag)
    assert after.etag != entity.etag
    assert await visible(rep) == {"server:weather", "tool:weather/avalanche"}
    assert ids(await ask(rep, "rain tides forecasts", strategy=repertory.model.Strategy.KEYWORD)) == []
    assert ids(await ask(rep, "danger of slides"))[0] == "tool:weather/avalanche"
    with pytest.raises(Changed):
        await rep.replace(entity.id, Kind.MCP_SERVER, WEATHER, entity.etag)
    with pytest.raises(Changed):
        await rep.unregister(entity.id, entity.etag)
    with pytest.raises(Conflict, match="keeps its kind and name"):
        await rep.replace(entity.id, Kind.MCP_SERVER, {**WEATHER, "name": "other"})
    with pytest.raises(Conflict, match="registered with server:weather"):
        await rep.unregister("tool:weather/avalanche")
    with pytest.raises(NotFound):
        await rep.unregister("server:nope")


def write_file(place: Path, **server: Any) -> Path:
    file = place / "weather.json"
    file.write_text(
        json.dumps({"server": {key: value for key, value in {**WEATHER, **server}.items() if key != "tools"}, "tools": WEATHER["tools"]})
    )
    return file


async def test_a_decision_survives_the_next_reading_and_can_be_taken_back(rep: Repertory, tmp_path: Path) -> None:
    file = write_file(tmp_path)
    await rep.add(file)
    before = await rep.show("server:weather")
    hidden = await rep.override("server:weather", {"enabled": False, "tags": ["mine"]}, before.etag)
    assert (hidden.enabled, hidden.tags) == (False, ("mine",))
    assert await visible(rep) == set()  # a tool follows its server
    assert ids(await ask(rep, "rain tomorrow")) == []
    write_file(tmp_path, description="Forecasts, now with wind.")
    report = await rep.add(file)
    assert report.changed == 1
    assert await visible(rep) == set()
    assert (await rep.show("server:weather")).description == "Forecasts, now with wind."
    back = await rep.override("server:weather", {"enabled": None, "tags": None})
    assert (back.enabled, back.tags) == (True, ("climate",))
    assert await visible(rep) == {"server:weather", "tool:weather/forecast", "tool:weather/tides"}
    assert ids(await ask(rep, "rain tomorrow"))[0] == "tool:weather/forecast"
    assert rep._store.overrides() == {}
    assert rep._store.originals(["server:weather", "tool:weather/forecast", "tool:weather/tides"]) == {}
    assert (await rep.add(file)).unchanged == 3


async def test_a_server_does_not_tell_of_a_tool_that_was_switched_off(rep: Repertory, tmp_path: Path) -> None:
    await rep.add(write_file(tmp_path))
    await rep.override("tool:weather/tides", {"enabled": False})
    server = await rep.show("server:weather")
    assert [tool["name"] for tool in server.details["tools"]] == ["forecast"]
    assert ids(await ask(rep, "when the sea rises", strategy=repertory.model.Strategy.KEYWORD)) == []
    assert (await rep.add(write_file(tmp_path))).changed == 0
    await rep.override("tool:weather/tides", {"enabled": None})
    assert [tool["name"] for tool in (await rep.show("server:weather")).details["tools"]] == ["forecast", "tides"]


async def test_a_narrowed_server_narrows_its_tools(rep: Repertory, tmp_path: Path) -> None:
    await rep.add(write_file(tmp_path))
    await rep.override("server:weather", {"audience": ["crew"], "scopes": ["sail"], "status": "deprecated"})
    found, _ = await rep.entries(Filter(statuses=frozenset(Status)), Principal.known("kim", ["crew"]))
    assert found == []
    found, _ = await rep.entries(Filter(statuses=frozenset(Status)), Principal.known("kim", ["crew"], ["sail"]))
    assert {(one.id, one.status) for one in found} == {
        (one, Status.DEPRECATED) for one in ("server:weather", "tool:weather/forecast", "tool:weather/tides")
    }
    assert (await rep.search(SearchRequest("rain"), Principal.anyone())).results == ()


async def test_what_a_file_brings_is_not_removed_by_hand(rep: Repertory, tmp_path: Path) -> None:
    await rep.add(write_file(tmp_path))
    with pytest.raises(Conflict, match="Disable it"):
        await rep.unregister("server:weather")
    with pytest.raises(Conflict, match="Disable it"):
        await rep.replace("server:weather", Kind.MCP_SERVER, WEATHER)
    with pytest.raises(Conflict, match="from the source 'weather'"):
        await rep.register(Kind.MCP_SERVER, WEATHER)


async def test_another_entry_of_a_removed_name_starts_anew(rep: Repertory) -> None:
    await rep.register(Kind.MCP_SERVER, WEATHER)
    await rep.override("server:weather", {"enabled": False})
    await rep.unregister("server:weather")
    assert (await rep.register(Kind.MCP_SERVER, WEATHER)).enabled
