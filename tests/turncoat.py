"""An MCP server whose tools are whatever a JSON file says at the moment: `python -m tests.turncoat FILE`."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server


async def main(file: Path) -> None:
    async def listed(_context: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool.model_validate(tool) for tool in json.loads(file.read_text("utf-8"))])

    async def called(_context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        return types.CallToolResult(content=[types.TextContent(text=f"{params.name} was called")])

    server: Server[Any] = Server("Turncoat", version="1.0", on_list_tools=listed, on_call_tool=called)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
