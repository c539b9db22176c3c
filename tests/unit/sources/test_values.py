"""Which values do JSON and YAML texts hold?"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable

import pytest

from repertory.sources.content import Unreadable
from repertory.sources.values import MAX_DEPTH, Parsed, parse_json, parse_yaml


@pytest.mark.parametrize("depth", [MAX_DEPTH + 2, 2_000, 200_000])
@pytest.mark.parametrize("parse", [parse_json, parse_yaml])
def test_deep_nesting_is_refused_on_any_thread(parse: Callable[[str], Parsed], depth: int) -> None:
    refused: list[str] = []

    def run() -> None:
        with pytest.raises(Unreadable) as caught:
            parse("[" * depth + "]" * depth)
        refused.append(str(caught.value))

    thread = threading.Thread(target=run)  # its stack is smaller: libyaml would take the process down earlier
    thread.start()
    thread.join()
    assert len(refused) == 1
    assert "nested deeper" in refused[0]


@pytest.mark.parametrize("parse", [parse_json, parse_yaml])
def test_nesting_up_to_the_limit_is_read(parse: Callable[[str], Parsed]) -> None:
    depth = MAX_DEPTH
    value = parse("[" * depth + "]" * depth).value
    for _ in range(depth - 1):
        (value,) = value
    assert value == []


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [*a]",
        "a: *missing",
        "a: !!python/object/apply:os.system [ls]",
        "a: !!bool maybe",
        "a: !!float x",
        "a: !!timestamp x",
        "a: !!int ''",
        "a: !!map text",
        "? [a, b]\n: c",
        "a: b: c",
        "a: \x07",
        "a: 1\n---\nb: 2",
        "{",
    ],
)
def test_bad_yaml_is_unreadable_and_nothing_else(text: str) -> None:
    with pytest.raises(Unreadable):
        parse_yaml(text)


def test_the_line_of_an_error_counts_from_where_the_text_starts() -> None:
    with pytest.raises(Unreadable) as caught:
        parse_yaml("a: 1\nb: c: d\n", first_line=10)
    assert caught.value.line == 11


def test_an_open_bracket_is_shown_where_it_began() -> None:
    with pytest.raises(Unreadable, match="that began on line 11") as caught:
        parse_yaml("a: 1\nb: [\nc: 2\n", first_line=10)
    assert caught.value.line == 13


def test_aliases_may_repeat_but_not_explode() -> None:
    assert parse_yaml("a: &x {k: v}\nb: [*x, *x]").value == {"a": {"k": "v"}, "b": [{"k": "v"}, {"k": "v"}]}
    long_text = "x" * 100_000
    with pytest.raises(Unreadable, match="aliases"):
        parse_yaml(f"a: &x {long_text}\nb: [{', '.join(['*x'] * 300)}]")


@pytest.mark.parametrize("text", ["NaN", "Infinity", "1e999"])
def test_numbers_that_json_cannot_carry_become_null(text: str) -> None:
    assert parse_json(f"[{text}, 1.5]").value == [None, 1.5]


def test_an_integer_of_any_length_crashes_nothing() -> None:
    with pytest.raises(Unreadable):
        parse_json("1" * 10_000)
    assert parse_yaml(f"a: {'1' * 10_000}").value == {"a": "1" * 10_000}


def test_yaml_scalars_become_plain_values() -> None:
    text = "a: 2024-05-06\nb: 2024-05-06 10:00:00\nc: !!set {x, y}\nd: !!binary aGk=\ne: .inf\nf: ~\nyes: no\n"
    value = parse_yaml(text).value
    assert value == {
        "a": "2024-05-06",
        "b": "2024-05-06T10:00:00",
        "c": ["x", "y"],
        "d": "aGk=",
        "e": None,
        "f": None,
        "yes": False,
    }
    assert not any(isinstance(item, float) and not math.isfinite(item) for item in value.values())


def test_lines_are_known_for_the_nearest_value_that_is_there() -> None:
    parsed = parse_json('{\n "tools": [\n  {"name": "a"},\n  {\n   "name": "b"\n  }\n ]\n}')
    assert parsed.line("tools") == 2
    assert parsed.line("tools", 1, "name") == 5
    assert parsed.line("tools", 1, "missing") == 4
    assert parsed.line("tools", 9) == 2
    assert parsed.line() == 1
