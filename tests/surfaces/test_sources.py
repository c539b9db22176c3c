"""Are sources added, read again and forgotten over HTTP, and can one listen?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.surfaces.programs import Served, serving
from tests.surfaces.test_rest import problem


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("sources") / "catalog", REPERTORY_EMBEDDER="none") as served:
        yield served


@pytest.fixture
def admin(server: Served) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=server.url, headers=server.as_owner, timeout=30, trust_env=False) as client:
        yield client


def tools(place: Path, *names: str) -> Path:
    file = place / "fleet.json"
    file.write_text(json.dumps({"tools": [{"name": name, "inputSchema": {}} for name in names]}))
    return file


def ended(admin: httpx2.Client, response: httpx2.Response) -> list[tuple[str, Any]]:
    """The events of a run, to its end."""
    assert response.status_code == 202, response.text
    told = admin.get(f"/api/runs/{response.json()['run']['id']}/events")
    assert told.headers["content-type"].startswith("text/event-stream")
    events = [dict(line.split(": ", 1) for line in block.splitlines()) for block in told.text.split("\n\n") if block.startswith("event")]
    return [(event["event"], json.loads(event["data"])) for event in events]


def test_a_source_is_added_read_again_and_forgotten(admin: httpx2.Client, tmp_path: Path) -> None:
    file = tools(tmp_path, "steer", "moor")
    *_, (name, report) = ended(admin, admin.post("/api/sources", json={"location": str(file)}))
    assert (name, report["added"]) == ("report", 2)
    (source,) = admin.get("/api/sources").json()["sources"]
    assert (source["name"], source["state"], source["entries"]) == ("fleet", "ok", 2)
    tools(tmp_path, "steer", "moor", "sink")
    *_, (name, report) = ended(admin, admin.post("/api/sources/fleet/refresh"))
    assert (report["added"], report["unchanged"]) == (1, 2)
    run = admin.get("/api/runs").json()["runs"][0]
    assert (run["state"], run["report"]) == ("done", report)
    assert admin.get(f"/api/runs/{run['id']}").json() == run
    assert admin.delete("/api/sources/fleet").status_code == 204
    assert admin.get("/api/entries").json()["total"] == 0
    assert admin.get("/api/sources").json()["sources"] == []
    assert problem(admin.delete("/api/sources/fleet")) == (404, "not_found")
    assert problem(admin.post("/api/sources/fleet/refresh")) == (404, "not_found")


def test_a_run_that_fails_says_why(admin: httpx2.Client) -> None:
    ((name, told),) = ended(admin, admin.post("/api/sources", json={"location": "/nowhere/at/all"}))
    assert (name, told["code"]) == ("problem", "source_error")
    assert admin.get("/api/runs").json()["runs"][0]["state"] == "failed"
    assert problem(admin.get("/api/runs/nope")) == (404, "not_found")


def test_what_was_registered_is_no_file_to_be_read_again(admin: httpx2.Client) -> None:
    admin.post("/api/entries", json={"kind": "tool", "name": "anchor"})
    *_, (name, told) = ended(admin, admin.post("/api/sources/registered/refresh"))
    assert (name, told["code"]) == ("problem", "conflict")


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/api/runs"), ("GET", "/api/sources"), ("POST", "/api/sources"), ("DELETE", "/api/sources/x")]
)
def test_sources_are_for_administrators(server: Served, method: str, path: str) -> None:
    response = httpx2.request(method, server.url + path, json={"location": "https://example.com"}, trust_env=False)
    assert response.status_code in (401, 403)
