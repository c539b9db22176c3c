"""Who answers a command: this process, or the one that already serves the catalog?

Both give the same JSON, so that commands need not know. A serving owner is asked over its own REST API with the token it left in the
catalog directory; otherwise the catalog is opened here.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

from repertory.errors import RepertoryError, every_error
from repertory.graph.draw import Format
from repertory.model import Filter, Kind, Principal, SearchRequest
from repertory.owner import owner_of
from repertory.settings import Settings

if TYPE_CHECKING:
    import httpx2  # takes a twelfth of a second, which only those who ask another process should spend

Answer = dict[str, Any]
Progress = Callable[[str, int, int], None]

LOST = "What it had written is kept; run the command again."
DECIDED = {"approve": "approved", "reject": "rejected"}
REACH = 2.0  # seconds in which a serving owner must say that it is there


class Session(Protocol):
    """What a command can ask."""

    async def search(self, body: Answer) -> Answer: ...
    def ask(self, body: Answer) -> AsyncGenerator[tuple[str, Answer], None]: ...
    async def entries(self, kinds: list[Kind], limit: int, offset: int) -> Answer: ...
    async def show(self, reference: str) -> Answer: ...
    async def classify(self, query: str) -> Answer: ...
    async def categories(self, query: str) -> Answer: ...
    async def graph(self, reference: str | None, format: Format, nodes: bool) -> Answer: ...
    async def add(
        self, where: str, progress: Progress, commits: int | None = None, dry_run: bool = False, embed: bool = True
    ) -> Answer: ...
    async def call(self, reference: str, arguments: Answer) -> Answer: ...
    async def export(self) -> Answer: ...
    async def bundle(self, directory: str, with_keys: bool, wheels: bool) -> Answer: ...
    async def sources(self) -> Answer: ...
    async def status(self) -> Answer: ...
    async def rebuild(self) -> None: ...
    async def keys(self) -> Answer: ...
    async def create_key(self, name: str, groups: list[str], scopes: list[str], expires: str | None) -> Answer: ...
    async def revoke_key(self, key_id: str) -> Answer: ...
    async def audit(self, limit: int, who: str | None, target: str | None) -> Answer: ...
    async def review(self) -> Answer: ...
    async def decide(self, verb: str, ids: list[str], all_of: str | None) -> Answer: ...
    async def calls(self, limit: int, who: str | None, tool: str | None) -> Answer: ...


@contextlib.asynccontextmanager
async def session(settings: Settings) -> AsyncIterator[Session]:
    """The owner that serves this catalog, or else this process as its owner."""
    owner = owner_of(settings.catalog)
    if owner is not None and owner.url is not None:
        import httpx2

        headers = {"Authorization": f"Bearer {owner.token}"}
        async with httpx2.AsyncClient(base_url=owner.url, headers=headers, timeout=60, trust_env=False) as client:
            if await _owns(client):
                try:
                    yield Remote(client)
                except (httpx2.HTTPError, json.JSONDecodeError) as error:
                    raise RepertoryError(
                        f"The process that serves the catalog stopped answering ({type(error).__name__}). {LOST}"
                    ) from error
                return
    from repertory.app import open_with  # the engines load only where they are needed

    async with open_with(settings) as rep:
        yield Local(rep)


async def _owns(client: httpx2.AsyncClient) -> bool:
    """Whether the token of the note opens what answers there: a process that died may have left the note, and its port to another."""
    import httpx2

    try:
        return (await client.get("/api/sources", timeout=REACH)).status_code == 200
    except httpx2.HTTPError:
        return False


class Local:
    """This process answers."""

    def __init__(self, rep: Any) -> None:
        self._rep = rep

    async def search(self, body: Answer) -> Answer:
        request = SearchRequest.from_json(body)
        response = await self._rep.search(request)
        return dict(response.as_json(explain=request.explain))

    async def ask(self, body: Answer) -> AsyncGenerator[tuple[str, Answer], None]:
        from repertory.chat.request import ChatRequest

        async with contextlib.aclosing(self._rep.ask(ChatRequest.from_json(body))) as events:
            async for event in events:
                yield event.name, event.as_json()

    async def classify(self, query: str) -> Answer:
        return asdict(self._rep.classify(query))

    async def categories(self, query: str) -> Answer:
        return {"categories": [asdict(category) for category in await self._rep.categories(query)]}

    async def entries(self, kinds: list[Kind], limit: int, offset: int) -> Answer:
        found, total = await self._rep.entries(Filter(kinds=frozenset(kinds) if kinds else None), limit=limit, offset=offset)
        return {"entries": [{**entity.as_json(), "etag": entity.etag} for entity in found], "total": total}

    async def show(self, reference: str) -> Answer:
        entity = await self._rep.show(reference)
        return {**entity.as_json(), "etag": entity.etag, "edges": [list(edge) for edge in await self._rep.edges(entity.id)]}

    async def graph(self, reference: str | None, format: Format, nodes: bool) -> Answer:
        return dict((await self._rep.graph(reference, format, nodes=nodes)).as_json())

    async def add(self, where: str, progress: Progress, commits: int | None = None, dry_run: bool = False, embed: bool = True) -> Answer:
        return asdict(await self._rep.add(where, progress, commits=commits, dry_run=dry_run, embed=embed))

    async def call(self, reference: str, arguments: Answer) -> Answer:
        return dict(await self._rep.call(reference, arguments))

    async def export(self) -> Answer:
        return dict(await self._rep.export())

    async def bundle(self, directory: str, with_keys: bool, wheels: bool) -> Answer:
        return dict((await self._rep.bundle(directory, with_keys=with_keys, wheels=wheels)).as_json())

    async def sources(self) -> Answer:
        return {"sources": [asdict(source) for source in await self._rep.sources()]}

    async def status(self) -> Answer:
        return {
            **self._rep.status(),
            "waiting": await self._rep.waiting(),
            **await self.sources(),
            "differences": await self._rep.check(),
        }

    async def rebuild(self) -> None:
        await self._rep.rebuild()

    async def keys(self) -> Answer:
        return {"keys": [record.as_json() for record in await self._rep.callers.list_keys()]}

    async def create_key(self, name: str, groups: list[str], scopes: list[str], expires: str | None) -> Answer:
        new = await self._rep.callers.create_key(name, groups, scopes, expires, Principal())
        return {**new.record.as_json(), "token": new.token}

    async def revoke_key(self, key_id: str) -> Answer:
        await self._rep.callers.revoke_key(key_id, Principal())
        return {}

    async def audit(self, limit: int, who: str | None, target: str | None) -> Answer:
        return {"events": [event.as_json() for event in await self._rep.audit(limit=limit, who=who, target=target)]}

    async def review(self) -> Answer:
        return {"held": [one.as_json() for one in await self._rep.held()]}

    async def decide(self, verb: str, ids: list[str], all_of: str | None) -> Answer:
        done = await (self._rep.approve if verb == "approve" else self._rep.reject)(*ids, all_of=all_of)
        return {DECIDED[verb]: done}

    async def calls(self, limit: int, who: str | None, tool: str | None) -> Answer:
        return {"calls": [call.as_json() for call in await self._rep.calls(limit=limit, who=who, tool=tool)]}


class Remote:
    """The serving owner answers."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self._client = client

    async def search(self, body: Answer) -> Answer:
        answer = await self._ask("POST", "/api/search", json=body)
        return {name: value for name, value in answer.items() if name != "cursor"}  # a terminal shows one page

    async def ask(self, body: Answer) -> AsyncGenerator[tuple[str, Answer], None]:
        async with self._client.stream("POST", "/chat", json=body, timeout=None) as response:
            if response.status_code != 200:
                await response.aread()
                raise _error(response.json())
            name = ""
            async for line in response.aiter_lines():
                field, _, value = line.partition(": ")
                if field == "event":
                    name = value
                elif field == "data" and name == "problem":
                    raise _error(json.loads(value))
                elif field == "data":
                    yield name, json.loads(value)

    async def classify(self, query: str) -> Answer:
        return await self._ask("GET", "/api/classify", params={"query": query})

    async def categories(self, query: str) -> Answer:
        return await self._ask("GET", "/api/categories", params={"query": query})

    async def entries(self, kinds: list[Kind], limit: int, offset: int) -> Answer:
        return await self._ask("GET", "/api/entries", params={"kind": [kind.value for kind in kinds], "limit": limit, "offset": offset})

    async def show(self, reference: str) -> Answer:
        return await self._ask("GET", f"/api/entries/{quote(reference, safe='')}")

    async def graph(self, reference: str | None, format: Format, nodes: bool) -> Answer:
        asked = {"entry": reference} if reference else {}
        return await self._ask("GET", "/api/graph", params={**asked, "format": format.value, "nodes": nodes})

    async def add(self, where: str, progress: Progress, commits: int | None = None, dry_run: bool = False, embed: bool = True) -> Answer:
        body = {"path": where, "commits": commits, "dry_run": dry_run, "embed": embed}
        async with self._client.stream("POST", "/api/add", json=body, timeout=None) as response:
            if response.status_code != 200:
                await response.aread()
                raise _error(response.json())
            async for line in response.aiter_lines():
                message = json.loads(line)
                if "report" in message:
                    return dict(message["report"])
                if "problem" in message:
                    raise _error(message["problem"])
                progress(message["stage"], message["done"], message["total"])
        raise RepertoryError(f"The process that serves the catalog ended before it was done. {LOST}")

    async def call(self, reference: str, arguments: Answer) -> Answer:
        return await self._ask("POST", "/api/call", json={"id": reference, "arguments": arguments}, timeout=None)

    async def export(self) -> Answer:
        return await self._ask("GET", "/api/export", timeout=None)

    async def bundle(self, directory: str, with_keys: bool, wheels: bool) -> Answer:
        body = {"directory": directory, "with_keys": with_keys, "wheels": wheels}
        return await self._ask("POST", "/api/bundle", json=body, timeout=None)

    async def sources(self) -> Answer:
        return await self._ask("GET", "/api/sources")

    async def status(self) -> Answer:
        health, sources, check = await asyncio.gather(
            self._ask("GET", "/health"), self.sources(), self._ask("POST", "/api/check", timeout=None)
        )
        return {**health, **sources, **check}

    async def rebuild(self) -> None:
        await self._ask("POST", "/api/rebuild", timeout=None)

    async def keys(self) -> Answer:
        return await self._ask("GET", "/api/keys")

    async def create_key(self, name: str, groups: list[str], scopes: list[str], expires: str | None) -> Answer:
        return await self._ask("POST", "/api/keys", json={"name": name, "groups": groups, "scopes": scopes, "expires": expires})

    async def revoke_key(self, key_id: str) -> Answer:
        return await self._ask("DELETE", f"/api/keys/{quote(key_id, safe='')}")

    async def audit(self, limit: int, who: str | None, target: str | None) -> Answer:
        asked = {name: value for name, value in (("who", who), ("target", target)) if value is not None}
        return await self._ask("GET", "/api/audit", params={"limit": limit, **asked})

    async def review(self) -> Answer:
        return await self._ask("GET", "/api/review")

    async def decide(self, verb: str, ids: list[str], all_of: str | None) -> Answer:
        return await self._ask("POST", f"/api/review/{verb}", json={"ids": ids, "all_of": all_of}, timeout=None)

    async def calls(self, limit: int, who: str | None, tool: str | None) -> Answer:
        asked = {name: value for name, value in (("who", who), ("tool", tool)) if value is not None}
        return await self._ask("GET", "/api/calls", params={"limit": limit, **asked})

    async def _ask(self, method: str, path: str, **content: Any) -> Answer:
        response = await self._client.request(method, path, **content)
        answer: Answer = response.json() if response.content else {}
        if not response.is_success:
            raise _error(answer)
        return answer


def _error(problem: Mapping[str, Any]) -> RepertoryError:
    by_code = {error.code: error for error in every_error()}
    return by_code.get(str(problem.get("code")), RepertoryError)(str(problem.get("message") or problem.get("detail")))
