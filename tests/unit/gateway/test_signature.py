from __future__ import annotations

from typing import Any

import pytest

from repertory.gateway.signature import first_sentence, parameters, signature
from repertory.model import Entity, Kind


def test_a_tool_is_one_line() -> None:
    schema = {
        "properties": {
            "title": {"type": "string"},
            "labels": {"type": "array", "items": {"type": "string"}},
            "state": {"enum": ["open", "shut"]},
        },
        "required": ["title"],
    }
    entity = Entity(Kind.TOOL, "github/create_issue", "create_issue", "Creates an issue. Needs a token.", details={"input_schema": schema})
    assert signature(entity) == "github/create_issue(title: string, labels?: string[], state?: open|shut) - Creates an issue."


def test_other_kinds_go_by_their_id() -> None:
    assert signature(Entity(Kind.SKILL, "pdf", "pdf", "Fills in forms.")) == "skill:pdf - Fills in forms."
    assert signature(Entity(Kind.A2A_AGENT, "planner", "Planner")) == "agent:planner"


def test_optional_parameters_are_not_named_without_end() -> None:
    schema = {"properties": {f"p{n}": {} for n in range(30)}, "required": ["p29"]}
    assert parameters(schema) == "p29: any, p0?: any, p1?: any, p2?: any, p3?: any, p4?: any, p5?: any, …"


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": ["string", "null"]}, "string"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "integer"),
        ({"oneOf": [{"type": "integer"}, {"type": "string"}]}, "integer|string"),
        ({"type": "array"}, "any[]"),
        ({"properties": {}}, "object"),
        ({}, "any"),
        (True, "any"),
        ("nonsense", "any"),
        ({"enum": list(range(20)), "type": "integer"}, "integer"),
    ],
)
def test_types(schema: Any, said: str) -> None:
    assert parameters({"properties": {"x": schema}}) == f"x?: {said}"


@pytest.mark.parametrize(
    ("schema", "said"),
    [({}, ""), ({"properties": []}, ""), ({"properties": {"a": {}}, "required": "a"}, "a?: any"), ({"required": ["gone"]}, "")],
)
def test_schemas_that_are_none_do_no_harm(schema: dict[str, Any], said: str) -> None:
    assert parameters(schema) == said


def test_a_sentence_that_is_too_long_is_cut_at_a_word() -> None:
    cut = first_sentence("word " * 100)
    assert len(cut) <= 141
    assert cut.endswith("word…")
    assert first_sentence("Версія 2.0 працює. Далі.") == "Версія 2.0 працює."
    assert first_sentence("") == ""
