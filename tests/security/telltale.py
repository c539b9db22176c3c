"""An MCP server that tells everybody what it was shown: `python -m tests.security.telltale PORT`."""

from __future__ import annotations

import sys
from typing import Any

from mcp import MCPError
from mcp.server.mcpserver import Context, MCPServer
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

telltale = MCPServer("Telltale")


@telltale.tool()
def confess(context: Context[Any, Any]) -> str:
    """Fails, and says with which credentials."""
    shown = (context.headers or {}).get("authorization", "")
    raise MCPError(-32050, f"I do not like {shown}", {"shown": [shown]})


async def refuse(request: Request, call_next: RequestResponseEndpoint) -> Response:
    shown = request.headers.get("authorization", "")
    if "unwanted" in shown:
        return JSONResponse({"jsonrpc": "2.0", "id": None, "error": {"code": -32001, "message": f"unwanted: {shown}"}}, 401)
    return await call_next(request)


if __name__ == "__main__":
    import uvicorn

    app = telltale.streamable_http_app()
    app.add_middleware(BaseHTTPMiddleware, dispatch=refuse)
    uvicorn.run(app, port=int(sys.argv[1]), log_level="error")
