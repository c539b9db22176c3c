"""How is a virtual server a server?

At `/virtual/<name>/mcp`: the tools that it is composed of, under their aliases and with its descriptions, for those who may use them.
"""

from __future__ import annotations

from typing import Any

import mcp_types as types
from mcp import MCPError
from mcp.server.lowlevel import Server
from mcp_types import INVALID_PARAMS

import repertory
from repertory.app import Repertory
from repertory.errors import RepertoryError
from repertory.gateway.resolve import exposed_name
from repertory.mcp.passing import Context, as_tool, caller_of, forward, refusal
from repertory.model import Entity


class VirtualGate:
    """Every virtual server of a catalog as an MCP server; which one is meant, the path of the request says."""

    def __init__(self, rep: Repertory) -> None:
        self._rep = rep
        self.server: Server[Any] = Server(
            "repertory", version=repertory.__version__, title="Repertory", on_list_tools=self._list, on_call_tool=self._call
        )

    async def _list(self, context: Context, _: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        offered = await self._offered(context)
        return types.ListToolsResult(tools=[as_tool(name, entity, description) for name, (entity, description) in offered.items()])

    async def _call(self, context: Context, params: types.CallToolRequestParams) -> Any:
        offered = await self._offered(context)
        if params.name not in offered:
            raise MCPError(INVALID_PARAMS, f"There is no tool {params.name!r}; there are {', '.join(offered) or 'none'}.")
        try:
            return await forward(self._rep, context, params, offered[params.name][0].id, params.arguments or {})
        except RepertoryError as error:
            return refusal(error)

    async def _offered(self, context: Context) -> dict[str, tuple[Entity, str]]:
        """The tools by the names they go by here, each with its description here."""
        name = context.request.path_params["name"] if context.request is not None else ""
        try:
            composed = await self._rep.composed(f"virtual:{name}", caller_of(context))
        except RepertoryError as error:
            raise MCPError(INVALID_PARAMS, str(error)) from None
        return {exposed_name(alias): (entity, description) for alias, entity, description in composed}
