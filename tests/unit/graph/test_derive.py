"""Which edges does one entity have?"""

from __future__ import annotations

from typing import Any

import pytest
from tests.catalogs import note, server, tool

from repertory.graph.derive import MAX_WORDS, derive, is_node, statements, value_name
from repertory.graph.names import Step, noun_of, step_of
from repertory.model import Edge, Entity, Kind


def targets(entity: Entity, relation: str) -> list[str]:
    return [target.partition(":")[2] for target, found in derive(entity) if found == relation]


def test_a_word_has_its_strongest_relation_only() -> None:
    entity = tool("parcels/trackParcel", "Describes a destination.", tags=("tracking", "carriers", "2024"), details={"title": "Track it"})
    assert targets(entity, "about") == ["track", "parcel"]
    assert targets(entity, "tagged") == ["carrier"]  # "tracking" is there already, a year says nothing, descriptions are not read
    assert all(is_node(target) for target, _ in derive(entity))


def test_servers_and_agents_offer_and_notes_mention() -> None:
    assert targets(server("desk", details={"tools": [{"name": "fold_paper"}]}), "offers") == ["fold", "paper"]
    assert targets(Entity(Kind.A2A_AGENT, "a", "A", details={"skills": [{"name": "Plan routes"}]}), "offers") == ["plan", "rout"]
    assert "part" in targets(note("handbook", "Text.", "More."), "mentions")


def test_an_entity_has_few_edges() -> None:
    entity = server("big", details={"tools": [{"name": f"{chr(97 + n // 26)}{chr(97 + n % 26)}x_tool"} for n in range(500)]})
    assert len(targets(entity, "about") + targets(entity, "offers")) == MAX_WORDS


@pytest.mark.parametrize(
    ("entity", "categories"),
    [
        (tool("s/t", tags=("a",), metadata={"category": "Office Work"}), ["office-work"]),
        (tool("s/t", tags=("a",), metadata={"domain": ["x", "y"]}), ["x", "y"]),
        (tool("Mail/t", tags=("a",)), ["mail"]),
        (server("Mail", tags=("a",)), ["mail"]),
        (tool("t", tags=("a", "b", "c", "d")), ["a", "b", "c"]),
        (tool("t", metadata={"category": 7}), []),
    ],
)
def test_categories_are_declared_or_the_server_or_the_first_tags(entity: Entity, categories: list[str]) -> None:
    assert targets(entity, "in_category") + targets(entity, "on_server") == categories


@pytest.mark.parametrize(
    ("name", "about", "value"),
    [
        ("orderId", "parcel", "order_id"),
        ("order-ids", "parcel", "order_id"),
        ("id", "order", "order_id"),
        ("id", "", ""),
        ("query", "order", ""),
        ("address", "customer", "customer_address"),
        ("categories", "x", "category"),
        ("status", "order", ""),
    ],
)
def test_values_are_named_alike_however_they_are_written(name: str, about: str, value: str) -> None:
    assert value_name(name, about) == value


def test_what_lies_in_a_list_is_about_its_items() -> None:
    inner = {"type": "array", "items": {"properties": {"id": {}, "total_price": {}}}}
    entity = tool("s/search", details={"output_schema": {"properties": {"orders": inner, "results": inner}}})
    assert targets(entity, "produces") == ["order", "order_id", "total_price"]


def test_what_a_tool_needs_it_does_not_give() -> None:
    entity = tool(
        "s/get_order", details={"input_schema": {"required": ["id"]}, "output_schema": {"properties": {"order_id": {}, "sku": {}}}}
    )
    assert targets(entity, "needs") == ["order_id"]
    assert targets(entity, "produces") == ["sku"]


@pytest.mark.parametrize("schema", [None, [], "x", {"properties": []}, {"required": "id"}, {"required": [1, None]}, {"items": [{}]}])
def test_odd_schemas_give_nothing(schema: Any) -> None:
    entity = tool("s/search", details={"input_schema": schema, "output_schema": schema})
    assert targets(entity, "needs") == targets(entity, "produces") == []


def test_a_tool_and_a_skill_meet_in_a_spelling() -> None:
    entity = tool("git-hub/create_issue")
    allowed = ["mcp__git-hub__create_issue", "createIssue", "Bash(git add:*)", "mcp__git-hub__*"]
    skill = Entity(Kind.SKILL, "s", "s", details={"allowed_tools": allowed})
    assert targets(entity, "named") == ["createissue", "githubcreateissue"]
    assert targets(skill, "may_use") == ["githubcreateissue", "createissue", "bash", "github"]
    assert targets(server("GitHub"), "named") == ["github"]


def test_statements_that_are_malformed_are_left_out() -> None:
    stated = [["a", "b", "c"], ["a", "b"], "abc", ["x", "y", "x"], ["a", "b", "c"]]
    assert statements(Entity(Kind.DOCUMENT, "d", "d", details={"statements": stated})) == (Edge("a", "b", "c"),)


@pytest.mark.parametrize(
    ("name", "step", "noun"),
    [
        ("list_orders", Step.DISCOVER, "order"),
        ("getOrder", Step.INSPECT, "order"),
        ("github_create_pull_requests", Step.ACT, "pull_request"),
        ("order_list", Step.DISCOVER, "order"),
        ("book_room", Step.ACT, "room"),
        ("weather", None, "weather"),
        ("report_list", Step.DISCOVER, "report"),
    ],
)
def test_the_verb_of_a_name_is_its_step(name: str, step: Step | None, noun: str) -> None:
    assert step_of(name) is step
    assert noun_of(name) == noun
