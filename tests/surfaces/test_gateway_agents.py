"""Are A2A agents used through the gateway as tools are?"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from repertory.errors import UpstreamError
from repertory.gateway import agents
from repertory.gateway.session import Order
from repertory.model import Entity, Kind
from tests.programs import on_loopback
from tests.surfaces.programs import Served, run, serving
from tests.surfaces.test_gateway import agent

NO_MODEL = {"REPERTORY_EMBEDDER": "none"}
PILOT = "agent:harbor-pilot"
PATIENT = "2"  # seconds that a call may take


@pytest.fixture(scope="module", params=["streamed", "whole"])
def harbor(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service whose catalog has one agent."""
    directory = tmp_path_factory.mktemp("harbor")
    (directory / "said").write_text("Brings ships to their berths.")
    catalog = directory / "catalog"
    arguments = ("{port}", str(directory / "said"), str(directory / "log"), request.param)
    with on_loopback("tests.a2aagent", *arguments) as url:
        added = run("add", url, catalog=catalog, **NO_MODEL)
        assert added.code == 0, added.err
        with serving(catalog, REPERTORY_REFRESH_MINUTES="0", REPERTORY_CALL_TIMEOUT=PATIENT, **NO_MODEL) as served:
            yield served


async def say(served: Served, message: str, progress: Any = None, **more: str) -> tuple[str, dict[str, Any], bool]:
    """What the agent answers: text, structured content, and whether it failed."""
    async with agent(served) as client:
        answer: Any = await client.call_tool("call", {"id": PILOT, "arguments": {"message": message, **more}}, progress_callback=progress)
    return answer.content[0].text, answer.structured_content or {}, bool(answer.is_error)


async def test_an_agent_is_found_described_and_answers_a_message(harbor: Served) -> None:
    async with agent(harbor) as client:
        found: Any = await client.call_tool("search", {"query": "bring a ship to its berth", "kinds": ["a2a_agent"]})
        (reference,) = (result["id"] for result in found.structured_content["results"])
        described: Any = await client.call_tool("describe", {"ids": [reference]})
        assert described.structured_content["entries"][0]["inputSchema"]["required"] == ["message"]
        wrong: Any = await client.call_tool("call", {"id": reference, "arguments": {"text": "hello"}})
        assert wrong.is_error
        assert "'message' is a required property" in wrong.content[0].text
    assert reference == PILOT
    text, structured, failed = await say(harbor, "hello")
    assert (text, failed) == ("Aye: hello.", False)
    assert structured["text"] == text
    again, _, _ = await say(harbor, "and now", context_id=structured["context_id"])
    assert again == "Aye: and now. Before, you said: hello."
    assert (await say(harbor, "and now"))[0] == "Aye: and now."  # a conversation of its own


async def test_a_task_brings_its_artifacts_and_tells_how_far_it_is(harbor: Served) -> None:
    steps: list[str | None] = []

    async def told(progress: float, total: float | None, message: str | None) -> None:
        steps.append(message)

    text, structured, failed = await say(harbor, "bring the Aurora", told)
    assert not failed
    assert " ".join(text.split()) == "Through the channel, to berth 4."  # pieces of a stream, or the parts of a whole
    assert structured["state"] == "completed"
    assert structured["data"] == [{"berth": 4, "fathoms": [7, 5.5]}]
    assert structured["task_id"]
    assert structured["context_id"]
    if "Weighing anchor." in steps:  # one that does not stream tells nothing on the way
        assert steps == ["Weighing anchor.", "Through the channel, ", "to berth 4.", "Moored."]
    else:
        assert steps in ([], ["Moored."])


async def test_a_task_that_asks_back_is_gone_on_with(harbor: Served) -> None:
    text, asked, failed = await say(harbor, "moor the Aurora")
    assert (text, asked["state"], failed) == ("At which berth?", "input_required", False)
    text, done, failed = await say(harbor, "berth 7", task_id=asked["task_id"], context_id=asked["context_id"])
    assert (text, done["state"], failed) == ("Moored at berth 7.", "completed", False)


async def test_a_task_that_fails_is_an_error(harbor: Served) -> None:
    text, structured, failed = await say(harbor, "sink")
    assert (text, structured["state"], failed) == ("Struck a rock.", "failed", True)
    unknown, _, failed = await say(harbor, "hello", task_id="nobody-knows-it")
    assert failed
    assert unknown.startswith("The agent 'harbor-pilot' failed")


async def test_an_agent_that_hangs_is_given_up(harbor: Served) -> None:
    started = time.monotonic()
    text, _, failed = await say(harbor, "drift")
    assert (text, failed) == ("The agent 'harbor-pilot' did not answer within 2 s.", True)
    assert time.monotonic() - started < 5
    assert (await say(harbor, "hello"))[0] == "Aye: hello."


def test_an_agent_is_called_from_a_terminal(harbor: Served) -> None:
    done = run("call", PILOT, '{"message": "hello"}', catalog=harbor.catalog, **NO_MODEL)
    assert done.answer["structuredContent"]["text"] == "Aye: hello."
    failed = run("call", "Harbor Pilot", '{"message": "sink"}', catalog=harbor.catalog, **NO_MODEL)
    assert (failed.code, json.loads(failed.out)["content"][0]["text"]) == (1, "Struck a rock.")
    used = run("calls", "--tool", PILOT, "--json", "-n", "2", catalog=harbor.catalog, **NO_MODEL).answer["calls"]
    assert [(call["who"], call["tool"], call["outcome"]) for call in used] == [("owner", PILOT, "refused"), ("owner", PILOT, "ok")]


async def test_an_agent_that_is_gone_is_told_of_without_its_address(tmp_path: Path) -> None:
    gone = Entity(Kind.A2A_AGENT, "gone", "gone", details={"url": "http://127.0.0.1:9/rpc?key=secret"})
    with pytest.raises(UpstreamError, match=r"The agent 'gone' failed \(\w+\)\.") as error:
        await agents.send(gone, Order("gone", {"message": "hello"}, 5))
    assert "secret" not in str(error.value)


async def test_without_the_sdk_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "a2a.client", None)
    with pytest.raises(UpstreamError, match=r"pip install 'repertory\[a2a\]'"):
        await agents.send(Entity(Kind.A2A_AGENT, "pilot", "pilot"), Order("pilot", {"message": "hello"}, 5))
