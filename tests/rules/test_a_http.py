"""A. The registry over HTTP: what its clients send and what they get."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from tests.surfaces.programs import serving

ENTRIES: list[dict[str, Any]] = [
    {
        "kind": "mcp_server",
        "name": "exa",
        "description": "Search things on the web.",
        "tags": ["web", "find"],
        "metadata": {"team": "Harbour", "cost": {"plan": "free", "limit": 5}},
        "details": {
            "tools": [{"name": "web_search_exa", "description": "Search pages.", "inputSchema": {"type": "object"}}, {"name": "fly"}]
        },
    },
    {"kind": "a2a_agent", "name": "Search Clerk", "description": "Answers questions.", "tags": ["find"], "details": {"skills": []}},
    {"kind": "skill", "name": "search-notes", "description": "Search the notes.", "tags": ["web"], "metadata": {"team": "harbour"}},
    {"kind": "skill", "name": "old-search", "description": "Search as before.", "status": "deprecated"},
    {"kind": "skill", "name": "draft-search", "description": "Search some day.", "status": "draft"},
    {"kind": "skill", "name": "off-search", "description": "Search not now.", "enabled": False},
    {"kind": "skill", "name": "polish-brass", "description": "For the harbour office."},
    {"kind": "virtual_server", "name": "search-finders", "details": {"tools": [{"from": "exa/web_search_exa", "alias": "search_all"}]}},
    {"kind": "document", "path": "search.md", "definition": {"markdown": "# Search\nHow we search."}},
]


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    """A service without any model, so whatever answers is lexical."""
    with (
        serving(tmp_path_factory.mktemp("registry") / "catalog", REPERTORY_EMBEDDER="none") as served,
        httpx2.Client(base_url=served.url, timeout=30, trust_env=False) as client,
    ):
        for entry in ENTRIES:
            made = client.post("/api/entries", json=entry, headers=served.as_owner)
            assert made.status_code == 201, made.text
        yield client


def semantic(http: httpx2.Client, **body: Any) -> dict[str, Any]:
    response = http.post("/api/search/semantic", json=body)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def names(answer: dict[str, Any], group: str) -> list[str]:
    return [one["name"] for one in answer[group]]


def test_A10_a_server_carries_matching_tools_and_tools_carry_schemas(http: httpx2.Client) -> None:
    answer = semantic(http, query="search", entity_types=["mcp_server", "tool"])
    (server,) = answer["servers"]
    assert server["matching_tools"] == [{"name": "web_search_exa", "description": "Search pages.", "score": 0.65}]
    (tool,) = answer["tools"]
    assert (tool["name"], tool["inputSchema"], tool["server"]) == ("web_search_exa", {"type": "object"}, "exa")
    alone = semantic(http, query="search", entity_types=["tool"])
    assert (names(alone, "tools"), alone["servers"]) == (["web_search_exa"], [])
    assert alone["tools"][0]["inputSchema"] == {"type": "object"}


def test_A11_an_answer_has_a_group_for_each_kind(http: httpx2.Client) -> None:
    answer = semantic(http, query="search", max_results=50)
    groups = ["servers", "tools", "agents", "skills", "virtual_servers", "documents"]
    assert answer["totals"] == {group: len(answer[group]) for group in groups}
    assert [names(answer, group) for group in groups] == [
        ["exa"],
        ["web_search_exa"],
        ["Search Clerk"],
        ["search-notes"],
        ["search-finders"],
        ["Search"],
    ]
    assert answer["search_mode"] == "lexical-only"
    assert answer["diagnostics"]


def test_A11_words_with_a_hash_are_tags_that_must_all_be_there(http: httpx2.Client) -> None:
    answer = semantic(http, query="search #web", max_results=50)
    assert (answer["query"], answer["tags"]) == ("search", ["web"])
    assert (names(answer, "servers"), names(answer, "skills"), names(answer, "agents")) == (["exa"], ["search-notes"], [])
    both = semantic(http, query="#web search #find", max_results=50)
    assert (names(both, "servers"), names(both, "skills")) == (["exa"], [])
    assert names(semantic(http, query="search", tags=["web", "find"]), "servers") == ["exa"]


def test_A11_tags_alone_are_a_search_and_nothing_is_none(http: httpx2.Client) -> None:
    answer = semantic(http, query="#find")
    assert (answer["search_mode"], names(answer, "servers"), names(answer, "agents")) == ("tag-only", ["exa"], ["Search Clerk"])
    assert names(semantic(http, tags=["find"]), "agents") == ["Search Clerk"]
    for body in ({}, {"query": "  "}, {"query": "", "tags": []}):
        assert http.post("/api/search/semantic", json=body).status_code == 400


def test_A11_metadata_is_projected(http: httpx2.Client) -> None:
    (server,) = semantic(http, query="search", metadata_fields=["cost.plan", "team", "cost.nope", "nope.deep"])["servers"]
    assert server["metadata"] == {"cost": {"plan": "free"}, "team": "Harbour"}
    assert "metadata" not in semantic(http, query="search")["servers"][0]


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"query": "x" * 513}, "query"),
        ({"query": "x", "max_results": 0}, "max_results"),
        ({"query": "x", "max_results": 51}, "max_results"),
        ({"query": "x", "entity_types": ["teapot"]}, "entity_types"),
        ({"query": "x", "colour": "red"}, "colour"),
        ({"query": "x", "metadata_fields": ["a"] * 21}, "metadata_fields"),
        ({"query": "x", "metadata_fields": ["a..b"]}, "metadata_fields"),
        ({"query": "x", "include_draft": "perhaps"}, "include_draft"),
    ],
)
def test_A11_what_is_wrong_is_refused_with_the_reason(http: httpx2.Client, body: dict[str, Any], named: str) -> None:
    response = http.post("/api/search/semantic", json=body)
    assert response.status_code == 422
    assert response.json()["detail"].startswith(named)
    assert http.post("/api/search/semantic", json={"query": "x" * 512}).status_code == 200


def test_A12_lists_find_letters_whatever_their_case(http: httpx2.Client) -> None:
    assert [one["name"] for one in http.get("/api/servers", params={"query": "HARBOUR"}).json()["servers"]] == ["exa"]  # in its metadata
    assert http.get("/api/servers", params={"query": "arbou"}).json()["total"] == 1
    assert http.get("/api/servers", params={"query": "web_SEARCH"}).json()["total"] == 1  # a tool of its
    assert http.get("/api/agents", params={"query": "clerk"}).json()["agents"][0]["id"] == "agent:search-clerk"
    assert http.get("/api/agents", params={"query": "nobody"}).json() == {"agents": [], "total": 0}
    assert http.get("/api/virtual-servers").json()["total"] == http.get("/api/servers").json()["total"] == 1
    assert http.get("/api/tools", params={"query": "fly"}).json()["total"] == 1
    page = http.get("/api/skills", params={"limit": 1, "offset": 1}).json()
    assert ([one["name"] for one in page["skills"]], page["total"]) == (["polish-brass"], 2)


def test_A12_skills_are_scored_and_metadata_adds_a_tenth(http: httpx2.Client) -> None:
    found = http.get("/api/skills/search", params={"q": "Harbour"}).json()
    assert [(one["name"], one["score"]) for one in found["skills"]] == [("polish-brass", 0.3), ("search-notes", 0.1)]
    (notes,) = http.get("/api/skills/search", params={"q": "notes"}).json()["skills"]
    assert notes["score"] == 0.8


def test_A13_status_decides_over_http_too(http: httpx2.Client) -> None:
    for flag, name in (("include_deprecated", "old-search"), ("include_draft", "draft-search"), ("include_disabled", "off-search")):
        assert name not in names(semantic(http, query="search", entity_types=["skill"]), "skills")
        assert name in names(semantic(http, query="search", entity_types=["skill"], **{flag: True}), "skills")
