"""Is what is not public kept from whoever may not see it, over HTTP and in the terminal? (A18)"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.contracts.issuer import AUDIENCE, provider
from tests.surfaces.programs import Served, run, serving

PROBLEM = "application/problem+json"
TOOLS = {
    "server": {"name": "box", "description": "A box of lamps"},
    "tools": [
        {"name": "lamp", "description": "Lights a room"},
        {"name": "wages", "description": "Pays wages", "audience": ["hr"]},
        {"name": "vault", "description": "Opens the vault", "scopes": ["vault.open"]},
        {"name": "diary", "description": "Reads a diary", "audience": ["user:alice"]},
    ],
}
NO_MODEL = {"REPERTORY_EMBEDDER": "none"}


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalog that nobody has a key to yet."""
    directory = tmp_path_factory.mktemp("access")
    file = directory / "tools.json"
    file.write_text(json.dumps(TOOLS))
    assert run("add", file, catalog=directory / "catalog", **NO_MODEL).code == 0
    return directory / "catalog"


@pytest.fixture(scope="module")
def keys(catalog: Path) -> dict[str, dict[str, Any]]:
    """Keys, made while nobody serves."""
    wanted = {
        "alice": ["--group", "hr"],
        "bob": ["--scope", "vault.open", "--expires", "90d"],
        "root": ["--scope", "admin"],
    }
    return {name: run("keys", "create", name, *more, "--json", catalog=catalog, **NO_MODEL).answer for name, more in wanted.items()}


@pytest.fixture(scope="module")
def guarded(catalog: Path, keys: dict[str, Any]) -> Iterator[Served]:
    assert keys
    with serving(catalog, **NO_MODEL) as served:
        yield served


def client(served: Served, token: str | None = None) -> httpx2.Client:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx2.Client(base_url=served.url, headers=headers, trust_env=False)


def names(http: httpx2.Client) -> set[str]:
    listed = http.get("/api/entries", params={"kind": "tool"}).raise_for_status().json()
    assert listed["total"] == len(listed["entries"])
    return {entry["name"] for entry in listed["entries"]}


def denied(response: httpx2.Response, code: str) -> str:
    assert response.headers["content-type"] == PROBLEM
    body: dict[str, Any] = response.json()
    assert (body["code"], body["status"]) == (code, response.status_code)
    assert ("www-authenticate" in response.headers) == (response.status_code == 401)
    return str(body["detail"])


def test_each_caller_sees_what_is_theirs(guarded: Served, keys: dict[str, Any]) -> None:
    seen = {"alice": {"lamp", "wages", "diary"}, "bob": {"lamp", "vault"}, "root": {"lamp", "wages", "vault", "diary"}}
    for name, tools in seen.items():
        with client(guarded, keys[name]["token"]) as http:
            assert names(http) == tools
            found = http.post("/api/search", json={"query": "vault", "strategy": "keyword"}).json()
            assert bool(found["results"]) == ("vault" in tools)
            entry = http.get("/api/entries/server:box").json()
            assert {tool["name"] for tool in entry["details"]["tools"]} == tools
            assert ("provenance" in entry) == (name == "root")
            assert http.get("/api/entries/tool:box%2Fvault").status_code == (200 if "vault" in tools else 404)
            drawn = http.get("/api/graph").json()["text"]
            assert ("vault" in drawn) == ("vault" in tools)
    with client(guarded, guarded.token) as http:
        assert names(http) == seen["root"]


@pytest.mark.parametrize(
    "path", ["/api/entries", "/api/graph", "/api/classify?query=x", "/api/categories?query=x", "/api/keys", "/api/audit"]
)
def test_no_credential_is_not_enough_once_there_are_keys(guarded: Served, path: str) -> None:
    with client(guarded) as http:
        assert "credential" in denied(http.get(path), "unauthorized")
        assert http.post("/api/search", json={"query": "lamp"}).status_code == 401
        for everybodys in ("/health", "/", "/openapi.json"):
            assert http.get(everybodys).status_code == 200


@pytest.mark.parametrize(
    "header", ["Bearer rep_000000000000_" + "x" * 43, "Bearer guess", "Bearer", "Basic eDp5", "Bearer \xff", "rep_1_2"]
)
def test_a_bad_credential_is_never_taken_for_none(guarded: Served, header: str) -> None:
    with client(guarded) as http:
        response = http.get("/api/entries", headers=[(b"Authorization", header.encode("latin-1"))])
        assert response.status_code == 401
        assert header.split()[-1] not in denied(response, "unauthorized") or header in ("Bearer", "Basic eDp5")


def test_only_administrators_look_after_keys(guarded: Served, keys: dict[str, Any]) -> None:
    with client(guarded, keys["alice"]["token"]) as http:
        for answer in (http.get("/api/keys"), http.post("/api/keys", json={"name": "x"}), http.get("/api/audit")):
            denied(answer, "forbidden")
        assert http.delete(f"/api/keys/{keys['bob']['id']}").status_code == 403
    with client(guarded, keys["root"]["token"]) as http:
        for wrong in ({"name": "x", "groups": ["user:alice"]}, {"name": "x", "expires": "soon"}, {"name": "x", "scopes": ["a b"]}):
            assert http.post("/api/keys", json=wrong).status_code == 400
        made = http.post("/api/keys", json={"name": "carol", "scopes": ["vault.open"], "expires": "1h"})
        assert made.status_code == 201
        with client(guarded, made.json()["token"]) as carol:
            assert names(carol) == {"lamp", "vault"}
            listed = {key["name"]: key for key in http.get("/api/keys").json()["keys"]}
            assert listed["carol"]["last_used"]
            assert not [key for key in listed.values() if {"hash", "token", "secret"} & key.keys()]
            assert http.delete(f"/api/keys/{made.json()['id']}").status_code == 204
            denied(carol.get("/api/entries"), "unauthorized")
        assert denied(http.delete(f"/api/keys/{made.json()['id']}"), "not_found")
        events = http.get("/api/audit", params={"target": made.json()["id"]}).json()["events"]
        assert [(event["who"], event["action"]) for event in events] == [("root", "key.revoke"), ("root", "key.create")]


def test_denied_attempts_are_noted_but_cannot_flood(guarded: Served, keys: dict[str, Any]) -> None:
    with client(guarded) as http:
        for number in range(50):
            http.get("/api/entries", headers={"Authorization": f"Bearer rep_{number:012x}_{'x' * 43}"})
    log = run("audit", "--limit", "1000", "--json", catalog=guarded.catalog).answer["events"]
    refused = [event for event in log if event["action"] == "access.unauthorized" and event["target"] == "/api/entries"]
    assert 1 <= len(refused) <= 6
    assert {event["who"] for event in refused} == {"anyone"}
    secrets = [key["token"].split("_", 2)[2] for key in keys.values()]
    assert not [secret for secret in secrets if secret in json.dumps(log) or secret in guarded.said]
    assert any(event["action"] == "source.add" and event["who"] == "owner" for event in log)


def test_commands_go_through_the_process_that_serves(guarded: Served) -> None:
    made = run("keys", "create", "dave", catalog=guarded.catalog)
    assert made.out.startswith("rep_")
    assert "shown this once" in made.err
    key_id = made.out.split("_")[1]
    with client(guarded, made.out.strip()) as http:
        assert names(http) == {"lamp"}
        assert key_id in run("keys", "list", catalog=guarded.catalog).out
        assert run("keys", "revoke", key_id, catalog=guarded.catalog).code == 0
        assert http.get("/api/entries").status_code == 401
    assert run("keys", "revoke", key_id, catalog=guarded.catalog).code == 4
    assert run("audit", "--who", "nobody", catalog=guarded.catalog).code == 0


def test_a_catalog_with_keys_may_be_served_to_other_machines(catalog: Path, keys: dict[str, Any], tmp_path: Path) -> None:
    every = "0.0.0.0"  # noqa: S104 - that it is served with care is the point
    refused = run("serve", "--host", every, "--port", "0", catalog=tmp_path, **NO_MODEL)
    assert (refused.code, "keys create" in refused.err) == (2, True)
    copy = tmp_path / "copy"
    assert run("keys", "create", "root", "--scope", "admin", catalog=copy, **NO_MODEL).code == 0
    nameless = run("serve", "--host", every, "--port", "0", catalog=copy, **NO_MODEL)
    assert (nameless.code, "allowed_hosts" in nameless.err) == (2, True)
    with serving(copy, "--host", every, REPERTORY_ALLOWED_HOSTS="registry.example.org, other.example.org", **NO_MODEL) as served:
        port = httpx2.URL(served.url).port
        with client(served) as http:
            for host, status in (("registry.example.org", 200), ("localhost", 200), ("evil.example", 400)):
                assert http.get("/health", headers={"Host": f"{host}:{port}"}).status_code == status
        assert run("keys", "list", "--json", catalog=copy).answer["keys"][0]["name"] == "root"
        assert "with an API key" in served.said


def test_an_open_service_shows_what_is_public(catalog: Path, keys: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    file.write_text(json.dumps(TOOLS))
    opened = tmp_path / "catalog"
    run("add", file, catalog=opened, **NO_MODEL)
    key = run("keys", "create", "alice", "--json", catalog=opened, **NO_MODEL).answer
    with serving(opened, REPERTORY_ACCESS="open", **NO_MODEL) as served:
        with client(served) as http:
            assert names(http) == {"lamp"}
            denied(http.get("/api/audit"), "forbidden")
            assert http.get("/api/entries", headers={"Authorization": "Bearer nonsense"}).status_code == 401
        with client(served, key["token"]) as http:
            assert names(http) == {"lamp", "diary"}


def test_tokens_of_an_identity_provider(catalog: Path, tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    file.write_text(json.dumps(TOOLS))
    run("add", file, catalog=tmp_path / "catalog", **NO_MODEL)
    with provider() as oidc:
        settings = {"REPERTORY_OIDC_ISSUER": oidc.url, "REPERTORY_OIDC_AUDIENCE": AUDIENCE, "REPERTORY_OIDC_ADMIN_GROUP": "keepers"}
        with serving(tmp_path / "catalog", **settings, **NO_MODEL) as served:
            with client(served) as http:
                assert http.get("/api/entries").status_code == 401
            with client(served, oidc.token(groups=["hr"], scope="vault.open")) as http:
                assert names(http) == {"lamp", "wages", "vault", "diary"}
                assert http.get("/api/keys").status_code == 403
            with client(served, oidc.token(sub="kim", groups=["keepers"])) as http:
                assert http.get("/api/keys").status_code == 200
            for bad in ({"aud": "other"}, {"exp": 1}, {"iss": "https://evil.example"}):
                with client(served, oidc.token(**bad)) as http:
                    denied(http.get("/api/entries"), "unauthorized")
        oidc.down = True
        with serving(tmp_path / "catalog", **settings, **NO_MODEL) as served, client(served, oidc.token()) as http:
            response = http.get("/api/entries")
            assert (response.status_code, response.json()["code"]) == (503, "identity_unavailable")
