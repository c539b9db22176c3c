"""How does a FastMCP server with many tools show only a few?

A transform like FastMCP's own BM25 search, with Repertory's hybrid search behind it: the list of tools becomes `search_tools`,
`describe_tools` and `call_tool`. Who sees which tool is FastMCP's decision, and every call goes through its middleware and authorisation.

    mcp = FastMCP("many tools")
    mcp.add_transform(HybridSearchTransform())
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Annotated, Any

from repertory.plugins.own import OwnTools, line

try:
    from fastmcp.exceptions import NotFoundError
    from fastmcp.server.context import Context
    from fastmcp.server.transforms.search.base import BaseSearchTransform
    from fastmcp.tools.base import Tool
except ImportError as error:
    raise ImportError("repertory.plugins.fastmcp needs FastMCP 4: pip install 'repertory[fastmcp]'") from error

KEYS = {"name", "title", "description", "inputSchema", "outputSchema", "annotations"}  # what is read; the rest may change from call to call
NOTHING = "No tool here seems to do that."


class HybridSearchTransform(BaseSearchTransform):
    """Replaces a server's tools by a search over them. `directory` keeps the index between runs; settings are Repertory's, by name.

    `FastMCP(..., lifespan=transform.lifespan)` closes the index with the server; without it, it ends with the process.
    """

    def __init__(
        self,
        *,
        directory: Path | str | None = None,
        max_results: int = 5,
        always_visible: list[str] | None = None,
        search_tool_name: str = "search_tools",
        describe_tool_name: str = "describe_tools",
        call_tool_name: str = "call_tool",
        **settings: Any,
    ) -> None:
        super().__init__(
            max_results=max_results, always_visible=always_visible, search_tool_name=search_tool_name, call_tool_name=call_tool_name
        )
        self._describe_tool_name = describe_tool_name
        self._own = OwnTools(directory, **settings)

    async def transform_tools(self, tools: Sequence[Tool]) -> Sequence[Tool]:
        """What a client sees."""
        *pinned_and_search, call = await super().transform_tools(tools)
        return [*pinned_and_search, self._make_describe_tool(), call]

    async def get_tool(self, name: str, call_next: Any, *, version: Any = None) -> Tool | None:
        """A tool by its name: ours, or whichever the server has."""
        if name == self._describe_tool_name:
            return self._make_describe_tool()
        return await super().get_tool(name, call_next, version=version)

    @contextlib.asynccontextmanager
    async def lifespan(self, _server: Any) -> AsyncIterator[None]:
        """For `FastMCP(lifespan=...)`: the index is closed with the server."""
        try:
            yield
        finally:
            await self.close()

    async def close(self) -> None:
        """Let go of the index."""
        await self._own.close()

    async def _search(self, tools: Sequence[Tool], query: str) -> Sequence[Tool]:
        by_name = {tool.name: tool for tool in tools}
        return [by_name[found.name] for found in await self._own.search(_listed(tools), query, self._max_results)]

    def _make_search_tool(self) -> Tool:
        async def search_tools(query: Annotated[str, "What you want to do, in your own words"], ctx: Context) -> str:
            """Find tools by what they do. Most of what this server can do is only found here.

            Answers one signature a line, the best first: describe_tools gives a schema, call_tool runs a tool.
            """
            visible = await self._get_visible_tools(ctx)
            found = await self._own.search(_listed(visible), query, self._max_results)
            return "\n".join(map(line, found)) or NOTHING

        search_tools.__doc__ = self._named(search_tools.__doc__)
        return Tool.from_function(fn=search_tools, name=self._search_tool_name)

    def _make_describe_tool(self) -> Tool:
        async def describe_tools(names: Annotated[list[str], "As the search gave them"], ctx: Context) -> list[dict[str, Any]]:
            """The full definitions of tools, with their schemas."""
            visible = {tool.name: tool for tool in await self.get_tool_catalog(ctx)}
            if unknown := [name for name in names if name not in visible]:
                raise NotFoundError(f"Unknown tool: {unknown[0]!r}")
            return _listed([visible[name] for name in names])

        return Tool.from_function(fn=describe_tools, name=self._describe_tool_name)

    def _named(self, text: str | None) -> str:
        """A description that calls the tools what they are called here."""
        return (text or "").replace("describe_tools", self._describe_tool_name).replace("call_tool", self._call_tool_name)


def _listed(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    definitions = (tool.to_mcp_tool().model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools)
    return [{key: value for key, value in definition.items() if key in KEYS} for definition in definitions]
