from __future__ import annotations

import time
from typing import Any

import pytest

from repertory.errors import InvalidArguments
from repertory.gateway.arguments import MAX_DEPTH, check

ISSUE = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "minLength": 1},
        "labels": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
    },
    "required": ["title"],
    "additionalProperties": False,
}


def test_right_arguments_pass() -> None:
    check("t", ISSUE, {"title": "x", "labels": ["a", "b"]})


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "'title' is a required property"),
        ({"title": 3}, "title: 3 is not of type 'string'"),
        ({"title": "x", "labels": ["a", 1]}, "labels.1: 1 is not of type 'string'"),
        ({"title": "x", "labels": ["a", "a"]}, "same value twice"),
        ({"title": "x", "colour": "red"}, "'colour' was unexpected"),
    ],
)
def test_wrong_arguments_are_told_with_the_right_schema(arguments: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidArguments, match="cannot be called like that") as raised:
        check("tracker/create", ISSUE, arguments)
    assert told in str(raised.value)
    assert raised.value.schema == ISSUE


def _nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"a": value}
    return value


def test_depth_and_size_are_bounded() -> None:
    with pytest.raises(InvalidArguments, match="nested deeper"):
        check("t", {}, _nested(MAX_DEPTH + 1))
    with pytest.raises(InvalidArguments, match="more than"):
        check("t", {}, {"a": list(range(60_000))})
    check("t", _nested(20_000), {"a": 1})  # a schema that is too deep is not followed


EVIL = "(a+)+$"


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"x": {"pattern": EVIL}}},
        {"patternProperties": {EVIL: {"type": "string"}}, "additionalProperties": False},
        {"properties": {"x": {"$ref": "http://127.0.0.1:1/schema.json"}}},
        {"$ref": "#"},
        {"$defs": {"n": {"anyOf": [{"$ref": "#/$defs/n"}, {"$ref": "#/$defs/n"}]}}, "$ref": "#/$defs/n"},
        {"type": "nonsense"},
        {"properties": "nonsense"},
        {"required": 5},
        {"properties": {"x": {"pattern": "(?<=a)b(?!c)"}}},
    ],
)
def test_a_hostile_schema_costs_little_and_reaches_nobody(schema: dict[str, Any]) -> None:
    started = time.perf_counter()
    try:
        check("t", schema, {"x": "a" * 40 + "!", "a" * 40 + "!": 1})
    except InvalidArguments:
        assert "pattern" in str(schema)  # it does not match, and that was found quickly
    assert time.perf_counter() - started < 1.0
