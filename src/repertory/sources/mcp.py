"""What does a running MCP server offer?

One server is contacted, its listing read to the end, and it is let go again. Whatever it does - hang, flood, die, answer nonsense - the
outcome is an `Offer` or an `Unreachable` with its reason, within its time.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from repertory.errors import RepertoryError
from repertory.model import Entity
from repertory.sources import attributes, values
from repertory.sources.base import Problem
from repertory.sources.content import Unreadable
from repertory.sources.serverspec import UNKNOWN, Identify, ServerSpec, Transport, Unresolved, nobody, resolve
from repertory.sources.toolfile import Listing
from repertory.sources.toolshape import Contents

if TYPE_CHECKING:
    from mcp import Client

    from repertory.sources.sieve import Sieve
    from repertory.sources.transports import Wire

AT_ONCE = 8  # servers in contact at a time: each may be a process of its own, and some start a whole Node
MAX_TOOLS = 10_000  # of one server; the largest public ones have some hundreds
MAX_PAGES = 200  # of one listing: the most tools in pages of 50
COUNTING = 5.0  # seconds for prompts and resources, of which only the number is told
MAX_REASON = 400  # characters of what a server says went wrong; it is shown in a table

_TOOL_KEYS = ("name", "title", "description", "inputSchema", "outputSchema", "annotations", "icons")

Page = tuple[Sequence[Any], str | None]


class Unreachable(Exception):
    """A server did not tell what it offers. Says why, without secrets; it concerns that server alone and never reaches a surface."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What a server told of itself."""

    server: Mapping[str, Any]
    tools: Sequence[Mapping[str, Any]]
    cut: str = ""  # why the listing ended before its end
    announces: bool = False  # it says when its tools change
    ttl: float = 0.0  # seconds for which it says that the listing holds; 0: it says nothing
    own_name: str = ""  # what it calls itself, for who has no other name for it

    def entities(self, location: str) -> Iterator[Entity | Problem]:
        """The server and its tools, as a tool file would give them."""
        where = f"{location}/tools"  # below the source: a tool that is wrong does not keep others there that have gone
        tools = []
        for tool in self.tools:
            try:
                tools.append(values.plain(_kept(tool)))
            except Unreadable as error:
                yield Problem(where, f"the tool {attributes.shown(tool.get('name'))} {error}")
        yield from Listing(Contents(tools, server=values.plain(self.server)), location, where).entities()
        if self.cut:
            yield Problem(location, self.cut)


Outcome = Offer | Unreachable


async def contact_all(
    specs: Iterable[ServerSpec], told: Callable[[ServerSpec, Outcome], Awaitable[None]], identify: Identify = nobody
) -> None:
    """Contact servers, some at a time, and tell each outcome as soon as it is there: who is slow keeps nobody waiting."""
    places = asyncio.Semaphore(AT_ONCE)

    async def one(spec: ServerSpec) -> None:
        async with places:
            outcome = await _outcome(spec, identify)
        await told(spec, outcome)

    async with asyncio.TaskGroup() as group:
        for spec in specs:
            group.create_task(one(spec))


async def _outcome(spec: ServerSpec, identify: Identify) -> Outcome:
    try:
        return await contact(spec, identify=identify)
    except Unreachable as error:
        return error


async def contact(spec: ServerSpec, environment: Mapping[str, str] | None = None, identify: Identify = nobody) -> Offer:
    """What one server offers. Raises `Unreachable`."""
    import anyio  # with the SDK half a second, which only those who use it should spend
    from mcp import Client

    from repertory.sources.transports import Wire

    try:
        resolved = resolve(spec, os.environ if environment is None else environment)
        resolved = resolved.known_by(await identify(resolved.spec))
    except (Unresolved, RepertoryError) as error:
        raise Unreachable(str(error)) from None
    with Wire(resolved) as wire:
        try:
            # anyio's own limit: the SDK ends its child behind a shield, which asyncio's cancellation need not respect.
            with anyio.move_on_after(spec.timeout) as limit:
                async with Client(wire.open(limit.cancel), cache=None) as client:
                    return await _offer(spec.name, client, wire.listing)
            reason = _silence(spec, wire)
        except Exception as error:  # whatever a stranger's server makes the SDK raise concerns that server alone
            reason = reason_of(error, spec, wire.refusal)
    told = f"{reason}; its last words: {wire.last_words}" if wire.last_words else reason
    raise Unreachable(_shortened(resolved.hide(told)))


async def _offer(name: str, client: Client, listing: Sieve) -> Offer:
    capabilities, info = client.server_capabilities, client.server_info
    tools: list[Any] = []
    ttls: list[int] = []
    cut = ""
    if capabilities.tools is not None:

        async def page_of_tools(cursor: str | None) -> Page:
            page = await client.list_tools(cursor=cursor)
            ttls.append(page.ttl_ms)
            return listing.take(), page.next_cursor

        tools, cut = await _every(page_of_tools)
    server = {
        "name": name,
        "title": info.title if info else None,
        "version": info.version if info else None,
        "description": (info.description if info else None) or client.instructions,
        "instructions": client.instructions,
        **await _counts(client),
    }
    announces = bool(capabilities.tools and capabilities.tools.list_changed)
    own_name = info.name if info else ""
    return Offer(server, tools, cut, announces, min(filter(None, ttls), default=0) / 1000, own_name)


def _kept(tool: Any) -> Any:
    """What an entry keeps of a tool. Who may find it is not for its server to say."""
    from mcp.shared.inbound import find_invalid_x_mcp_header

    if not isinstance(tool, dict):
        return tool  # whoever makes entries of tools says what is wrong with it
    if reason := find_invalid_x_mcp_header(tool.get("inputSchema")):
        raise Unreadable(f"may not be used by any client: {reason}")  # so the protocol has it
    return {key: tool[key] for key in _TOOL_KEYS if tool.get(key) is not None}


async def _counts(client: Client) -> dict[str, int]:
    """How many prompts and resources there are. Beside the tools that is news, not a reason to fail."""
    import anyio
    from mcp import MCPError
    from pydantic import ValidationError

    async def prompts(cursor: str | None) -> Page:
        page = await client.list_prompts(cursor=cursor)
        return page.prompts, page.next_cursor

    async def resources(cursor: str | None) -> Page:
        page = await client.list_resources(cursor=cursor)
        return page.resources, page.next_cursor

    counts: dict[str, int] = {}
    for kind, ask in (("prompts", prompts), ("resources", resources)):
        if getattr(client.server_capabilities, kind) is not None:
            with anyio.move_on_after(COUNTING), contextlib.suppress(MCPError, ValidationError):
                counts[kind] = len((await _every(ask))[0])
    return counts


async def _every(ask: Callable[[str | None], Awaitable[Page]]) -> tuple[list[Any], str]:
    """All pages of a listing, and why it was ended early if it was."""
    found: list[Any] = []
    seen: set[str] = set()
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        items, cursor = await ask(cursor)
        found += items
        if len(found) > MAX_TOOLS:
            return found[:MAX_TOOLS], f"it lists more than {MAX_TOOLS}, the most that is read from one server; the rest is left out"
        if not cursor:
            return found, ""
        if cursor in seen:
            return found, "its listing repeats the same cursor and would never end; what came before is kept"
        seen.add(cursor)
    return found, f"its listing has more than {MAX_PAGES} pages, the most that is read; the rest is left out"


def _silence(spec: ServerSpec, wire: Wire) -> str:
    """Why a contact was ended from our side."""
    if wire.overflowed:
        return "it says more than is listened to"
    garbled = "; something that it said cannot be read" if wire.listing.garbled else ""
    return f"it did not answer within {spec.timeout:g} s{garbled}"


def reason_of(error: BaseException, spec: ServerSpec, refusal: int | None) -> str:
    """Why a contact failed, in words of our own: the library's quote addresses, which may hold keys."""
    import httpx2
    from mcp import MCPError
    from pydantic import ValidationError

    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, httpx2.HTTPStatusError):
        refusal = error.response.status_code
    if refusal == UNKNOWN:
        return f"{spec.target} answered HTTP {refusal}: it wants you to log in, run `repertory login {spec.name}`"
    if refusal is not None:
        return f"{spec.target} answered HTTP {refusal}"
    if isinstance(error, httpx2.HTTPError | httpx2.InvalidURL):
        return f"{spec.target} could not be asked ({type(error).__name__})"
    started = not isinstance(error, OSError | ValueError) or isinstance(error, UnicodeError | ValidationError)
    if spec.transport is Transport.STDIO and not started:
        return f"{spec.command!r} cannot be started ({getattr(error, 'strerror', None) or type(error).__name__})"
    if isinstance(error, MCPError):
        return f"it answered with an error: {error.error.message}"
    return f"its answer cannot be read ({type(error).__name__})"


def _shortened(text: str) -> str:
    flat = " ".join(values.plain(text).split())
    return flat if len(flat) <= MAX_REASON else f"{flat[: MAX_REASON // 2]} … {flat[-MAX_REASON // 2 :]}"
