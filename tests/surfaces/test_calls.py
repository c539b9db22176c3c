"""Is it kept who used what, and nothing of what was said?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.surfaces.programs import Served, run, serving
from tests.surfaces.test_gateway import agent, workshop

NO_MODEL = {"REPERTORY_EMBEDDER": "none"}
TYPED = "48151623"


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalog with one live server."""
    directory = tmp_path_factory.mktemp("calls")
    (directory / "mcp.json").write_text(json.dumps({"mcpServers": {"workshop": workshop("stdio")}}))
    assert run("add", directory / "mcp.json", catalog=directory / "catalog", **NO_MODEL).code == 0
    return directory / "catalog"


def listed(catalog: Path, *arguments: str) -> list[dict[str, Any]]:
    calls: list[dict[str, Any]] = run("calls", "--json", *arguments, catalog=catalog, **NO_MODEL).answer["calls"]
    return calls


async def test_every_call_is_in_the_history_with_its_end_and_nothing_else(catalog: Path) -> None:
    with serving(catalog, REPERTORY_REFRESH_MINUTES="0", REPERTORY_LOG_LEVEL="debug", **NO_MODEL) as served:
        await _use(served)
        newest = listed(catalog, "-n", "6")
        assert [(call["who"], call["tool"], call["outcome"]) for call in newest] == [
            ("anyone", "search", "ok"),
            ("owner", "", "not_found"),
            ("owner", "tool:workshop/add", "invalid_arguments"),
            ("owner", "tool:workshop/break_down", "refused"),
            ("owner", "tool:workshop/echo", "ok"),
            ("owner", "search", "ok"),
        ]
        assert all(call["ms"] > 0 and call["at"].startswith("20") for call in newest)
        assert (newest[5]["exposed"], newest[5]["withheld"]) == (1, 0)
        assert (newest[0]["exposed"], newest[0]["withheld"]) == (0, 2)  # the tool, and what its server says of it
        assert "exposed" not in newest[4]
        page = httpx2.get(
            f"{served.url}/api/calls", params={"limit": 2, "before": newest[1]["id"]}, headers=served.as_owner, trust_env=False
        )
        assert page.json()["calls"] == newest[2:4]
        assert httpx2.get(f"{served.url}/api/calls", trust_env=False).status_code == 403
        assert TYPED not in json.dumps(newest)
        assert TYPED not in served.said
    assert len(listed(catalog, "--tool", "search")) == 2  # written when the service ended
    assert {call["who"] for call in listed(catalog, "--who", "anyone")} == {"anyone"}
    shown = run("calls", "--tool", "search", catalog=catalog, **NO_MODEL).out
    assert "1 shown, 0 withheld" in shown
    assert TYPED.encode() not in b"".join(file.read_bytes() for file in catalog.glob("catalog.db*"))


async def _use(served: Served) -> None:
    async with agent(served) as client:
        await client.call_tool("search", {"query": f"echo {TYPED} says a text back", "limit": 1})
        await client.call_tool("call", {"id": "workshop/echo", "arguments": {"text": TYPED}})
        await client.call_tool("call", {"id": "workshop/break_down"})
        await client.call_tool("call", {"id": "workshop/add", "arguments": {"first": TYPED}})
        await client.call_tool("call", {"id": f"workshop/{TYPED}"})
    hide = {"audience": ["crew"]}
    hidden = httpx2.patch(f"{served.url}/api/entries/tool%3Aworkshop%2Fecho", json=hide, headers=served.as_owner, trust_env=False)
    assert hidden.status_code == 200, hidden.text
    async with (
        httpx2.AsyncClient(trust_env=False) as anyone,
        Client(streamable_http_client(f"{served.url}/mcp", http_client=anyone), cache=None) as client,
    ):
        await client.call_tool("search", {"query": "says a text back", "tags": ["nowhere"]})
    restored = httpx2.patch(
        f"{served.url}/api/entries/tool%3Aworkshop%2Fecho", json={"audience": None}, headers=served.as_owner, trust_env=False
    )
    assert restored.status_code == 200, restored.text


def test_nothing_is_kept_where_nobody_wants_it(catalog: Path) -> None:
    assert run("call", "workshop/whoami", catalog=catalog, REPERTORY_CALLS_DAYS="0", **NO_MODEL).code == 0
    assert listed(catalog, "--tool", "tool:workshop/whoami") == []
