"""What does an address bring in?

An MCP registry (`.../v0.1/servers`), an A2A agent's card, or one of both by the name of its host alone. What was read last time is not read
again where the other side can tell: a registry says what changed since, a card has an ETag. The `mark` remembers which.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from repertory.errors import SourceError
from repertory.model import Entity
from repertory.sources import a2a, registry, values
from repertory.sources.base import Gone, Problem
from repertory.sources.content import Unreadable
from repertory.sources.values import Parsed
from repertory.sources.web import Page, Unanswered, Web, clean

CARD = "/.well-known/agent-card.json"
SERVERS = "/v0.1/servers"
PAGE = "100"  # servers, the most that registries give at once
MAX_PAGES = 5_000  # half a million servers: a registry that goes on forever must end
OVERLAP = timedelta(minutes=5)  # their clock and ours differ
FULL_AFTER = timedelta(days=7)  # then everything is read anew: not every registry tells what it has deleted
ABSENT = frozenset({404, 405, 410})  # there is no such thing; other refusals may end

_SERVERS = re.compile(r"/v\d+(?:\.\d+)?/servers/?$")


Progress = Callable[[int, int], None]  # done, in all as far as it is known


@dataclass(slots=True)
class Feed:
    """What was read from an address."""

    location: str  # the address that was read in the end
    items: list[Entity | Problem | Gone] = field(default_factory=list)
    complete: bool = True  # everything there is; else only what changed
    mark: str = ""  # what to come back with; empty where the reading failed on its way


def read_feed(address: str, mark_of: Callable[[str], str | None], web: Web, progress: Progress) -> Feed:
    """Read an address. `mark_of` tells what a location left us with last time: None where we were never there.

    Raises `SourceError` where nothing was read at all.
    """
    places = list(_places(clean(address)))
    known = [place for place in places if mark_of(place[0]) is not None]
    absent = []
    for location, read in known or places:
        try:
            return read(location, mark_of(location) or "", web, progress)
        except Unanswered as error:
            if error.status not in ABSENT:
                raise SourceError(str(error)) from None
            absent.append(str(error))
    raise SourceError(" ".join(absent), absent=True)


_Read = Callable[[str, str, Web, Progress], Feed]


def _places(address: str) -> Iterator[tuple[str, _Read]]:
    """Where to look, and as what."""
    path = urlsplit(address).path
    if _SERVERS.search(path):
        yield address.partition("?")[0].rstrip("/"), _registry
    elif path.endswith(".json"):
        yield address, _document
    else:
        base = address.partition("?")[0].rstrip("/")
        yield base + CARD, _document
        yield base + SERVERS, _registry


def _document(location: str, mark: str, web: Web, progress: Progress) -> Feed:
    """One JSON document: an agent card, or a server.json."""
    page = web.get(location, etag=mark)
    if page.unchanged:
        return Feed(location, complete=False, mark=mark)
    parsed = _parsed(page)
    items: list[Entity | Problem | Gone] = []
    if a2a.is_card(parsed.value):
        items += a2a.agent(parsed, location, location)
    elif (found := registry.records(parsed.value)) is not None:
        items += registry.servers(found, location, lambda _: location)
    else:
        raise Unanswered(f"{location} is neither an agent card nor a server.json.", 404)
    faulty = any(isinstance(item, Problem) for item in items)  # then the next run says so again
    return Feed(location, items, mark="" if faulty else page.etag)


def _registry(location: str, mark: str, web: Web, progress: Progress) -> Feed:
    """All pages of a registry, or of what changed in it. A page that cannot be read ends it; what came before goes in."""
    began = datetime.now(UTC)
    last: dict[str, str] = json.loads(mark) if mark else {}
    complete = not last or began - datetime.fromisoformat(last["full"]) > FULL_AFTER
    parameters = {"limit": PAGE, "version": "latest"}
    if not complete:
        parameters["updated_since"] = last["since"]
    found: list[Any] = []
    cursors: set[str] = set()
    failure = ""
    while not failure:
        try:
            entries, cursor = _page(web.get(location, parameters))
        except Unanswered as error:
            if not found:
                raise
            failure = str(error)
            break
        found += entries
        progress(len(found), len(found))
        if not cursor:
            break
        if cursor in cursors:
            failure = f"{location} gave the same cursor twice: its pages go round in circles."
        elif len(cursors) == MAX_PAGES:
            failure = f"{location} has more than {MAX_PAGES} pages, the most that are read."
        cursors.add(cursor)
        parameters["cursor"] = cursor
    items = [*registry.servers(found, f"{location}#servers", lambda name: registry.address_of(location, name))]
    if failure:  # what was not reached must stay: the problem stands for all that is under the address
        return Feed(location, [*items, Problem(location, f"{failure} What it had told before is in; the rest stays as it was.")], complete)
    since = (began - OVERLAP).isoformat(timespec="seconds").replace("+00:00", "Z")
    return Feed(location, items, complete, json.dumps({"since": since, "full": began.isoformat() if complete else last["full"]}))


def _page(page: Page) -> tuple[list[Any], str]:
    """The servers of a page, and where it goes on."""
    value = _parsed(page).value
    found = registry.records(value)
    if found is None or not isinstance(value, dict):
        raise Unanswered(f"{page.url} does not answer as a registry: expected servers and metadata.", 404)
    told = value.get("metadata")
    cursor = told.get("nextCursor") or told.get("next_cursor") if isinstance(told, dict) else None
    return found, cursor if isinstance(cursor, str) else ""


def _parsed(page: Page) -> Parsed:
    try:
        return values.parse_json(page.text)
    except Unreadable:
        raise Unanswered(f"{page.url} answered something that is not JSON. Check the address.", 404) from None
