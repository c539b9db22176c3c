"""How does a Pydantic AI agent use a catalog, or find its own tools?

`RepertoryToolset` gives an agent the tools of a catalog: search, describe and call, and what a search found as tools of their own.
`hybrid_search` finds an agent's own deferred tools, for its `ToolSearch` capability.

    Agent(model, toolsets=[RepertoryToolset("my-catalog")])
    Agent(model, tools=deferred, capabilities=[ToolSearch(strategy=hybrid_search())])
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from mcp import Client, MCPError
from pydantic_core import SchemaValidator, core_schema

from repertory.plugins.own import OwnTools
from repertory.plugins.reach import Where, reach, told

try:
    from pydantic_ai import BinaryContent, ModelRetry, RunContext, ToolReturn
    from pydantic_ai.tools import ToolDefinition
    from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
except ImportError as error:
    raise ImportError("repertory.plugins.pydantic_ai needs Pydantic AI 2: pip install 'repertory[pydantic-ai]'") from error

MAX_FOUND = 10  # tools that one search makes known: as many as the capability's own search does
_ANY_ARGUMENTS = SchemaValidator(core_schema.dict_schema(core_schema.str_schema(), core_schema.any_schema()))  # the gateway checks them


class RepertoryToolset(AbstractToolset[Any]):
    """The tools of a catalog: an open one, a directory, or the address of a service. Runs share one session."""

    def __init__(
        self, where: Where = None, *, token: str | None = None, discover: bool = False, id: str = "repertory", max_retries: int = 2
    ) -> None:
        self._reach = partial(reach, where, token=token, discover=discover)
        self._id = id
        self._max_retries = max_retries
        self._users = 0
        self._changing = asyncio.Lock()
        self._session: asyncio.Task[None] | None = None
        self._leaving = asyncio.Event()
        self._client: Client | None = None

    @property
    def id(self) -> str:
        """How durable executions tell it from other toolsets."""
        return self._id

    async def __aenter__(self) -> RepertoryToolset:
        async with self._changing:
            if self._users == 0:
                await self._connect()
            self._users += 1
        return self

    async def __aexit__(self, *_: object) -> None:
        async with self._changing:
            self._users -= 1
            if self._users == 0 and self._session is not None:
                self._leaving.set()
                await self._session

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        """What the gateway lists now."""
        listed = (await self._connected().list_tools()).tools
        return {
            tool.name: ToolsetTool(
                toolset=self,
                tool_def=ToolDefinition(name=tool.name, description=tool.description, parameters_json_schema=tool.input_schema),
                max_retries=self._max_retries,
                args_validator=_ANY_ARGUMENTS,
            )
            for tool in listed
        }

    async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]) -> Any:
        """The model reads the words of the answer; a program finds its structured content in the metadata."""
        try:
            result = await self._connected().call_tool(name, tool_args)
        except MCPError as error:
            raise ModelRetry(error.error.message) from None
        words, media = told(result)
        if result.is_error:
            raise ModelRetry(words)
        shown = [BinaryContent(base64.b64decode(one.data), media_type=one.type) for one in media]
        return ToolReturn(return_value=[words, *shown] if shown else words, metadata=result.structured_content)

    def _connected(self) -> Client:
        if self._client is None:
            raise RuntimeError("The toolset is not open: use it in an agent's run, or within `async with`.")
        return self._client

    async def _connect(self) -> None:
        """The session lives in a task of its own: whoever enters first need not be who leaves last."""
        opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._leaving = asyncio.Event()
        self._session = asyncio.create_task(self._hold(opened))
        await opened

    async def _hold(self, opened: asyncio.Future[None]) -> None:
        try:
            async with self._reach() as self._client:
                opened.set_result(None)
                await self._leaving.wait()
        except Exception as error:
            if opened.done():
                raise
            opened.set_exception(error)
        finally:
            self._client = None


class HybridSearch:
    """A search over an agent's own tools, to be called by `ToolSearch`."""

    def __init__(self, own: OwnTools, limit: int) -> None:
        self._own = own
        self._limit = limit

    async def __call__(self, ctx: RunContext[Any], queries: Sequence[str], tools: Sequence[ToolDefinition]) -> list[str]:
        """The names of what answers any of the queries, each query's best first."""
        listed = [{"name": tool.name, "description": tool.description, "inputSchema": tool.parameters_json_schema} for tool in tools]
        found = [await self._own.search(listed, query, self._limit) for query in queries if query.strip()]
        return list(dict.fromkeys(tool.name for answer in found for tool in answer))

    async def close(self) -> None:
        """Let go of the index."""
        await self._own.close()


def hybrid_search(directory: Path | str | None = None, *, limit: int = MAX_FOUND, **settings: Any) -> HybridSearch:
    """A strategy for `ToolSearch`. `directory` keeps the index between runs; settings are Repertory's, by name."""
    return HybridSearch(OwnTools(directory, **settings), limit)
