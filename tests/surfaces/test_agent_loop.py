"""Does an agent get through a task: search, describe, call, and search again?"""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.surfaces.programs import Served, run, serving
from tests.surfaces.test_gateway import ERAS, NO_MODEL, agent

EXAMPLE = ROOT / "examples" / "agent_loop.py"
FACADE = ["search", "describe", "call"]


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service with the fifty tools of the example."""
    directory: Path = tmp_path_factory.mktemp("office")
    (directory / "office.py").write_text(runpy.run_path(str(EXAMPLE))["OFFICE"])
    server = {"command": sys.executable, "args": [str(directory / "office.py")]}
    (directory / "mcp.json").write_text(json.dumps({"mcpServers": {"office": server}}))
    added = run("add", directory / "mcp.json", catalog=directory / "catalog", **NO_MODEL)
    assert added.code == 0, added.err
    with serving(directory / "catalog", REPERTORY_REFRESH_MINUTES="0", **NO_MODEL) as served:
        yield served


@pytest.mark.parametrize("mode", ERAS)
async def test_a_scripted_agent_works_through_fifty_tools(office: Served, mode: str) -> None:
    async with agent(office, mode, "/mcp?discover=1") as client:
        listed: Any = await client.list_tools()
        assert "50 tools" in listed.tools[0].description

        async def search(query: str) -> list[str]:
            found: Any = await client.call_tool("search", {"query": query, "kinds": ["tool"], "limit": 12})
            return [result["id"].removeprefix("tool:").replace("/", "__") for result in found.structured_content["results"]]

        async def names() -> list[str]:
            return [tool.name for tool in (await client.list_tools()).tools]

        first = await search("create an invoice")
        assert first[0] == "office__create_invoice"
        assert await names() == [*FACADE, *first[:8]]
        described: Any = await client.call_tool("describe", {"ids": ["office/create_invoice"]})
        assert described.structured_content["entries"][0]["inputSchema"]["required"] == ["number"]
        called: Any = await client.call_tool("call", {"id": "office/create_invoice", "arguments": {"number": 7}})
        assert called.structured_content["what"] == "invoice"

        second = await search("print a shipment")
        assert second[0] == "office__print_shipment"
        assert await names() == [*FACADE, *second[:8]]
        assert "office__create_invoice" not in second[:8]  # replaced
        direct: Any = await client.call_tool("office__print_shipment", {"number": 12})
        assert direct.structured_content == {"did": "print", "what": "shipment", "number": 12, "created": 0}


def test_the_example_runs() -> None:
    done = subprocess.run([sys.executable, str(EXAMPLE)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert '"did": "create", "what": "invoice", "number": 7, "created": 1' in done.stdout
    assert "now listed: search, describe, call, office__print_shipment" in done.stdout
