"""What does a running server tell, and what if it misbehaves?"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.conftest import ROOT, require
from tests.mcpserver import PAGE, TOOLS
from tests.programs import children, on_loopback
from tests.provision import EVERYTHING

from repertory.model import PUBLIC, Entity, Kind, Link
from repertory.sources import Problem, read_path
from repertory.sources.mcp import Offer, Outcome, Unreachable, contact, contact_all
from repertory.sources.serverspec import ServerSpec, Transport, Unresolved, resolve

WHERE = "config.json#house"


def spec(mode: str, *arguments: str, name: str = "house", timeout: float = 20.0, **env: str) -> ServerSpec:
    """One of the servers of `tests/mcpserver.py`."""
    return ServerSpec(
        name, Transport.STDIO, sys.executable, ("-m", "tests.mcpserver", mode, *arguments), env=env, cwd=str(ROOT), timeout=timeout
    )


def split(offer: Offer) -> tuple[list[Entity], list[Problem]]:
    found = list(offer.entities(WHERE))
    return [item for item in found if isinstance(item, Entity)], [item for item in found if isinstance(item, Problem)]


async def test_a_server_tells_everything() -> None:
    entities, problems = split(await contact(spec("good")))
    server, lamp, bell = entities
    assert problems == []
    assert (server.id, server.description) == ("server:house", "Lamps and bells.")
    assert {key: server.details[key] for key in ("title", "version", "instructions", "prompts", "resources")} == {
        "title": "The house",
        "version": "1.2",
        "instructions": "Lamps and bells.",
        "prompts": 2,
        "resources": 1,
    }
    assert server.links == (Link(lamp.id, "has_tool"), Link(bell.id, "has_tool"))
    assert lamp.links == (Link(server.id, "part_of"),)
    assert (lamp.id, lamp.kind, lamp.details["title"], lamp.details["server"]) == (
        "tool:house/light_lamp",
        Kind.TOOL,
        "Light a lamp",
        "house",
    )
    assert lamp.details["input_schema"]["required"] == ["room"]
    assert lamp.details["output_schema"]["properties"] == {"lit": {"type": "boolean"}}
    assert lamp.details["annotations"] == {"readOnlyHint": False, "idempotentHint": True}
    assert lamp.details["icons"][0]["mimeType"] == "image/png"
    assert children() == {}


async def test_a_tool_file_gives_the_same_entities(tmp_path: Path) -> None:
    offer = await contact(spec("good"))
    file = tmp_path / "house.json"
    file.write_text(json.dumps({"server": dict(offer.server), "tools": list(offer.tools)}))
    live = [replace(entity, provenance="") for entity in split(offer)[0]]
    assert live == [replace(entity, provenance="") for entity in read_path(file, "house") if isinstance(entity, Entity)]


async def test_ten_thousand_tools_come_over_many_pages() -> None:
    entities, problems = split(await contact(spec("flooding")))
    assert (len(entities), problems, TOOLS // PAGE) == (1 + TOOLS, [], 100)


async def test_more_tools_than_are_read_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("repertory.sources.mcp.MAX_TOOLS", 250)
    entities, problems = split(await contact(spec("flooding")))
    assert len(entities) == 251
    assert "more than 250" in problems[0].message


async def test_more_pages_than_are_read_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("repertory.sources.mcp.MAX_PAGES", 3)
    entities, problems = split(await contact(spec("flooding")))
    assert len(entities) == 301
    assert "more than 3 pages" in problems[0].message


async def test_a_listing_that_never_ends_is_ended() -> None:
    entities, problems = split(await contact(spec("looping")))
    assert "tool:house/ring_bell" in {entity.id for entity in entities}
    assert any("same cursor" in problem.message for problem in problems)


async def test_who_hangs_or_shouts_keeps_nobody_waiting() -> None:
    came: dict[str, tuple[float, Outcome]] = {}
    started = time.monotonic()

    async def told(one: ServerSpec, outcome: Outcome) -> None:
        came[one.name] = (time.monotonic() - started, outcome)

    bad = [spec("hanging", name="hanging", timeout=6), spec("shouting", name="shouting")]
    await contact_all([*bad, spec("good", name="good")], told)
    assert isinstance(came["good"][1], Offer)
    assert came["good"][0] < came["hanging"][0]
    for name, reason in (("hanging", "did not answer within 6 s"), ("shouting", "says more than is listened to")):
        assert isinstance(came[name][1], Unreachable)
        assert reason in str(came[name][1])
    assert came["shouting"][0] < 19  # ended for what it said, not for the time it took
    assert children() == {}


async def test_contact_that_is_given_up_leaves_no_child_behind() -> None:
    async def told(_spec: ServerSpec, _outcome: Outcome) -> None: ...

    running = asyncio.create_task(contact_all([spec("hanging", timeout=60)], told))
    while not children():  # noqa: ASYNC110  no event tells of it
        await asyncio.sleep(0.05)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert children() == {}


async def test_the_last_words_of_a_server_are_told_without_its_secrets(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Unreachable, match="cannot open the vault with") as failed:
        await contact(spec("dying", VAULT_KEY="${HOUSE_KEY}"), {"HOUSE_KEY": "open-sesame"})
    assert "open-sesame" not in str(failed.value)
    assert capfd.readouterr().out == ""


async def test_a_command_that_is_not_there_is_named() -> None:
    with pytest.raises(Unreachable, match="'no-such-program' cannot be started"):
        await contact(ServerSpec("house", Transport.STDIO, "no-such-program", env={"KEY": "abcdefgh"}))


@pytest.fixture(scope="module")
def http_server() -> Iterator[str]:
    """A server over streamable HTTP."""
    with on_loopback("tests.mcpserver", "http", "{port}") as url:
        yield url


async def test_a_server_over_events_is_read() -> None:
    with on_loopback("tests.mcpserver", "sse", "{port}") as url:
        entities, problems = split(await contact(ServerSpec("house", Transport.SSE, url=f"{url}/sse")))
    assert ([entity.id for entity in entities], problems) == (["server:house", "tool:house/ring_bell"], [])


async def test_a_server_over_http_tells_the_same(http_server: str) -> None:
    over_http = await contact(ServerSpec("house", Transport.HTTP, url=f"{http_server}/mcp"))
    assert over_http == await contact(spec("good"))


async def test_an_answer_over_http_is_bounded(http_server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("repertory.sources.transports.MAX_ANSWER", 300)
    with pytest.raises(Unreachable, match="says more than is listened to"):
        await contact(ServerSpec("house", Transport.HTTP, url=f"{http_server}/mcp", timeout=5))


async def test_an_address_is_told_without_its_key(http_server: str) -> None:
    with pytest.raises(Unreachable) as failed:
        await contact(ServerSpec("house", Transport.HTTP, url=f"{http_server}/nowhere?key=open-sesame"))
    assert str(failed.value) == f"{http_server} answered HTTP 404"
    with pytest.raises(Unreachable, match=r"http://127.0.0.1:9 could not be asked \(ConnectError\)"):
        await contact(ServerSpec("house", Transport.HTTP, url="http://user:open-sesame@127.0.0.1:9/mcp"))


async def test_prompts_that_never_come_cost_no_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("repertory.sources.mcp.COUNTING", 0.5)
    server, *tools = split(await contact(spec("mute")))[0]
    assert ([tool.name for tool in tools], server.details.get("prompts"), server.details["resources"]) == (
        ["light_lamp", "ring_bell"],
        None,
        1,
    )


@pytest.fixture
def said(tmp_path: Path) -> Path:
    """What a server of the handshake era lists: a good tool, and one that the protocol forbids."""
    file = tmp_path / "said.json"
    schema = {"type": "object", "properties": {"room": {"type": "object", "x-mcp-header": "Room"}}}
    tools = [{"name": "good", "inputSchema": {"type": "object"}, "audience": ["staff"]}, {"name": "forbidden", "inputSchema": schema}]
    file.write_text(json.dumps({"tools": tools}))
    return file


async def test_a_server_of_the_handshake_era_is_read_over_both_ways(said: Path) -> None:
    child = ServerSpec("elder", Transport.STDIO, sys.executable, ("-m", "tests.elderserver", "stdio", str(said)), cwd=str(ROOT))
    offer = await contact(child)
    with on_loopback("tests.elderserver", "http", str(said), "{port}") as url:
        assert await contact(ServerSpec("elder", Transport.HTTP, url=f"{url}/mcp")) == offer
    entities, (problem,) = split(offer)
    assert [entity.id for entity in entities] == ["server:elder", "tool:elder/good"]
    assert entities[1].audience == frozenset({PUBLIC})  # who may find it is not for its server to say
    assert "the tool 'forbidden' may not be used by any client" in problem.message
    assert (offer.announces, offer.ttl) == (True, 0)


async def test_the_reference_server_is_read() -> None:
    program = require(EVERYTHING)
    entities, problems = split(await contact(ServerSpec("everything", Transport.STDIO, program, ("stdio",))))
    assert problems == []
    assert "tool:everything/echo" in {entity.id for entity in entities}
    assert entities[0].details["prompts"] > 0


def test_placeholders_are_filled_in() -> None:
    written = ServerSpec(
        "house",
        Transport.HTTP,
        url="https://${HOST:-example.com}/mcp",
        headers={"Authorization": "Bearer ${env:TOKEN}"},
        args=("${EMPTY:-}",),
    )
    resolved = resolve(written, {"TOKEN": "open-sesame", "HOST": ""})
    assert resolve(replace(written, url="a${HOST}"), {"TOKEN": "t", "HOST": ""}).spec.url == "a"
    assert resolved.spec.url == "https://example.com/mcp"
    assert resolved.spec.headers == {"Authorization": "Bearer open-sesame"}
    assert resolved.hide("a open-sesame b") == "a *** b"
    assert "sesame" not in repr(resolved.spec)


@pytest.mark.parametrize(("text", "reason"), [("${TOKEN}", "variable TOKEN"), ("${input:token}", "only the program")])
def test_what_cannot_be_filled_in_is_named(text: str, reason: str) -> None:
    with pytest.raises(Unresolved, match=reason):
        resolve(ServerSpec("house", Transport.STDIO, "x", env={"A": text}), {})
