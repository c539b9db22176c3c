"""Does a FastMCP server find its own tools by Repertory's search, and keep its own rules?"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.conftest import require
from tests.provision import FASTMCP

THINGS = "invoice customer parcel meeting ticket photo room contract machine recipe".split()
ACTIONS = {
    "create": "Makes a new",
    "delete": "Removes a",
    "find": "Looks up a",
    "send": "Sends somebody a",
    "print": "Puts on paper a",
    "archive": "Stores away a",
}


@pytest.fixture
def many() -> Any:
    """A server of 60 tools."""
    require(FASTMCP)
    from fastmcp import FastMCP

    server = FastMCP("many")
    for thing in THINGS:
        for action, says in ACTIONS.items():
            server.tool(_work(name := f"{action}_{thing}"), name=name, description=f"{says} {thing}.")
    return server


def _work(name: str) -> Any:
    def work(number: int, note: str = "") -> str:
        return f"{name} {number}{note}"

    return work


@pytest_asyncio.fixture
async def search(many: Any) -> AsyncIterator[Any]:
    """The search in front of it."""
    from repertory.plugins.fastmcp import HybridSearchTransform

    transform = HybridSearchTransform(max_results=4)
    many.add_transform(transform)
    yield transform
    await transform.close()


async def test_list_search_describe_call(many: Any, search: Any) -> None:
    from fastmcp import Client

    async with Client(many) as client:
        assert [tool.name for tool in await client.list_tools()] == ["search_tools", "describe_tools", "call_tool"]
        found = (await client.call_tool("search_tools", {"query": "get rid of an appointment"})).data
        lines = found.splitlines()
        assert len(lines) <= 4
        assert "delete_meeting(number: integer, note?: string) - Removes a meeting." in lines
        (described,) = (await client.call_tool("describe_tools", {"names": ["delete_meeting"]})).structured_content["result"]
        assert described["inputSchema"]["required"] == ["number"]
        called = await client.call_tool("call_tool", {"name": "delete_meeting", "arguments": {"number": 7}})
        assert called.data == "delete_meeting 7"
        assert (await client.call_tool("delete_meeting", {"number": 8})).data == "delete_meeting 8"


async def test_what_a_caller_may_not_see_is_neither_found_nor_described_nor_called(many: Any, search: Any) -> None:
    from fastmcp import Client
    from fastmcp.exceptions import ToolError
    from fastmcp.server.middleware import Middleware

    class Clerk(Middleware):
        """Hides what deletes, for as long as it is told to."""

        hiding = False

        async def on_list_tools(self, context: Any, call_next: Any) -> Any:
            return [tool for tool in await call_next(context) if not (self.hiding and tool.name.startswith("delete_"))]

    clerk = Clerk()
    many.add_middleware(clerk)
    async with Client(many) as client:

        async def found() -> str:
            return str((await client.call_tool("search_tools", {"query": "delete_meeting"})).data)

        assert "delete_meeting(" in await found()
        clerk.hiding = True
        assert "delete_" not in await found()
        for tool, arguments in (("describe_tools", {"names": ["delete_meeting"]}), ("call_tool", {"name": "delete_meeting"})):
            with pytest.raises(ToolError, match="Unknown tool"):
                await client.call_tool(tool, arguments)
        clerk.hiding = False
        assert "delete_meeting(" in await found()


async def test_middleware_sees_every_call(many: Any, search: Any) -> None:
    from fastmcp import Client
    from fastmcp.server.middleware import Middleware

    seen: list[str] = []

    class Listener(Middleware):
        """Writes down what is called."""

        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            seen.append(context.message.name)
            return await call_next(context)

    many.add_middleware(Listener())
    async with Client(many) as client:
        await client.call_tool("call_tool", {"name": "print_recipe", "arguments": {"number": 1}})
    assert seen == ["call_tool", "print_recipe"]


async def test_a_tool_that_comes_later_is_found_and_pinned_ones_stay(many: Any, tmp_path: Path) -> None:
    from fastmcp import Client, FastMCP

    from repertory.plugins.fastmcp import HybridSearchTransform

    transform = HybridSearchTransform(directory=tmp_path / "kept", always_visible=["find_photo"], search_tool_name="look_for")
    server = FastMCP("mounting", lifespan=transform.lifespan)
    server.mount(many)
    server.add_transform(transform)
    async with Client(server) as client:
        assert [tool.name for tool in await client.list_tools()] == ["find_photo", "look_for", "describe_tools", "call_tool"]
        asked = {"query": "exchange rate of two currencies"}
        assert "convert_money" not in (await client.call_tool("look_for", asked)).data

        @server.tool
        def convert_money(amount: float, into: str) -> str:
            """Tells what an amount is worth in another currency, at today's exchange rate."""
            return f"{amount} {into}"

        found = (await client.call_tool("look_for", asked)).data
        assert found.startswith("convert_money(amount: number, into: string)")
    assert (tmp_path / "kept").is_dir()
