"""E06 and E07. What surrounds a query: its rewrite and its context."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertory.errors import RemoteModelError
from repertory.search.rewrite import rewritten
from repertory.text.context import LONGEST, Context, context_text


class Told:
    """A rewriter that answers what it was told, or fails."""

    def __init__(self, answer: str | RemoteModelError | None) -> None:
        self.answer = answer
        self.asked = 0

    async def rewrite(self, text: str) -> str | None:
        self.asked += 1
        if isinstance(self.answer, RemoteModelError):
            raise self.answer
        return self.answer

    async def close(self) -> None: ...


async def test_E06_a_rewrite_comes_without_a_remark() -> None:
    assert await rewritten(Told("list issues"), "列出问题") == ("list issues", None)


async def test_E06_no_rewriter_and_the_same_words_are_no_failure() -> None:
    assert await rewritten(None, "列出问题") == (None, None)
    assert await rewritten(Told("List issues"), "list  issues") == (None, None)


async def test_E06_an_empty_rewrite_leaves_the_original_and_is_told() -> None:
    rewrite, diagnostic = await rewritten(Told(None), "列出问题")
    assert rewrite is None
    assert diagnostic is not None
    assert diagnostic.code == "rewrite_empty"


async def test_E06_an_empty_query_is_not_sent_anywhere() -> None:
    told = Told("everything")
    assert await rewritten(told, "  ") == (None, None)
    assert told.asked == 0


async def test_E06_a_failure_leaves_the_original_and_is_told() -> None:
    rewrite, diagnostic = await rewritten(Told(RemoteModelError("The rewriter is out of order.")), "列出问题")
    assert rewrite is None
    assert diagnostic is not None
    assert diagnostic.code == "rewrite_failed"
    assert "out of order" in diagnostic.message
    assert "列出问题" not in diagnostic.message


@pytest.mark.parametrize(
    ("summary", "context", "text"),
    [
        (None, None, ""),
        ("  Planning a\ntrip. ", None, "Planning a trip."),
        (None, {"city": "Oslo", "nights": 3}, "city Oslo nights 3"),
        ("Planning a trip.", {"trip": {"city": "Oslo", "stops": ["Bergen", "Flåm"]}}, "Planning a trip. trip city Oslo stops Bergen Flåm"),
        (None, ["first", {"second": True}], "first second True"),
        (None, "the last message", "the last message"),
    ],
)
def test_E07_summary_and_context_become_text(summary: str | None, context: Context, text: str) -> None:
    assert context_text(summary, context) == text


ODD = [object(), print, b"bytes", {1, 2}, math.nan, math.inf, 10**5000, None, {}, [], [object()], {"inner": object()}, {1: "number"}]


@pytest.mark.parametrize("value", ODD, ids=lambda value: type(value).__name__)
def test_E07_what_cannot_be_written_is_ignored_with_its_name(value: object) -> None:
    assert context_text("s", {"before": 1, "odd": value, "after": [value, 2]}) == "s before 1 after 2"


def test_E07_cycles_and_depth_are_ignored() -> None:
    cycle: dict[str, object] = {"name": "loop"}
    cycle["self"] = cycle
    cycle["list"] = [cycle, "end"]
    assert context_text(None, cycle) == "name loop list end"
    deep: list[object] = ["bottom"]
    for _ in range(10_000):
        deep = [deep]
    assert context_text("top", deep) == "top"


def test_E07_half_a_character_does_not_spoil_the_rest() -> None:
    assert context_text("half \ud83d", {"key": "\udc00 whole"}) == "half ? key ? whole"


def test_E07_a_long_context_is_cut_between_words() -> None:
    text = context_text("summary", {"words": ["word"] * 10_000})
    assert LONGEST - 5 <= len(text) <= LONGEST
    assert text.startswith("summary words word")
    assert text.endswith(" word")
    assert context_text("x" * 5_000, None) == "x" * LONGEST


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner),
)


@given(st.none() | st.text(), VALUES)
def test_E07_is_never_an_error_and_never_too_long(summary: str | None, context: Context) -> None:
    assert len(context_text(summary, context)) <= LONGEST
