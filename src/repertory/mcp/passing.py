"""What do all gates have in common: who asks, and how does a call pass through?"""

from __future__ import annotations

import json
from typing import Any

import mcp_types as types
from mcp import MCPError
from mcp.server.context import ServerRequestContext

from repertory.app import Repertory
from repertory.errors import InvalidArguments, RepertoryError, UpstreamError
from repertory.model import Entity, Principal

PRINCIPAL = "repertory.principal"  # where a door leaves who is asking

COMPLETE = {"resultType": "complete", "content": []}  # what a newer protocol wants said that an older server, or an agent, leaves out

Context = ServerRequestContext[Any, Any]


def caller_of(context: Context) -> Principal:
    """Who asks. Over stdio that is the owner of the catalog."""
    return context.request.scope[PRINCIPAL] if context.request is not None else Principal()


def session_of(context: Context) -> str:
    """Which conversation this is, as far as the protocol tells: over stdio and in the stateless era there is one for each caller."""
    return (context.request.headers.get("mcp-session-id") or "") if context.request is not None else ""


async def forward(rep: Repertory, context: Context, params: types.CallToolRequestParams, reference: str, arguments: dict[str, Any]) -> Any:
    """Call a tool for whoever asks; progress comes back, and so does the answer, unchanged."""

    async def report(progress: float, total: float | None, message: str | None) -> None:
        await context.session.report_progress(progress, total, message)

    caller, session = caller_of(context), session_of(context)
    brought = {"input_responses": params.input_responses, "request_state": params.request_state}
    try:
        answer = await rep.call(reference, arguments, caller, report, {name: value for name, value in brought.items() if value}, session)
        return COMPLETE | answer
    except UpstreamError as error:
        if error.answer is None:
            raise
        code, message, data = error.answer
        raise MCPError(code, message, data) from None


def refusal(error: RepertoryError) -> types.CallToolResult:
    """An error that a model can read, with the schema to follow where there is one."""
    told = str(error)
    if isinstance(error, InvalidArguments):
        told += f" The schema to follow: {json.dumps(error.schema, ensure_ascii=False)}"
    return types.CallToolResult(content=[types.TextContent(text=told)], is_error=True)


def as_tool(name: str, entity: Entity, description: str = "") -> types.Tool:
    """A tool of the catalog under a name of our own, with its real schemas."""
    details = entity.details
    return types.Tool(
        name=name,
        title=details.get("title") or entity.path,
        description=description or entity.description,
        input_schema=details.get("input_schema") or {"type": "object"},
        output_schema=details.get("output_schema"),
        annotations=types.ToolAnnotations.model_validate(details["annotations"]) if details.get("annotations") else None,
    )
