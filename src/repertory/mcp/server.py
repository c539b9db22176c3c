"""How does a message of the protocol become a search, a description or a call?"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote

import mcp_types as types
from mcp import MCPError
from mcp.server.lowlevel import Server
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

import repertory
from repertory.app import Repertory
from repertory.errors import InvalidRequest, NotFound, RepertoryError
from repertory.gateway import facade
from repertory.gateway.arguments import check
from repertory.gateway.resolve import exposed_name
from repertory.mcp import tools
from repertory.mcp.passing import Context, as_tool, caller_of, forward, refusal, session_of
from repertory.model import HARMLESS, READ_ONLY, Entity, Filter, Kind, Principal, SearchRequest

INSTRUCTIONS = "search finds what you can use, describe gives its schema or text, call runs it."
MAX_PROXIES = 8  # E10
SESSIONS = 1000  # whose discoveries are remembered
PAGE = 100  # resources in one page
READABLE = frozenset({Kind.DOCUMENT, Kind.SKILL})
SCHEME = "repertory://"


class Gate:
    """The gateway as an MCP server. Over stdio it is the owner of the catalog who asks."""

    def __init__(self, rep: Repertory, *, discover: bool = False) -> None:
        self._rep = rep
        self._discover = discover
        self._discovered: OrderedDict[tuple[str, str], dict[str, Entity]] = OrderedDict()
        self.server: Server[Any] = Server(
            "repertory",
            version=repertory.__version__,
            title="Repertory",
            instructions=INSTRUCTIONS,
            on_list_tools=self._list,
            on_call_tool=self._call,
            on_list_resources=self._resources,
            on_list_resource_templates=self._templates,
            on_read_resource=self._read,
            get_tool_input_schema=self._schema,
        )

    # Tools

    async def _list(self, context: Context, _: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        caller = caller_of(context)
        counts, domains = await self._rep.overview(caller)
        listed = tools.facade(facade.summary(counts, domains, self._rep.settings.gateway_about))
        found = self._proxies(context, caller)
        now = await self._rep.usable([entity.id for entity in found.values()], caller)  # what was found may be held back meanwhile (F06)
        listed += [as_tool(name, now[entity.id]) for name, entity in found.items() if entity.id in now]
        return types.ListToolsResult(tools=listed)

    async def _call(self, context: Context, params: types.CallToolRequestParams) -> Any:
        caller = caller_of(context)
        arguments = params.arguments or {}
        proxies = self._proxies(context, caller)
        try:
            if params.name in proxies:
                return await forward(self._rep, context, params, proxies[params.name].id, arguments)
            if params.name not in tools.INPUTS:
                raise MCPError(INVALID_PARAMS, f"There is no tool {params.name!r}; there are {', '.join(tools.INPUTS)}.")
            check(params.name, tools.INPUTS[params.name], arguments)
            if params.name == tools.SEARCH:
                return await self._search(context, arguments, caller)
            if params.name == tools.DESCRIBE:
                return await self._describe(arguments["ids"], caller)
            return await forward(self._rep, context, params, arguments["id"], arguments.get("arguments") or {})
        except RepertoryError as error:
            return refusal(error)

    def _schema(self, name: str) -> Mapping[str, Any] | None:
        """What the SDK holds the headers of a call against; it would list all tools for it. One name is one tool in every session."""
        if name in tools.INPUTS:
            return tools.INPUTS[name]
        proxy = next((found[name] for found in self._discovered.values() if name in found), None)
        return as_tool(name, proxy).input_schema if proxy else None

    async def _search(self, context: Context, arguments: dict[str, Any], caller: Principal) -> types.CallToolResult:
        asked = SearchRequest.from_json(
            {
                "query": arguments["query"],
                "kinds": arguments.get("kinds"),
                "tags": [
                    *arguments.get("tags", ()),
                    *([READ_ONLY] if arguments.get("read_only") else []),
                    *([HARMLESS] if arguments.get("non_destructive") else []),
                ],
                "limit": arguments.get("limit", facade.DEFAULT_LIMIT),
                "context": arguments.get("context"),
            }
        )
        response = await self._rep.search(asked, caller, session_of(context), noted=True)
        if self._wants_proxies(context):
            await self._remember(context, caller, [result.entity for result in response.results])
        answer = facade.found(response)
        return types.CallToolResult(content=[types.TextContent(text=answer.text)], structured_content=dict(answer.content))

    async def _describe(self, ids: list[str], caller: Principal) -> types.CallToolResult:
        entries, problems = [], []
        for reference in ids:
            try:
                entries.append(await self._rep.describe(reference, caller))
            except (NotFound, InvalidRequest) as error:
                problems.append(str(error))
        content: dict[str, Any] = {"entries": entries, **({"problems": problems} if problems else {})}
        text = "\n\n".join([json.dumps(entry, ensure_ascii=False) for entry in entries] + problems)
        return types.CallToolResult(
            content=[types.TextContent(text=text)], structured_content=content, is_error=bool(problems and not entries)
        )

    # Proxies

    def _wants_proxies(self, context: Context) -> bool:
        request = context.request
        return self._discover or (request is not None and request.query_params.get("discover") == "1")

    def _session(self, context: Context, caller: Principal) -> tuple[str, str]:
        return caller.name, session_of(context)

    def _proxies(self, context: Context, caller: Principal) -> dict[str, Entity]:
        return self._discovered.get(self._session(context, caller), {}) if self._wants_proxies(context) else {}

    async def _remember(self, context: Context, caller: Principal, entities: list[Entity]) -> None:
        """The latest discoveries replace the ones before."""
        found = [entity for entity in entities if entity.kind is Kind.TOOL][:MAX_PROXIES]
        key = self._session(context, caller)
        self._discovered[key] = {exposed_name(entity.path): entity for entity in found}
        self._discovered.move_to_end(key)
        while len(self._discovered) > SESSIONS:
            self._discovered.popitem(last=False)
        await context.session.send_tool_list_changed()

    # Resources

    async def _resources(self, context: Context, params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        cursor = params.cursor if params is not None else None
        if cursor is not None and not cursor.isdecimal():
            raise MCPError(INVALID_PARAMS, f"{cursor!r} is no cursor of ours.")
        start = int(cursor or 0)
        found, total = await self._rep.entries(Filter(kinds=READABLE), caller_of(context), limit=PAGE, offset=start)
        listed = [
            types.Resource(
                uri=f"{SCHEME}{entity.kind.prefix}/{quote(entity.path)}",
                name=entity.path,
                title=entity.name,
                description=entity.description or None,
                mime_type="text/markdown",
            )
            for entity in found
        ]
        return types.ListResourcesResult(resources=listed, next_cursor=str(start + PAGE) if start + PAGE < total else None)

    async def _templates(self, _: Context, __: types.PaginatedRequestParams | None) -> types.ListResourceTemplatesResult:
        templates = [
            types.ResourceTemplate(uri_template=f"{SCHEME}{kind.prefix}/{{+path}}", name=kind.value, mime_type="text/markdown")
            for kind in sorted(READABLE)
        ]
        return types.ListResourceTemplatesResult(resource_templates=templates)

    async def _read(self, context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        kind, _, path = str(params.uri).removeprefix(SCHEME).partition("/")
        try:
            text = (await self._rep.describe(f"{kind}:{unquote(path)}", caller_of(context), whole=True)).get("text", "")
        except RepertoryError as error:
            raise MCPError(INVALID_PARAMS if isinstance(error, NotFound) else INTERNAL_ERROR, str(error)) from None
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=params.uri, mime_type="text/markdown", text=text)])
