"""Does the REST API keep its promises to a real client?"""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.conftest import EXAMPLES
from tests.surfaces.programs import STOPPING, Served, run, serving
from tests.surfaces.test_cli import ANSWER, RESULT

PROBLEM = "application/problem+json"


def search(http: httpx2.Client, **body: Any) -> dict[str, Any]:
    response = http.post("/api/search", json=body)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def problem(response: httpx2.Response) -> tuple[int, str]:
    """Status and code, after checking that status line and body agree."""
    assert response.headers["content-type"] == PROBLEM
    body = response.json()
    assert set(body) == {"status", "code", "detail"}
    assert body["status"] == response.status_code
    return body["status"], body["code"]


def test_health_says_what_the_service_holds(http: httpx2.Client) -> None:
    held = http.get("/health").json()
    assert held["status"] == "ok"
    assert held["documents"] == sum(held["by_kind"].values()) > 100
    assert held["revision"] >= 1
    assert held["model"]


# search


def test_search_has_the_documented_shape(http: httpx2.Client) -> None:
    answer = search(http, query="schedule a meeting")
    assert set(answer) == ANSWER
    assert len(answer["results"]) == 10
    assert all(set(result) - {"matching_tools"} == RESULT for result in answer["results"])
    assert answer["results"][0]["id"] == "tool:calendar/create_event"
    assert answer["search_mode"] == "hybrid"


def test_explain_adds_the_evidence_of_each_lane(http: httpx2.Client) -> None:
    answer = search(http, query="schedule a meeting", explain=True, limit=3)
    assert set(answer) == ANSWER | {"lanes", "known", "anchors", "concepts", "withheld", "cached"}
    for result in answer["results"]:
        assert set(result) - {"matching_tools"} == RESULT | {"evidence", "boosts", "matched"}
        assert all(set(lane) == {"lane", "rank", "score", "contribution"} for lane in result["evidence"])
    assert {lane["lane"] for lane in answer["results"][0]["evidence"]} == {"bm25", "grams", "vector"}


@pytest.mark.parametrize("strategy", ["keyword", "bm25", "embedding", "graph", "hybrid", "auto", "regex"])
def test_every_strategy_answers_under_its_own_name(http: httpx2.Client, strategy: str) -> None:
    answer = search(http, query="invoice", strategy=strategy)
    assert answer["strategy"] == answer["search_mode"] == strategy
    assert any("invoice" in result["id"] for result in answer["results"])


def test_kinds_tags_and_limit_narrow_a_search(http: httpx2.Client) -> None:
    answer = search(http, query="incident", kinds=["skill", "document"], limit=4)
    assert len(answer["results"]) == 4
    assert {result["kind"] for result in answer["results"]} <= {"skill", "document"}
    tagged = search(http, query="what is planned", tags=["calendar", "rooms"])["results"]
    assert tagged
    assert all({"calendar", "rooms"} <= set(result["tags"]) for result in tagged)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"query": "x", "limit": 0}, "limit"),
        ({"query": "x", "limit": 51}, "limit"),
        ({"query": "x", "limit": "many"}, "limit"),
        ({"query": "x", "kinds": ["teapot"]}, "kinds"),
        ({"query": "x", "strategy": "guess"}, "strategy"),
        ({"query": "x", "colour": "red"}, "colour"),
        ({"query": "x", "preset": "guess"}, "preset"),
        ({"query": "x", "min_confidence": 2}, "min_confidence"),
        ({"query": "x" * 4097}, "query"),
    ],
    ids=lambda value: json.dumps(value)[:40] if isinstance(value, dict) else value,
)
def test_a_body_of_the_wrong_shape_is_refused_by_field(http: httpx2.Client, body: dict[str, Any], field: str) -> None:
    response = http.post("/api/search", json=body)
    assert problem(response) == (422, "invalid_request")
    assert response.json()["detail"].startswith(field)


def test_the_largest_limit_is_allowed(http: httpx2.Client) -> None:
    assert 10 < len(search(http, query="parcel", limit=50)["results"]) <= 50


def test_a_body_that_is_no_json_is_a_problem(http: httpx2.Client) -> None:
    response = http.post("/api/search", content=b"{", headers={"Content-Type": "application/json"})
    assert problem(response) == (422, "invalid_request")


@pytest.mark.parametrize("body", [{"query": " \t"}, {"query": ""}, {}])
def test_a_blank_query_is_browsing(http: httpx2.Client, body: dict[str, Any]) -> None:
    answer = search(http, **body, limit=2)
    assert answer["search_mode"] == "browse"
    assert [result["id"] for result in answer["results"]] == [entry["id"] for entry in http.get("/api/entries?limit=2").json()["entries"]]


def test_what_nothing_answers_is_not_answered(http: httpx2.Client) -> None:
    answer = search(http, query="how do you peel a mango without making a mess")
    assert (answer["results"], answer["abstained"]) == ([], True)
    assert [one["code"] for one in answer["diagnostics"]] == ["abstained"]
    assert search(http, query="how do you peel a mango without making a mess", min_confidence=0)["results"]


@pytest.mark.parametrize("preset", ["registry", "notes", "tools", "anchored", "auto", "default"])
def test_every_preset_answers(http: httpx2.Client, preset: str) -> None:
    assert search(http, query="schedule a meeting", preset=preset)["results"][0]["id"] in {"tool:calendar/create_event", "server:calendar"}


def test_auto_says_what_comes_next(http: httpx2.Client) -> None:
    answer = search(http, query="find free slots in my calendar", preset="auto", limit=2)
    assert {"id", "kind", "path", "name", "description", "reason"} == set(answer["next_steps"][0])
    assert any(step["reason"].startswith("needs ") for step in answer["next_steps"])


def test_a_query_can_be_classified_and_routed(http: httpx2.Client) -> None:
    found = http.get("/api/classify", params={"query": "compare invoices and receipts"}).json()
    assert (found["type"], found["needs_retrieval"], found["limit"]) == ("comparison", True, 15)
    routed = http.get("/api/categories", params={"query": "track a parcel"}).json()["categories"]
    assert routed[0]["name"] == "parcel-tracking"
    assert "tool:parcel-tracking/trackParcel" in routed[0]["tools"]


def test_a_pattern_that_does_not_compile_is_a_problem_that_says_why(http: httpx2.Client) -> None:
    response = http.post("/api/search", json={"query": "[a-", "strategy": "regex"})
    assert problem(response) == (400, "invalid_pattern")
    assert "'[a-'" in response.json()["detail"]


def test_nothing_found_is_an_answer(http: httpx2.Client) -> None:
    answer = search(http, query="zzqx", strategy="keyword")
    assert (answer["results"], answer["totals"]) == ([], {})


# entries


def test_entries_come_in_pages_of_one_order(http: httpx2.Client) -> None:
    whole = http.get("/api/entries", params={"kind": ["skill", "a2a_agent"]}).json()
    assert {entry["kind"] for entry in whole["entries"]} == {"skill", "a2a_agent"}
    assert whole["total"] == len(whole["entries"])
    page = http.get("/api/entries", params={"kind": ["skill", "a2a_agent"], "limit": 3, "offset": 2}).json()
    assert page["entries"] == whole["entries"][2:5]
    assert page["total"] == whole["total"]


@pytest.mark.parametrize(("name", "value"), [("limit", 0), ("limit", 1001), ("offset", -1), ("kind", "teapot")])
def test_a_wrong_page_is_refused_by_parameter(http: httpx2.Client, name: str, value: object) -> None:
    response = http.get("/api/entries", params={name: str(value)})
    assert problem(response) == (422, "invalid_request")
    assert response.json()["detail"].startswith(name)


@pytest.mark.parametrize("reference", ["tool:calendar/create_event", "calendar/create_event", "create_event"])
def test_an_entry_is_read_by_id_path_or_name(http: httpx2.Client, reference: str) -> None:
    entry = http.get(f"/api/entries/{reference}").json()
    assert entry["id"] == "tool:calendar/create_event"
    assert ["tool:calendar/create_event", "part_of", "server:calendar"] in entry["edges"]


def test_an_entry_that_is_not_there_is_a_problem(http: httpx2.Client) -> None:
    response = http.get("/api/entries/tool:calendar/nope")
    assert problem(response) == (404, "not_found")
    assert "'tool:calendar/nope'" in response.json()["detail"]


# what only the owner may do


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer guess"}, {"Authorization": "Bearer"}, {"Authorization": "Bearer \xff"}])
@pytest.mark.parametrize(("method", "path"), [("POST", "/api/add"), ("POST", "/api/check"), ("GET", "/api/sources")])
def test_without_the_token_the_owners_routes_are_closed(http: httpx2.Client, method: str, path: str, headers: dict[str, str]) -> None:
    encoded = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    response = http.request(method, path, json={"path": str(EXAMPLES)}, headers=encoded)
    assert response.status_code == 403
    assert str(EXAMPLES) not in response.text


def test_add_streams_its_progress_and_ends_with_the_report(served: Served, http: httpx2.Client, tmp_path: Path) -> None:
    for number in range(3):
        tools = [{"name": f"buoy_{number}", "description": f"Light buoy number {number} of the fairway."}]
        (tmp_path / f"{number}.json").write_text(json.dumps({"tools": tools}))
    with http.stream("POST", "/api/add", json={"path": str(tmp_path)}, headers=served.as_owner) as response:
        assert response.status_code == 200
        assert response.headers["content-type"] == "application/x-ndjson"
        *progress, last = [json.loads(line) for line in response.iter_lines()]
    assert {"stage": "Reading", "done": 3, "total": 3} in progress
    assert all(set(line) == {"stage", "done", "total"} for line in progress)
    assert (last["report"]["added"], last["report"]["embedded"], last["report"]["problems"]) == (3, 3, [])
    assert search(http, query="light a buoy", limit=1)["results"][0]["name"].startswith("buoy_")


def test_add_ends_with_the_problem_when_there_is_one(served: Served, http: httpx2.Client) -> None:
    response = http.post("/api/add", json={"path": "/nowhere/at/all"}, headers=served.as_owner)
    (line,) = [json.loads(line) for line in response.text.splitlines()]
    assert line["problem"]["code"] == "source_error"
    assert "/nowhere/at/all" in line["problem"]["message"]


def test_what_is_for_a_group_is_shown_to_the_owner_and_to_nobody_else(served: Served, http: httpx2.Client, tmp_path: Path) -> None:
    tool = {"name": "open_vault", "description": "Open the bullion vault.", "audience": ["treasury"]}
    (tmp_path / "vault.json").write_text(json.dumps({"tools": [tool]}))
    added = http.post("/api/add", json={"path": str(tmp_path)}, headers=served.as_owner)
    assert json.loads(added.text.splitlines()[-1])["report"]["added"] == 1
    names = []
    for headers in ({}, served.as_owner):
        found = http.post("/api/search", json={"query": "open the bullion vault"}, headers=headers).json()
        names.append("open_vault" in {result["name"] for result in found["results"]})
    assert names == [False, True]
    assert http.get("/api/entries/open_vault").status_code == 404
    assert http.get("/api/entries/open_vault", headers=served.as_owner).status_code == 200
    assert "open_vault" not in http.get("/api/entries", params={"limit": 1000}).text
    everything = {"nodes": "true", "format": "dot"}
    assert "open_vault" not in http.get("/api/graph", params=everything).text
    assert "open_vault" in http.get("/api/graph", params=everything, headers=served.as_owner).text
    assert http.get("/api/graph", params={"entry": "open_vault"}).status_code == 404


def test_the_graph_is_drawn_for_one_entry_or_for_all(http: httpx2.Client) -> None:
    one = http.get("/api/graph", params={"entry": "trackParcel", "format": "jsonld"}).json()
    assert set(one) == {"format", "text", "edges", "cut"}
    named = {node["label"] for node in json.loads(one["text"])["@graph"]}
    assert {"tool:parcel-tracking/trackParcel", "server:parcel-tracking", "skill:late-parcel-reply"} <= named
    every = http.get("/api/graph").json()
    assert every["text"].startswith("graph LR\n")
    assert every["edges"] > one["edges"]
    assert not every["cut"]
    assert http.get("/api/graph", params={"format": "png"}).status_code == 422


# the service itself


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", ""])
@pytest.mark.parametrize(("method", "path"), [("GET", "/"), ("GET", "/health"), ("POST", "/api/search")])
def test_a_foreign_host_name_is_refused(http: httpx2.Client, method: str, path: str, host: str) -> None:
    response = http.request(method, path, json={"query": "x"}, headers={"Host": host})
    assert response.status_code == 400
    assert "results" not in response.text


def test_localhost_is_no_foreign_name(served: Served, http: httpx2.Client) -> None:
    assert http.get("/health", headers={"Host": f"localhost:{httpx2.URL(served.url).port}"}).status_code == 200


def test_no_other_origin_is_invited(http: httpx2.Client) -> None:
    response = http.get("/health", headers={"Origin": "http://evil.example"})
    assert not [name for name in response.headers if name.startswith("access-control-")]


def test_the_openapi_document_describes_what_is_public(http: httpx2.Client) -> None:
    document = http.get("/openapi.json").json()
    assert set(document["paths"]) == {"/health", "/api/search", "/api/entries", "/api/entries/{reference}", "/api/graph"} | {
        "/api/classify",
        "/api/categories",
        "/api/call",
    }
    body = document["components"]["schemas"]["SearchBody"]
    assert (body["properties"]["limit"]["minimum"], body["properties"]["limit"]["maximum"]) == (1, 50)


def test_serving_to_other_machines_is_refused(tmp_path: Path) -> None:
    ran = run("serve", "--host", "0.0.0.0", "--port", "0", catalog=tmp_path)  # noqa: S104 - that this is refused is the point
    assert ran.code == 2
    assert "'0.0.0.0'" in ran.err
    assert "loopback" in ran.err


def test_a_port_that_is_taken_is_named(served: Served, tmp_path: Path) -> None:
    port = str(httpx2.URL(served.url).port)
    ran = run("serve", "--port", port, catalog=tmp_path)
    assert ran.code == 5
    assert port in ran.err
    assert "--port" in ran.err


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_at_once_and_frees_the_catalog(tmp_path: Path, sign: signal.Signals) -> None:
    with (
        serving(tmp_path, REPERTORY_EMBEDDER="none") as server,
        httpx2.Client(base_url=server.url, trust_env=False) as client,
    ):
        assert client.get("/health").status_code == 200  # the connection stays open
        begun = time.monotonic()
        server.process.send_signal(sign)
        try:
            code = server.process.wait(STOPPING)
        except subprocess.TimeoutExpired:
            pytest.fail(f"still there {time.monotonic() - begun:.1f} s after {sign.name}")
        assert code in {0, -sign, 128 + sign}
        assert "Traceback" not in server.said
        assert run("list", catalog=tmp_path, REPERTORY_EMBEDDER="none").code == 0
