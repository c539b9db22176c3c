"""Are entries registered, changed and taken out over HTTP?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.surfaces.programs import Served, serving
from tests.surfaces.test_rest import problem

TOOL = {
    "kind": "tool",
    "name": "measure_depth",
    "description": "Measure the depth of a harbour basin.",
    "tags": ["sonar"],
    "details": {"server": "soundings", "input_schema": {"type": "object", "properties": {"basin": {"type": "string"}}}},
}
ID = "/api/entries/tool:soundings%2Fmeasure_depth"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("life") / "catalog", REPERTORY_EMBEDDER="none") as served:
        yield served


@pytest.fixture
def admin(server: Served) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=server.url, headers=server.as_owner, timeout=30, trust_env=False) as client:
        yield client
        client.delete(ID)


def found(http: httpx2.Client, query: str) -> list[str]:
    answer = http.post("/api/search", json={"query": query, "strategy": "bm25"}).json()
    return [result["id"] for result in answer["results"]]


def test_an_entry_lives_from_its_registration_to_its_end(admin: httpx2.Client) -> None:
    made = admin.post("/api/entries", json=TOOL)
    assert made.status_code == 201, made.text
    assert made.json()["id"] == "tool:soundings/measure_depth"
    assert found(admin, "harbour") == ["tool:soundings/measure_depth"]
    assert problem(admin.post("/api/entries", json=TOOL)) == (409, "conflict")
    etag = made.headers["etag"]
    assert etag == admin.get(ID).headers["etag"]
    changed = {**TOOL, "description": "Count whales."}
    assert problem(admin.put(ID, json=changed, headers={"If-Match": '"old"'})) == (412, "changed")
    assert problem(admin.put(ID, json=changed)) == (422, "invalid_request")
    put = admin.put(ID, json=changed, headers={"If-Match": etag})
    assert put.status_code == 200
    assert put.headers["etag"] != etag
    assert (found(admin, "harbour"), found(admin, "whales")) == ([], ["tool:soundings/measure_depth"])
    assert admin.post(f"{ID}/disable").json()["enabled"] is False
    assert found(admin, "whales") == []
    assert admin.post(f"{ID}/enable").json()["enabled"] is True
    assert admin.post(f"{ID}/deprecate").json()["status"] == "deprecated"
    assert found(admin, "whales") == []
    assert admin.post(f"{ID}/activate").json()["status"] == "active"
    patched = admin.patch(ID, json={"tags": ["sea"], "audience": ["crew"]}, headers={"If-Match": "*"})
    assert (patched.json()["tags"], patched.json()["audience"]) == (["sea"], ["crew"])
    assert problem(admin.patch(ID, json={"tags": []}, headers={"If-Match": etag})) == (412, "changed")
    assert admin.delete(ID).status_code == 204
    assert problem(admin.get(ID)) == (404, "not_found")


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"kind": "tool"}, "name"),
        ({"kind": "teapot", "name": "x"}, "kind"),
        ({"kind": "tool", "name": "x", "colour": "red"}, "colour"),
        ({"kind": "skill", "name": "Bad Name", "description": "x"}, "Bad Name"),
        ({"kind": "tool", "name": "x", "details": {"input_schema": 3}}, "input_schema"),
    ],
)
def test_what_cannot_be_registered_is_refused_with_the_reason(admin: httpx2.Client, body: dict[str, Any], named: str) -> None:
    response = admin.post("/api/entries", json=body)
    assert problem(response)[0] == 422
    assert named in response.json()["detail"]


def test_what_a_file_brings_can_be_switched_off_but_not_removed(admin: httpx2.Client, tmp_path: Path) -> None:
    (tmp_path / "buoys.json").write_text('{"tools": [{"name": "light_buoy", "description": "Light a buoy.", "inputSchema": {}}]}')
    admin.post("/api/add", json={"path": str(tmp_path / "buoys.json")})
    (entry,) = admin.get("/api/entries", params={"query": "light_buoy"}).json()["entries"]
    path = f"/api/entries/{entry['id'].replace('/', '%2F')}"
    assert problem(admin.delete(path)) == (409, "conflict")
    assert admin.post(f"{path}/disable").json()["enabled"] is False
    admin.post("/api/add", json={"path": str(tmp_path / "buoys.json")})
    assert admin.get(path).json()["enabled"] is False
    assert admin.patch(path, json={"enabled": None}).json()["enabled"] is True


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/api/entries"), ("PUT", ID), ("PATCH", ID), ("DELETE", ID), ("POST", f"{ID}/disable")]
)
def test_others_may_not_change_anything(server: Served, method: str, path: str) -> None:
    body = {"PATCH": {"enabled": False}}.get(method, TOOL)
    response = httpx2.request(method, server.url + path, json=body, headers={"If-Match": "*"}, trust_env=False)
    assert response.status_code in (401, 403)
