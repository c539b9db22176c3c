"""Small catalogs that tests write themselves."""

from __future__ import annotations

from typing import Any

from repertory.app import Repertory
from repertory.model import Entity, Kind, SearchRequest, SearchResponse


def tool(path: str, description: str = "", **more: Any) -> Entity:
    """A tool; its server is the first part of its path."""
    server, _, name = path.rpartition("/")
    details = {"server": server, **more.pop("details", {})}
    return Entity(Kind.TOOL, path, name, description, details=details, **more)


def server(name: str, description: str = "", **more: Any) -> Entity:
    """A server."""
    return Entity(Kind.MCP_SERVER, name, name, description, **more)


def note(path: str, *texts: str, **more: Any) -> Entity:
    """A Markdown file of one section per text."""
    sections = [{"path": [path, f"Part {position}"], "text": text} for position, text in enumerate(texts, 1)]
    return Entity(Kind.DOCUMENT, path, path, details={"sections": sections}, **more)


async def ask(rep: Repertory, query: str, **request: Any) -> SearchResponse:
    """A search by keywords."""
    return await rep.search(SearchRequest(query, **request))


def ids(response: SearchResponse) -> list[str]:
    """What was found, in order."""
    return [result.entity.id for result in response.results]
