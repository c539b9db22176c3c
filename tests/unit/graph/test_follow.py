"""What is near the chosen entries, and what comes next?"""

from __future__ import annotations

import random

from tests.catalogs import tool

from repertory.graph.derive import derive
from repertory.graph.follow import LINKED, next_steps, related
from repertory.model import Edge, Entity


def edges(*entities: Entity) -> list[Edge]:
    return [Edge(entity.id, link.relation, link.target) for entity in entities for link in (*entity.links, *derive(entity))]


def test_a_declared_link_is_nearer_than_a_category_and_that_than_a_word() -> None:
    known = [
        Edge("tool:a", "in_category", "category:desk"),
        Edge("tool:b", "about", "word:paper"),
        Edge("tool:c", "in_category", "category:desk"),
        Edge("tool:a", "about", "word:paper"),
        Edge("doc:d", "links_to", "tool:a"),
    ]
    found = related(["tool:a"], ["tool:b", "tool:c", "doc:d", "tool:x"], known, 10)
    assert [(one.entity_id, one.reason) for one in found] == [
        ("doc:d", "links to a"),
        ("tool:c", "same category desk"),
        ("tool:b", 'both about "paper"'),
    ]
    assert found[0].weight == LINKED


def test_what_nearly_everything_shares_says_little() -> None:
    window = [f"tool:t{number}" for number in range(16)]
    common = [Edge(one, "in_category", "category:all") for one in ("tool:a", *window)]
    rare = [Edge(one, "in_category", "category:few") for one in ("tool:a", window[9])]
    found = related(["tool:a"], window, common + rare, 3)
    assert [one.entity_id for one in found] == ["tool:t9", "tool:t0", "tool:t1"]
    assert found[0].weight > 2 * found[1].weight


def test_what_gives_a_needed_value_is_related_and_what_needs_a_given_one_is_next() -> None:
    known = [Edge("tool:s/list", "produces", "value:order_id"), Edge("tool:s/show", "needs", "value:order_id")]
    assert [one.reason for one in related(["tool:s/show"], ["tool:s/list"], known, 3)] == ["gives order_id"]
    assert [one.reason for one in next_steps(["tool:s/list"], ["tool:s/show"], known, 3)] == ["needs order_id"]
    assert next_steps(["tool:s/show"], ["tool:s/list"], known, 3) == []


def test_steps_go_forward_on_the_same_things_only() -> None:
    tools = [tool(f"shop/{name}") for name in ("list_orders", "get_order", "cancel_order", "get_weather")]
    other = [tool("mail/send_letter"), tool("mail/list_letters"), tool("zoo/get_animal")]
    known = edges(*tools, *other)
    ids = [entity.id for entity in (*tools, *other)]
    from_list = next_steps([ids[0]], ids[1:], known, 10)
    assert [(one.entity_id, one.reason) for one in from_list] == [
        ("tool:shop/get_order", "inspect after discover"),
        ("tool:shop/get_weather", "inspect after discover"),
        ("tool:shop/cancel_order", "act after discover"),
    ]
    assert [one.entity_id for one in next_steps([ids[1]], ids, known, 10)] == ["tool:shop/cancel_order"]
    assert next_steps([ids[2]], ids, known, 10) == []


def test_the_order_of_the_edges_does_not_matter() -> None:
    tools = [tool(f"{server}/{verb}_{noun}") for server in "abc" for verb in ("list", "get", "send") for noun in ("order", "letter")]
    known, ids = edges(*tools), [entity.id for entity in tools]
    first = related(ids[:3], ids, known, 10), next_steps(ids[:3], ids, known, 10)
    for seed in range(5):
        random.Random(seed).shuffle(known)
        assert (related(ids[:3], ids, known, 10), next_steps(ids[:3], ids, known, 10)) == first


def test_nothing_is_near_nothing() -> None:
    assert related([], ["tool:a"], [], 5) == next_steps(["tool:a"], [], [], 5) == related(["tool:a"], ["tool:b"], [], 0) == []
