"""Are registries and agents elsewhere read as they should be, however they behave?"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2
import pytest
import pytest_asyncio
from tests.catalogs import ask, ids
from tests.unit.sources.cards import CARD

import repertory
from repertory.app import Repertory
from repertory.errors import SourceError
from repertory.model import Status
from repertory.sources.web import Unanswered, Web

OFFICIAL = "io.modelcontextprotocol.registry/official"


class Elsewhere:
    """The serving process, and a place of its own for each test."""

    def __init__(self, base: str) -> None:
        self.base = base

    def place(self, behaviour: str, content: Any = None) -> str:
        place = f"{behaviour}~{uuid4().hex[:8]}"
        self.tell(place, content)
        return place

    def tell(self, place: str, content: Any) -> None:
        httpx2.post(f"{self.base}/tell", json={place: content}, trust_env=False)

    def asked(self, place: str) -> list[dict[str, Any]]:
        return [one for one in httpx2.get(f"{self.base}/asked", trust_env=False).json() if one["place"] == place]


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Elsewhere]:
    command = [sys.executable, str(Path(__file__).with_name("feedserver.py"))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield Elsewhere(f"http://127.0.0.1:{int(process.stdout.readline())}")
        finally:
            process.terminate()


@pytest_asyncio.fixture
async def words(tmp_path: Path) -> AsyncIterator[Repertory]:
    """An empty catalog that is searched by words."""
    async with repertory.open(tmp_path / "catalog", embedder="none") as opened:
        yield opened


def entry(name: str, description: str = "Serves", *, ago: float = 1000, **more: Any) -> dict[str, Any]:
    """A server as a registry lists it, updated so many hours ago."""
    updated = (datetime.now(UTC) - timedelta(hours=ago)).isoformat(timespec="seconds").replace("+00:00", "Z")
    told = {"status": more.pop("status", "active"), "updatedAt": updated, "publishedAt": updated, "isLatest": more.pop("latest", True)}
    return {"server": {"name": name, "description": description, "version": "1.0.0", **more}, "_meta": {OFFICIAL: told}}


def crowd(count: int) -> list[dict[str, Any]]:
    return [entry(f"io.example/server-{n}", f"Does thing {n}") for n in range(count)]


async def known(rep: Repertory) -> list[str]:
    found, _ = await rep.entries(limit=1000)
    return [entity.id for entity in found]


async def test_a_registry_is_read_page_by_page(words: Repertory, elsewhere: Elsewhere) -> None:
    package = {
        "registryType": "npm",
        "identifier": "@a/weather",
        "environmentVariables": [{"name": "KEY", "isSecret": True, "value": "s3cret"}],
    }
    weather = entry(
        "io.example/weather",
        "Forecasts rain",
        title="Weather",
        repository={"url": "https://example.org/weather", "source": "github"},
        packages=[package],
        remotes=[{"type": "streamable-http", "url": "https://example.org/mcp"}],
    )
    old = entry("io.example/weather", "An older version", version="0.9.0", latest=False)
    place = elsewhere.place("good", [weather, old, entry("io.example/old", status="deprecated"), *crowd(240)])
    report = await words.add(f"{elsewhere.base}/{place}/v0.1/servers")
    assert (report.added, report.problems) == (242, [])
    asked = elsewhere.asked(place)
    assert [one.get("cursor") for one in asked] == [None, "100", "200"]
    assert {one["limit"] for one in asked} == {"100"}
    found = await words.show("io.example/weather")
    assert found.description == "Forecasts rain"
    assert found.details["version"] == "1.0.0"
    assert found.details["title"] == "Weather"
    assert found.details["repository"]["source"] == "github"
    assert found.details["remotes"][0]["url"] == "https://example.org/mcp"
    assert found.details["packages"][0]["environmentVariables"] == [{"name": "KEY", "isSecret": True}]
    assert found.modified is not None
    assert (await words.show("io.example/old")).status is Status.DEPRECATED
    assert ids(await ask(words, "forecast rain"))[0] == "server:io.example/weather"


async def test_later_runs_ask_only_for_what_changed(words: Repertory, elsewhere: Elsewhere) -> None:
    place = elsewhere.place("good", crowd(150))
    address = f"{elsewhere.base}/{place}"
    await words.add(address)  # the host alone: no card there, so it is asked as a registry
    changed = [entry("io.example/server-3", "Now sings", ago=0), entry("io.example/server-4", ago=0, status="deleted")]
    new = [entry("io.example/new", "Came in", ago=0)]
    elsewhere.tell(place, [one for one in crowd(150) if one["server"]["name"][-9:] not in ("/server-3", "/server-4")] + changed + new)
    before = len(elsewhere.asked(place))
    report = await words.add(address)
    (again,) = elsewhere.asked(place)[before:]
    assert datetime.fromisoformat(again["updated_since"]) > datetime.now(UTC) - timedelta(hours=1)
    assert (report.added, report.changed, report.removed, report.unchanged) == (1, 1, 1, 148)
    assert "server:io.example/server-4" not in await known(words)
    await words.approve("server:io.example/server-3")  # F06: it changed elsewhere
    assert (await words.show("io.example/server-3")).description == "Now sings"
    assert len(await known(words)) == 150
    assert len(await words.sources()) == 1


async def test_what_a_failing_registry_had_brought_stays_and_the_next_run_is_full(words: Repertory, elsewhere: Elsewhere) -> None:
    place = elsewhere.place("elsewhere", "")
    everybody = [*crowd(150)]  # once: the seconds in it must be the same in both places
    good, broken = elsewhere.place("good", everybody), elsewhere.place("broken", everybody[::-1])
    elsewhere.tell(place, broken)
    report = await words.add(f"{elsewhere.base}/{place}/v0.1/servers")
    assert (report.added, len(report.problems)) == (100, 1)
    elsewhere.tell(place, good)
    report = await words.add(f"{elsewhere.base}/{place}/v0.1/servers")
    assert (report.added, report.unchanged, report.problems) == (50, 100, [])
    assert not any("updated_since" in one for one in elsewhere.asked(good))
    elsewhere.tell(place, broken)
    report = await words.add(f"{elsewhere.base}/{place}/v0.1/servers")  # nothing has changed: one empty page
    assert (report.unchanged, report.removed) == (150, 0)


@pytest.mark.parametrize(("behaviour", "why", "read"), [("broken", "HTTP 500", 100), ("loop", "same cursor twice", 150)])
async def test_a_full_run_that_fails_removes_nothing(words: Repertory, elsewhere: Elsewhere, behaviour: str, why: str, read: int) -> None:
    place = elsewhere.place("elsewhere", "")
    for start in (0, 150):
        elsewhere.tell(place, elsewhere.place(behaviour, crowd(300)[start : start + 150]))
        report = await words.add(f"{elsewhere.base}/{place}/v0.1/servers")
        assert (report.added, report.removed) == (read, 0)
        (problem,) = report.problems
        assert why in problem.message
        assert "secret-echo" not in problem.message
    assert len(await known(words)) == 2 * read
    assert [source.problems for source in await words.sources()] == [1]


@pytest.mark.parametrize("behaviour", ["recovers", "drops"])
async def test_a_passing_fault_is_tried_once_more(words: Repertory, elsewhere: Elsewhere, behaviour: str) -> None:
    place = elsewhere.place(behaviour, crowd(150))
    report = await words.add(f"{elsewhere.base}/{place}/v0.1/servers")
    assert (report.added, report.problems) == (150, [])


@pytest.mark.parametrize(
    ("behaviour", "why"),
    [("missing", "HTTP 404"), ("page", "not JSON"), ("otherscheme", "another scheme"), ("circle", "from one address to the next")],
)
async def test_an_address_with_nothing_to_read_says_so(words: Repertory, elsewhere: Elsewhere, behaviour: str, why: str) -> None:
    with pytest.raises(SourceError, match=why) as caught:
        await words.add(f"{elsewhere.base}/{elsewhere.place(behaviour)}/v0.1/servers")
    assert "secret-echo" not in str(caught.value)
    assert await words.sources() == []


@pytest.mark.parametrize("address", ["http://", "http://user:s3cret@127.0.0.1/", "http://127.0.0.1:99999/", "http://127.0.0.1:1/"])
async def test_an_address_that_cannot_be_asked_says_so(words: Repertory, address: str) -> None:
    with pytest.raises(SourceError) as caught:
        await words.add(address)
    assert "s3cret" not in str(caught.value)


def test_an_answer_is_bounded_in_size_and_time(elsewhere: Elsewhere) -> None:
    with Web() as web, pytest.raises(Unanswered, match="more than 16 MB"):
        web.get(f"{elsewhere.base}/{elsewhere.place('huge')}/x.json")
    with Web(timeout=0.3) as web:
        with pytest.raises(Unanswered, match=r"did not answer in 0\.3 s"):
            web.get(f"{elsewhere.base}/{elsewhere.place('slow')}/x.json")
        with pytest.raises(Unanswered, match="did not end its answer"):
            web.get(f"{elsewhere.base}/{elsewhere.place('drip')}/x.json")


async def test_an_agent_is_found_by_its_host_and_asked_with_its_etag(words: Repertory, elsewhere: Elsewhere) -> None:
    place = elsewhere.place("card", CARD)
    address = f"{elsewhere.base}/{place}"
    report = await words.add(address)
    assert (report.added, report.problems) == (1, [])
    agent = await words.show("agent:route-planner-eu")
    assert agent.provenance == f"{address}/.well-known/agent-card.json"
    assert ids(await ask(words, "plan a route")) == ["agent:route-planner-eu"]
    report = await words.add(address)
    assert (report.unchanged, report.changed, report.removed) == (1, 0, 0)
    assert elsewhere.asked(place)[-1]["etag"]
    elsewhere.tell(place, {**CARD, "description": "Plans voyages."})
    report = await words.add(f"{address}/.well-known/agent-card.json")  # the card's own address is the same source
    assert (report.changed, report.unchanged) == (1, 0)
    await words.approve("agent:route-planner-eu")  # F06: it changed elsewhere
    assert (await words.show("agent:route-planner-eu")).description == "Plans voyages."
    assert {one["path"] for one in elsewhere.asked(place)} == {".well-known/agent-card.json"}


async def test_a_card_that_is_broken_for_once_keeps_its_agent(words: Repertory, elsewhere: Elsewhere) -> None:
    place = elsewhere.place("card", CARD)
    address = f"{elsewhere.base}/{place}/agent.json"
    await words.add(address)
    elsewhere.tell(place, {**CARD, "name": ""})
    report = await words.add(address)
    assert (report.removed, len(report.problems)) == (0, 1)
    elsewhere.tell(place, {"hello": "world"})
    with pytest.raises(SourceError, match="neither an agent card nor"):
        await words.add(address)
    assert await known(words) == ["agent:route-planner-eu"]
