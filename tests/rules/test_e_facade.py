"""E. Auto and the gateway: three tools, whatever is behind them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest_asyncio
from mcp import Client
from tests.catalogs import tool

import repertory
from repertory.app import Repertory
from repertory.mcp.server import MAX_PROXIES, Gate

FACADE = ["search", "describe", "call"]
TINY = 1_000  # tokens of four characters, for all three with their schemas
VERBS = ("create", "list", "read", "update", "delete")
NOUNS = ("invoice", "customer", "shipment", "contract", "employee", "warehouse", "payment", "ticket", "calendar", "report")


@pytest_asyncio.fixture
async def fifty(tmp_path: Path) -> AsyncIterator[Repertory]:
    """Fifty tools with schemas."""
    async with repertory.open(tmp_path / "catalog", embedder="none") as rep:
        details = {"input_schema": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}}
        described = [tool(f"{noun}s/{verb}_{noun}", f"{verb.title()}s one {noun}.", details=details) for noun in NOUNS for verb in VERBS]
        await rep.put("office", described)
        yield rep


async def names(client: Client) -> list[str]:
    return [listed.name for listed in (await client.list_tools()).tools]


async def search(client: Client, query: str, limit: int = 20) -> list[str]:
    found: Any = await client.call_tool("search", {"query": query, "limit": limit})
    return [result["id"] for result in found.structured_content["results"]]


async def test_E10_the_facade_is_tiny_and_never_changes_with_use(fifty: Repertory) -> None:
    async with Client(Gate(fifty).server, cache=None) as client:
        before = await client.list_tools()
        assert [listed.name for listed in before.tools] == FACADE
        assert len(before.model_dump_json(exclude_none=True)) / 4 < TINY
        assert await search(client, "delete an invoice")
        await client.call_tool("describe", {"ids": ["tool:invoices/delete_invoice"]})
        assert (await client.list_tools()).tools == before.tools


async def test_E10_answers_are_signatures_and_schemas_come_from_describe(fifty: Repertory) -> None:
    async with Client(Gate(fifty).server, cache=None) as client:
        found: Any = await client.call_tool("search", {"query": "delete an invoice", "limit": 1})
        assert found.content[0].text.splitlines()[0] == "invoices/delete_invoice(id: string) - Deletes one invoice."
        assert "properties" not in json.dumps(found.structured_content)
        described: Any = await client.call_tool("describe", {"ids": ["invoices/delete_invoice"]})
        assert described.structured_content["entries"][0]["inputSchema"]["properties"] == {"id": {"type": "string"}}


async def test_E10_proxies_are_at_most_eight_and_replaced_by_each_search(fifty: Repertory) -> None:
    assert MAX_PROXIES == 8
    async with Client(Gate(fifty, discover=True).server, cache=None) as client:
        assert await names(client) == FACADE
        found = await search(client, "one invoice")
        assert len(found) > 8
        proxies = (await client.list_tools()).tools[3:]
        assert [proxy.name for proxy in proxies] == [one.removeprefix("tool:").replace("/", "__") for one in found[:8]]
        assert all(proxy.input_schema["required"] == ["id"] for proxy in proxies)  # their real schemas
        again = await search(client, "delete a payment", limit=1)
        assert again == ["tool:payments/delete_payment"]
        assert await names(client) == [*FACADE, "payments__delete_payment"]
