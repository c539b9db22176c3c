"""How does a LangChain program use a catalog?

As a retriever, whose documents are what a search found, and as the tools search, describe and call. A thread of their own does the work,
so that `invoke` and `ainvoke` both work, in any event loop or none.

    with connect("my-catalog") as catalog:
        documents = catalog.retriever(limit=3).invoke("how is the kiln fired")
        agent = create_agent(model, catalog.tools())
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, MCPError

from repertory.errors import InvalidRequest
from repertory.gateway.facade import DEFAULT_LIMIT
from repertory.mcp import tools
from repertory.plugins.reach import reach, told

try:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.tools import BaseTool, StructuredTool, ToolException
except ImportError as error:
    raise ImportError("repertory.plugins.langchain needs langchain-core 1: pip install 'repertory[langchain]'") from error


@contextlib.contextmanager
def connect(where: Path | str | None = None, *, token: str | None = None) -> Iterator[Catalog]:
    """A catalog - a directory, or the address of a service - for as long as the block lasts."""
    with start_blocking_portal() as portal:
        session = portal.wrap_async_context_manager(reach(where, token=token))
        client = session.__enter__()
        try:
            yield Catalog(portal, client)
        finally:
            session.__exit__(None, None, None)  # an error of the block is not the session's: it would come out of there as a group


class Catalog:
    """A catalog, connected."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self._portal = portal
        self._client = client

    def tools(self) -> list[BaseTool]:
        """search, describe and call. What went wrong is told to the model, which can mend its call."""
        listed = self._portal.call(self._client.list_tools).tools
        return [
            StructuredTool(
                name=tool.name,
                description=tool.description or "",
                args_schema=dict(tool.input_schema),
                func=partial(self._use, tool.name),
                response_format="content_and_artifact",
                handle_tool_error=True,
            )
            for tool in listed
        ]

    def retriever(self, *, limit: int = DEFAULT_LIMIT, kinds: Sequence[str] = (), **filters: Any) -> Retriever:
        """Documents from a search; filters are those of the tool `search`: tags, read_only, context, ..."""
        return Retriever(catalog=self, asked={"limit": limit, **({"kinds": list(kinds)} if kinds else {}), **filters})

    def find(self, query: str, asked: Mapping[str, Any]) -> list[Document]:
        """What a search finds, each with its text."""
        return self._portal.call(self._find, query, asked)

    def _use(self, name: str, /, **arguments: Any) -> tuple[str | list[dict[str, str]], Any]:
        """What the tool says to the model, and to programs."""
        try:
            result = self._portal.call(self._client.call_tool, name, arguments)
        except MCPError as error:
            raise ToolException(error.error.message) from None
        words, media = told(result)
        if result.is_error:
            raise ToolException(words)
        shown = [{"type": one.type.partition("/")[0], "base64": one.data, "mime_type": one.type} for one in media]
        return [{"type": "text", "text": words}, *shown] if shown else words, result.structured_content

    async def _find(self, query: str, asked: Mapping[str, Any]) -> list[Document]:
        found = await self._client.call_tool(tools.SEARCH, {"query": query, **asked})
        if found.is_error or found.structured_content is None:
            raise InvalidRequest(told(found)[0])
        return [document for document in await asyncio.gather(*map(self._document, found.structured_content["results"])) if document]

    async def _document(self, result: Mapping[str, Any]) -> Document | None:
        described = await self._client.call_tool(tools.DESCRIBE, {"ids": [result["id"]]})
        if described.is_error or described.structured_content is None:  # it left the catalog between the two questions
            return None
        (entry,) = described.structured_content["entries"]
        content = entry.get("text") or entry["description"] or entry["name"]
        return Document(content, id=result["id"], metadata={**{key: value for key, value in entry.items() if key != "text"}, **result})


class Retriever(BaseRetriever):
    """Finds what a catalog has, as documents."""

    catalog: Any
    asked: dict[str, Any] = {}  # noqa: RUF012 - a field, which pydantic copies

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return list(self.catalog.find(query, self.asked))
