"""Can others read Repertory as an MCP registry, and agents by their cards?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

import repertory
from tests.surfaces.programs import Served, serving
from tests.surfaces.test_rest import problem

SERVER = {
    "name": "io.github.acme/weather",
    "title": "Weather",
    "description": "Forecasts.",
    "version": "1.4.2",
    "repository": {"url": "https://github.com/acme/weather", "source": "github"},
    "packages": [{"registryType": "npm", "identifier": "@acme/weather", "version": "1.4.2", "transport": {"type": "stdio"}}],
}
CARD = {
    "name": "Harbour Pilot",
    "description": "Brings ships in.",
    "version": "2.0.0",
    "protocolVersion": "0.3.0",
    "url": "https://pilot.example.com/a2a",
    "capabilities": {"streaming": True},
    "defaultInputModes": ["text/plain"],
    "defaultOutputModes": ["text/plain"],
    "skills": [{"id": "moor", "name": "Moor", "description": "Moors a ship.", "tags": ["port"]}],
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("official") / "catalog", REPERTORY_EMBEDDER="none") as served:
        for body in (
            {"kind": "mcp_server", "definition": SERVER},
            {"kind": "a2a_agent", "definition": CARD},
            {"kind": "mcp_server", "name": "tides", "status": "deprecated"},
            {"kind": "mcp_server", "name": "Größe & Gewicht", "description": "x" * 150},
            {"kind": "mcp_server", "name": "hidden", "enabled": False},
            {"kind": "mcp_server", "name": "secret", "audience": ["crew"]},
        ):
            made = httpx2.post(f"{served.url}/api/entries", json=body, headers=served.as_owner, trust_env=False)
            assert made.status_code == 201, made.text
        yield served


def get(server: Served, path: str, **parameters: Any) -> dict[str, Any]:
    response = httpx2.get(server.url + path, params=parameters, trust_env=False)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def test_a_server_json_goes_back_as_it_was(server: Served) -> None:
    told = get(server, "/v0.1/servers/io.github.acme%2Fweather/versions/latest")
    assert {**told["server"], "$schema": ""} == {**SERVER, "$schema": ""}
    assert told["_meta"]["io.modelcontextprotocol.registry/official"]["isLatest"] is True
    assert get(server, "/v0.1/servers/io.github.acme%2Fweather/versions/1.4.2") == told
    assert get(server, "/v0.1/servers/io.github.acme%2Fweather/versions")["servers"] == [told]
    assert httpx2.get(f"{server.url}/v0.1/servers/io.github.acme%2Fweather/versions/9", trust_env=False).status_code == 404
    assert httpx2.get(f"{server.url}/v0.1/servers/nobody%2Fhere/versions", trust_env=False).status_code == 404


def test_servers_come_in_pages_by_name(server: Served) -> None:
    whole = get(server, "/v0.1/servers")["servers"]
    names = [one["server"]["name"] for one in whole]
    assert names[0] == "io.github.acme/weather"
    assert names[1].startswith("local.repertory/Gr-e-Gewicht-")
    assert names[2:] == ["local.repertory/tides"]
    assert all(len(one["server"]["description"]) <= 100 for one in whole)
    first = get(server, "/v0.1/servers", limit=2)
    rest = get(server, "/v0.1/servers", limit=2, cursor=first["metadata"]["nextCursor"])
    assert first["servers"] + rest["servers"] == whole
    assert "nextCursor" not in rest["metadata"]
    assert [one["server"]["name"] for one in get(server, "/v0.1/servers", search="TID")["servers"]] == ["local.repertory/tides"]
    assert get(server, "/v0.1/servers", version="1.4.2")["metadata"]["count"] == 1
    assert problem(httpx2.get(f"{server.url}/v0.1/servers?limit=101", trust_env=False))[0] == 422
    assert problem(httpx2.get(f"{server.url}/v0.1/servers?cursor=%C3", trust_env=False))[0] == 400


async def test_another_repertory_reads_it(server: Served, tmp_path: Path) -> None:
    async with repertory.open(tmp_path / "other", embedder="none") as rep:
        report = await rep.add(f"{server.url}/v0.1/servers")
        assert (report.added, report.problems) == (3, [])
        weather = await rep.show("server:io.github.acme/weather")
        assert weather.details["packages"] == SERVER["packages"]
        report = await rep.add(f"{server.url}/agents/harbour-pilot/.well-known/agent-card.json")
        assert (report.added, report.problems) == (1, [])
        assert (await rep.show("agent:harbour-pilot")).details["url"] == CARD["url"]


def test_a_card_goes_back_as_it_was(server: Served) -> None:
    assert get(server, "/agents/harbour-pilot/.well-known/agent-card.json") == CARD
    assert httpx2.get(f"{server.url}/agents/nobody/.well-known/agent-card.json", trust_env=False).status_code == 404


def test_the_catalog_names_documents_that_are_there(server: Served) -> None:
    catalog = get(server, "/.well-known/ai-catalog.json")
    assert {entry["displayName"] for entry in catalog["entries"]} == {"io.github.acme/weather", "Harbour Pilot", "Größe & Gewicht"}
    for entry in catalog["entries"]:
        assert httpx2.get(entry["url"], trust_env=False).status_code == 200
    assert "secret" not in json.dumps(catalog)
