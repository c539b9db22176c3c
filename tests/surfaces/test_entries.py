"""Are entries listed, read and explained over HTTP?"""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from tests.surfaces.programs import Served
from tests.surfaces.test_rest import problem


def get(http: httpx2.Client, path: str, **parameters: Any) -> dict[str, Any]:
    response = http.get(path, params=parameters)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def test_the_service_says_how_it_is_doing(http: httpx2.Client, served: Served) -> None:
    status = get(http, "/api/status")
    assert status["revision"] == status["indexed_revision"] >= 1
    assert (status["waiting"], status["sources_broken"]) == (0, 0)
    assert status["by_status"]["active"] > 50
    assert get(http, "/ready") == {"ready": True, "reasons": []}
    assert get(http, "/api/version")["name"] == "repertory"
    assert get(http, "/api/whoami")["admin"] is False
    assert http.get("/api/whoami", headers=served.as_owner).json()["admin"] is True


def test_tags_are_counted_over_what_the_caller_sees(http: httpx2.Client) -> None:
    tags = get(http, "/api/search/tags", limit=1000)["tags"]
    assert [one["count"] for one in tags] == sorted((one["count"] for one in tags), reverse=True)
    begun = get(http, "/api/search/tags", prefix="CALE", kind="mcp_server")["tags"]
    assert begun == [{"tag": "calendar", "count": 1}]
    assert get(http, "/api/entries", tag="calendar", kind="mcp_server")["total"] == 1


def test_entries_are_narrowed_by_text_status_and_tag(http: httpx2.Client) -> None:
    found = get(http, "/api/entries", query="CREATE_EV")
    assert [entry["id"] for entry in found["entries"]][:2] == ["server:calendar", "tool:calendar/create_event"]
    assert get(http, "/api/entries", status="draft", limit=1)["total"] < get(http, "/api/entries", limit=1)["total"]
    assert get(http, "/api/entries", query="zzqx") == {"entries": [], "total": 0}


def test_an_entry_has_a_state_that_others_can_name(http: httpx2.Client) -> None:
    response = http.get("/api/entries/tool:calendar%2Fcreate_event")
    assert response.headers["etag"] == f'"{response.json()["etag"]}"'
    assert "audience" not in response.json()
    assert http.get("/api/entries/tool:calendar%2Fcreate_event").headers["etag"] == response.headers["etag"]


def test_what_an_entry_says_can_be_read(http: httpx2.Client) -> None:
    tool = get(http, "/api/entries/tool:calendar%2Fcreate_event/content")
    assert tool["signature"].startswith("create_event(")
    assert tool["input_schema"]["properties"]
    note = get(http, "/api/entries/doc:catalog%2Fnotes%2Fon-call-guide.md/content")
    assert len(note["sections"]) > 1
    assert note["sections"][1]["text"] in note["markdown"]
    skill = get(http, "/api/entries/skill:cut-release/content")
    assert "##" in skill["markdown"]


def test_an_address_with_an_encoded_slash_names_one_entry(http: httpx2.Client) -> None:
    assert problem(http.get("/api/entries/tool:calendar%2Fcontent")) == (404, "not_found")
    assert "'tool:calendar/content'" in http.get("/api/entries/tool:calendar%2Fcontent").json()["detail"]
    assert "'tool:calendar'" in http.get("/api/entries/tool:calendar/content").json()["detail"]


@pytest.mark.parametrize("reference", ["server:calendar", "agent:customs-clerk", "tool:calendar%2Fcreate_event"])
def test_how_an_entry_is_used_is_told_or_why_not(http: httpx2.Client, reference: str) -> None:
    told = get(http, f"/api/entries/{reference}/connect")
    assert bool(told["snippets"]) != bool(told.get("reason"))


def test_the_graph_comes_as_nodes_and_edges(http: httpx2.Client) -> None:
    graph = get(http, "/api/graph", entry="trackParcel", format="json")["graph"]
    assert {"id": "server:parcel-tracking", "kind": "server", "name": "parcel-tracking"} in graph["nodes"]
    ids = {node["id"] for node in graph["nodes"]}
    assert all({edge["origin"], edge["target"]} <= ids for edge in graph["edges"])


# pages of a search


def test_a_search_goes_on_where_it_ended(http: httpx2.Client) -> None:
    body: dict[str, Any] = {"query": "parcel", "limit": 4, "min_confidence": 0}
    seen: list[str] = []
    for _ in range(20):
        answer = http.post("/api/search", json=body).json()
        seen += [result["id"] for result in answer["results"]]
        if answer["cursor"] is None:
            break
        assert len(answer["results"]) == 4
        body["cursor"] = answer["cursor"]
    whole = http.post("/api/search", json={**body, "limit": 50, "cursor": None}).json()
    assert whole["cursor"] is None
    assert len(seen) == len(set(seen))
    assert set(seen) >= {result["id"] for result in whole["results"]}
    first = http.post("/api/search", json={"query": "parcel", "limit": 4, "min_confidence": 0}).json()
    assert seen[:4] == [result["id"] for result in first["results"]]


@pytest.mark.parametrize("cursor", ["x", "", "e30", "WyJhIiwgMSwgMF0", "WzEsMiwzXQ", "é"])
def test_a_cursor_of_nobody_is_refused(http: httpx2.Client, cursor: str) -> None:
    assert problem(http.post("/api/search", json={"query": "parcel", "cursor": cursor})) == (400, "invalid_request")


def test_a_cursor_belongs_to_its_request(http: httpx2.Client) -> None:
    cursor = http.post("/api/search", json={"query": "parcel", "limit": 3}).json()["cursor"]
    assert problem(http.post("/api/search", json={"query": "invoice", "limit": 3, "cursor": cursor})) == (400, "invalid_request")


def test_a_page_of_a_changed_catalog_says_so(http: httpx2.Client) -> None:
    from repertory.rest.pages import Cursor

    cursor = Cursor.decode(http.post("/api/search", json={"query": "parcel", "limit": 3}).json()["cursor"])
    older = cursor._replace(revision=cursor.revision - 1).encode()
    answer = http.post("/api/search", json={"query": "parcel", "limit": 3, "cursor": older}).json()
    assert answer["results"]
    assert answer["diagnostics"][0]["code"] == "revision_changed"


def test_full_detail_brings_the_schemas(http: httpx2.Client) -> None:
    body = {"query": "schedule a meeting", "limit": 1}
    (compact,) = http.post("/api/search", json=body).json()["results"]
    (full,) = http.post("/api/search", json={**body, "detail": "full"}).json()["results"]
    assert full == {**full, **compact}
    assert full["details"]["input_schema"]["properties"]
    assert full["status"] == "active"
