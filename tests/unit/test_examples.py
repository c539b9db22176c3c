"""Does the example catalog answer the questions that a newcomer tries first?"""

from __future__ import annotations

import pytest
from tests.catalogs import ask, ids

from repertory.app import Repertory
from repertory.model import Kind, Strategy


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("schedule a meeting", "tool:calendar/create_event"),
        ("save text to disk", "tool:workspace-files/write_file"),
        ("C++", "tool:build-server/compile-cpp"),
        ("공휴일", "tool:korea-maps-weather/list_public_holidays"),
        ("сповіщення про затримку", "tool:mail/send_sms_notice"),
    ],
)
async def test_the_right_tool_is_first(examples: Repertory, query: str, expected: str) -> None:
    assert ids(await ask(examples, query))[0] == expected


@pytest.mark.parametrize("strategy", [Strategy.BM25, Strategy.KEYWORD])
async def test_korean_and_ukrainian_words_are_found_without_a_model(examples: Repertory, strategy: Strategy) -> None:
    tools = frozenset({Kind.TOOL})
    assert ids(await ask(examples, "공휴일", strategy=strategy, kinds=tools))[0] == "tool:korea-maps-weather/list_public_holidays"
    assert ids(await ask(examples, "сповіщення", strategy=strategy, kinds=tools))[0].startswith("tool:mail/")


async def test_a_pattern_finds_the_tool_by_its_name_first(examples: Repertory) -> None:
    assert ids(await ask(examples, "read_file", strategy=Strategy.REGEX))[0] == "tool:workspace-files/read_file"
