"""How are the tools that a host itself has found?

They go into a catalog beside the host, in a directory of its own or a temporary one, and only names come back: the host keeps its
definitions, decides who sees which tool, and calls it as always.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import tempfile
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from repertory.app import Repertory, open_with
from repertory.gateway.signature import signature
from repertory.model import Entity, Kind, Principal, SearchRequest, content_digest
from repertory.model.request import MAX_LIMIT, MAX_QUERY_LENGTH
from repertory.settings import EMBEDDED, load
from repertory.sources.base import Problem
from repertory.sources.content import Unreadable
from repertory.sources.toolfile import Listing
from repertory.sources.toolshape import Contents
from repertory.sources.values import plain

_log = logging.getLogger(__name__)

SOURCE = "tools"
MAX_VIEWS = 32  # different sets of tools that are kept ready: callers with the same rights share one

Tool = Mapping[str, Any]  # as MCP lists it: name, description, inputSchema, ...


class OwnTools:
    """The tools of one host, searched. It belongs to one event loop, and opens its catalog with the first search."""

    def __init__(self, directory: Path | str | None = None, **settings: Any) -> None:
        self._directory = directory
        self._settings = settings
        self._opening = asyncio.Lock()
        self._held = contextlib.AsyncExitStack()
        self._rep: Repertory | None = None
        self._views: OrderedDict[str, Sequence[Tool]] = OrderedDict()

    async def search(self, tools: Sequence[Tool], query: str, limit: int) -> list[Entity]:
        """The best of these tools, and of no others. None when none seems to answer."""
        view = content_digest(list(tools))
        async with self._opening:
            rep = self._rep or await self._open()
            if view not in self._views:
                await self._learn(rep, view, tools)
            self._views.move_to_end(view)
        asked = SearchRequest(query[:MAX_QUERY_LENGTH], kinds=frozenset({Kind.TOOL}), limit=min(max(limit, 1), MAX_LIMIT))
        answer = await rep.search(asked, Principal(view, frozenset({view})))
        return [result.entity for result in answer.results]

    async def close(self) -> None:
        """Let go of the catalog; a temporary one is removed. The next search opens it again."""
        async with self._opening:
            self._rep = None
            self._views.clear()
            await self._held.aclose()

    async def _open(self) -> Repertory:
        directory = self._directory or self._held.enter_context(tempfile.TemporaryDirectory(prefix="repertory-"))
        of_its_own = (
            {} if self._directory else {"index": EMBEDDED, "database": ""}
        )  # which go with its directory; elsewhere they would stay
        settings, _ = load({"catalog": Path(directory), **of_its_own, **self._settings})
        self._rep = await self._held.enter_async_context(open_with(settings))
        return self._rep

    async def _learn(self, rep: Repertory, view: str, tools: Sequence[Tool]) -> None:
        self._views[view] = tools
        while len(self._views) > MAX_VIEWS:
            self._views.popitem(last=False)
        await rep.put(SOURCE, _entities(self._views))


def _entities(views: Mapping[str, Sequence[Tool]]) -> Iterator[Entity]:
    """Every tool once, for those whose view has it. Two that share a name and differ are two."""
    seen: dict[str, tuple[Tool, set[str]]] = {}
    for view, tools in views.items():
        for tool in tools:
            seen.setdefault(content_digest(tool), (tool, set()))[1].add(view)
    paths: set[str] = set()
    for digest, (tool, audience) in seen.items():
        try:
            (read,) = Listing(Contents([plain({**tool, "audience": sorted(audience)})]), "", SOURCE).entities()
        except Unreadable as error:
            read = Problem(SOURCE, str(error))
        if isinstance(read, Problem):
            _log.warning("The tool %r cannot be found by searching: %s", tool.get("name"), read.message)
            continue
        path = read.path if read.path not in paths else f"{read.path}~{digest[:8]}"
        paths.add(path)
        yield replace(read, path=path)


def line(tool: Entity) -> str:
    """A tool in one line, by the name that its host calls it."""
    return signature(replace(tool, path=tool.name))
