"""Does a Pydantic AI agent use a catalog, and find its own tools by Repertory's search?"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import repertory
from repertory.errors import UpstreamError
from tests.conftest import require
from tests.provision import PYDANTIC_AI
from tests.surfaces.programs import Served


@pytest.fixture(autouse=True)
def _host() -> None:
    require(PYDANTIC_AI)


def scripted(*calls: tuple[str, dict[str, Any]]) -> tuple[Any, list[Any], list[list[str]]]:
    """A model that makes these calls, one a step; what each answered, and which tools it saw at each step."""
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    answers: list[Any] = []
    seen: list[list[str]] = []

    def respond(messages: list[Any], info: Any) -> Any:
        seen.append(sorted(tool.name for tool in info.function_tools))
        if seen[1:]:
            answers.append(messages[-1].parts[0])
        step = len(seen) - 1
        return ModelResponse(parts=[ToolCallPart(*calls[step]) if step < len(calls) else TextPart("done")])

    return FunctionModel(respond), answers, seen


SEARCH = ("search", {"query": "add two numbers", "kinds": ["tool"], "limit": 1})
STEPS = (
    SEARCH,
    ("describe", {"ids": ["workshop/add"]}),
    ("call", {"id": "workshop/add", "arguments": {"first": 20, "second": 22}}),
)


async def _uses(toolset: Any) -> None:
    from pydantic_ai import Agent

    model, answers, seen = scripted(*STEPS)
    assert (await Agent(model, toolsets=[toolset]).run("What is 20 and 22?")).output == "done"
    assert seen[0] == ["call", "describe", "search"]
    found, described, called = answers
    assert found.content.splitlines()[0] == "workshop/add(first: integer, second: integer) - Adds two numbers."
    assert found.metadata["results"][0]["id"] == "tool:workshop/add"
    assert described.metadata["entries"][0]["inputSchema"]["required"] == ["first", "second"]
    assert called.metadata == {"sum": 42}
    assert "42" in called.content


async def test_a_directory(catalog: Path) -> None:
    from repertory.plugins.pydantic_ai import RepertoryToolset

    await _uses(RepertoryToolset(catalog))
    async with repertory.open(catalog):  # the run has let go of it
        pass


async def test_an_open_catalog(catalog: Path) -> None:
    from repertory.plugins.pydantic_ai import RepertoryToolset

    async with repertory.open(catalog) as rep:
        await _uses(RepertoryToolset(rep))
        await rep.search("still open")


async def test_an_address_and_a_directory_that_is_served(catalog: Path, served: Served) -> None:
    from repertory.plugins.pydantic_ai import RepertoryToolset

    await _uses(RepertoryToolset(served.url, token=served.token))
    await _uses(RepertoryToolset(catalog))


async def test_discoveries_become_tools(catalog: Path) -> None:
    from pydantic_ai import Agent

    from repertory.plugins.pydantic_ai import RepertoryToolset

    model, answers, seen = scripted(SEARCH, ("workshop__add", {"first": 1, "second": 2}))
    await Agent(model, toolsets=[RepertoryToolset(catalog, discover=True)]).run("add")
    assert seen[1] == ["call", "describe", "search", "workshop__add"]
    assert answers[1].metadata == {"sum": 3}


async def test_a_wrong_call_can_be_mended(catalog: Path) -> None:
    from pydantic_ai import Agent

    from repertory.plugins.pydantic_ai import RepertoryToolset

    model, answers, _ = scripted(("call", {"id": "workshop/add", "arguments": {"first": 1}}), STEPS[2])
    await Agent(model, toolsets=[RepertoryToolset(catalog)]).run("add")
    assert answers[0].outcome == "retried"
    assert "'second' is a required property" in answers[0].content
    assert answers[1].metadata == {"sum": 42}


async def test_runs_at_the_same_time_share_a_session(catalog: Path) -> None:
    from repertory.plugins.pydantic_ai import RepertoryToolset

    toolset = RepertoryToolset(catalog)
    await asyncio.gather(*(_uses(toolset) for _ in range(4)))


async def test_nobody_there_is_an_error_that_says_so() -> None:
    from repertory.plugins.pydantic_ai import RepertoryToolset

    with pytest.raises(UpstreamError, match="No Repertory answers at"):
        async with RepertoryToolset("http://127.0.0.1:9/mcp"):
            pass


async def test_deferred_tools_are_found_by_meaning() -> None:
    from pydantic_ai import Agent, Tool
    from pydantic_ai.capabilities import ToolSearch

    from repertory.plugins.pydantic_ai import hybrid_search

    def refund_payment(number: int) -> str:
        """Gives a customer their money back."""
        return f"refunded {number}"

    def water_plants() -> str:
        """Waters the plants in the office."""
        return "watered"

    strategy = hybrid_search()
    model, answers, seen = scripted(("search_tools", {"queries": ["reimburse a buyer"]}), ("refund_payment", {"number": 3}))
    own = [Tool(refund_payment, defer_loading=True), Tool(water_plants, defer_loading=True)]
    agent = Agent(model, tools=own, capabilities=[ToolSearch(strategy=strategy)])
    try:
        await agent.run("reimburse them")
    finally:
        await strategy.close()
    assert seen[0] == ["search_tools"]
    assert "refund_payment" in seen[1]
    assert answers[1].content == "refunded 3"
