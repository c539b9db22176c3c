"""E. Auto and the gateway: the graph."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from tests.catalogs import note, server, tool

import repertory
from repertory import access
from repertory.app import Repertory
from repertory.graph.draw import Format
from repertory.graph.follow import next_steps, related
from repertory.model import Edge, Entity, Filter, Kind, Link, Principal
from repertory.search.categories import categories
from repertory.search.walk import walk
from repertory.text.query import understand

EVERYTHING = access.everything_for(Principal())
ANYONE = access.narrow(Filter(), Principal.anyone())


@pytest_asyncio.fixture
async def words(tmp_path: Path) -> AsyncIterator[Repertory]:
    """An empty catalog without any model: what the graph answers, it answers alone."""
    async with repertory.open(tmp_path / "catalog", embedder="none") as opened:
        yield opened


def schemas(*, needs: tuple[str, ...] = (), gives: tuple[str, ...] = ()) -> dict[str, Any]:
    """The details of a tool that needs and gives these."""
    return {
        "input_schema": {"properties": {name: {} for name in (*needs, "limit")}, "required": list(needs)},
        "output_schema": {"properties": {name: {} for name in gives}},
    }


def shop() -> list[Entity]:
    return [
        server("shop", links=(Link("tool:shop/list_orders", "has_tool"),)),
        tool("shop/list_orders", details=schemas(gives=("order_id",)), links=(Link("server:shop", "part_of"),)),
        tool("shop/get_order", details=schemas(needs=("orderId",), gives=("status",)), links=(Link("server:shop", "part_of"),)),
        tool("shop/cancel_order", details=schemas(needs=("id",)), links=(Link("server:shop", "part_of"),)),
        Entity(Kind.SKILL, "refunds", "refunds", details={"allowed_tools": ["mcp__shop__cancel_order", "Bash(git:*)"]}),
        Entity(Kind.A2A_AGENT, "clerk", "Clerk", details={"skills": [{"name": "Order questions"}]}),
        note("handbook.md", "All about orders.", links=(Link("doc:missing.md", "links_to"), Link("skill:refunds", "links_to"))),
    ]


def found(rep: Repertory, text: str, seen: Filter = ANYONE, depth: int = 20) -> list[str]:
    """What the graph finds alone."""
    asked = understand(text, rep._sync.snapshot.short_names)
    return [entity_id for entity_id, _ in walk(asked.words, rep._store, seen, depth)]


# E02


async def test_E02_related_and_next_steps_stay_inside_the_window(examples: Repertory) -> None:
    limit = 2
    every = [entity.id for entity in (await examples.entries(limit=1000))[0]]
    parcels = [one for one in every if one.startswith("tool:parcel-tracking/") and not one.endswith("/schedulePickup")]
    window = [*parcels, *(one for one in every if one.startswith("tool:calendar/"))][: max(4 * limit, 8)]
    chosen = ["tool:parcel-tracking/trackParcel", "tool:parcel-tracking/listShipments"]
    edges = examples._store.edges_of(every, ANYONE)  # more than the window's: what lies outside must not come in by them
    for answer in (related(chosen, window, edges, 5), next_steps(chosen, window, edges, 5)):
        assert answer
        assert {one.entity_id for one in answer} <= set(window) - set(chosen)
        assert len({one.entity_id for one in answer}) == len(answer) <= 5
    assert any(one.entity_id.endswith("/schedulePickup") for one in next_steps(chosen, every, edges, 50))


# E03


async def test_E03_edges_come_from_what_is_known(words: Repertory) -> None:
    await words.put("shop", shop())
    known = set(words._store.all_edges(ANYONE, nodes=False, limit=100))
    assert known >= {
        Edge("server:shop", "has_tool", "tool:shop/list_orders"),
        Edge("tool:shop/list_orders", "part_of", "server:shop"),
        Edge("tool:shop/list_orders", "feeds", "tool:shop/get_order"),  # order_id is orderId
        Edge("tool:shop/list_orders", "feeds", "tool:shop/cancel_order"),  # the id of an order
        Edge("skill:refunds", "may_use", "tool:shop/cancel_order"),
        Edge("doc:handbook.md", "links_to", "skill:refunds"),
    }
    assert not any("missing" in end for edge in known for end in edge)
    shared = set(words._store.edges_of(["agent:clerk", "tool:shop/get_order"], ANYONE))
    assert shared >= {
        Edge("agent:clerk", "offers", "word:order"),
        Edge("tool:shop/get_order", "about", "word:order"),
        Edge("tool:shop/get_order", "on_server", "category:shop"),
    }


async def test_E03_the_skill_and_its_tool_are_neighbours(words: Repertory) -> None:
    await words.put("shop", shop())
    edge = Edge("skill:refunds", "may_use", "tool:shop/cancel_order")
    assert edge in await words.edges("skill:refunds")
    assert edge in await words.edges("tool:shop/cancel_order")
    assert all(":shop" in e.target or ":refunds" in e.target for e in await words.edges("skill:refunds"))  # no nodes


async def test_E03_the_graph_is_sparse_and_follows_the_index(words: Repertory) -> None:
    before = tool("shop/list_orders", details=schemas(gives=("order_id",)))
    other = tool("shop/get_order", details=schemas(needs=("order_id",)))
    await words.put("shop", [before, other])
    edge = Edge("tool:shop/list_orders", "feeds", "tool:shop/get_order")
    assert edge in words._store.all_edges(ANYONE, nodes=False, limit=100)
    assert len(words._store.edges_of([before.id], ANYONE)) <= 15

    await words.put("shop", [tool("shop/list_orders", details=schemas(gives=("basket_id",))), other])
    assert edge not in words._store.all_edges(ANYONE, nodes=False, limit=100)
    targets = {target for _, _, target in words._store.edges_of([before.id], ANYONE)}
    assert "value:basket_id" in targets
    assert "value:order_id" not in targets

    await words.put("shop", [other])
    assert words._store.edges_of([before.id], EVERYTHING) == []
    assert "list" not in words._store.node_words()
    assert found(words, "list") == []


async def test_E03_flow_comes_first_then_discover_inspect_act(words: Repertory) -> None:
    await words.put("shop", [*shop(), tool("shop/archive_order", links=(Link("server:shop", "part_of"),)), tool("mail/delete_folder")])
    window = [f"tool:shop/{name}_order" for name in ("archive", "cancel", "get")] + ["tool:mail/delete_folder"]
    edges = words._store.edges_of(["tool:shop/list_orders", *window], ANYONE)
    steps = next_steps(["tool:shop/list_orders"], window, edges, 4)
    assert [(step.entity_id.rpartition("/")[2], step.reason) for step in steps] == [
        ("cancel_order", "needs order_id"),
        ("get_order", "needs order_id"),
        ("archive_order", "act after discover"),
    ]


async def test_E03_a_markdown_ld_file_brings_edges_of_its_own(words: Repertory, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    stated = {"@graph": [{"@id": "tool:shop/get_order", "schema:isBasedOn": {"@id": "tool:shop/list_orders"}}, {"covers": {"@id": "b.md"}}]}
    (folder / "a.md").write_text(f"---\nrelated: [tool:shop/get_order]\n---\n# Graph\n\n```json-ld\n{json.dumps(stated)}\n```\n")
    (folder / "b.md").write_text("# Other\n")
    await words.put("shop", shop())
    assert (await words.add(folder)).problems == []
    brought = {
        Edge("tool:shop/get_order", "isBasedOn", "tool:shop/list_orders"),
        Edge("doc:notes/a.md", "covers", "doc:notes/b.md"),
        Edge("doc:notes/a.md", "links_to", "tool:shop/get_order"),
    }
    assert brought <= set(words._store.all_edges(ANYONE, nodes=False, limit=100))
    await words.put("shop", [*shop(), tool("shop/new")])  # the entries it speaks of change, and its edges stay
    assert brought <= set(await words.edges("tool:shop/get_order")) | set(await words.edges("doc:notes/a.md"))
    (folder / "a.md").write_text("# Graph\n")
    await words.add(folder)
    assert not brought & set(words._store.all_edges(ANYONE, nodes=False, limit=100))


@pytest.mark.parametrize(
    ("block", "line", "message"),
    [
        ('{"covers": {"@id": "b.md"},}', 4, "is not valid JSON"),
        ('{"covers": {"@id": "nowhere.md"}}', 3, "no such page"),
        ('{"covers": {"@id": 7}}', 3, "no text"),
        ("[1]", 3, "must hold objects"),
    ],
)
async def test_E03_a_malformed_markdown_ld_block_is_reported_by_line(
    words: Repertory, tmp_path: Path, block: str, line: int, message: str
) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text(f"# Graph\n\n```jsonld\n{block}\n```\n")
    report = await words.add(tmp_path / "notes")
    (problem,) = report.problems
    assert message in problem.message
    assert problem.line == line
    assert report.added == 1  # the file itself is not lost


async def test_E03_what_a_principal_may_not_see_is_nowhere_in_the_graph(words: Repertory, tmp_path: Path) -> None:
    finance = frozenset({"finance"})
    stated = {"statements": [["tool:shop/get_order", "leaks", "tool:shop/list_orders"]]}
    entries = [
        *shop(),
        tool("shop/secret_ledger", details=schemas(needs=("order_id",)), audience=finance),
        Entity(Kind.DOCUMENT, "private.md", "private", details=stated, audience=finance),
        note("public.md", "See there.", links=(Link("tool:shop/secret_ledger", "links_to"),)),
        Entity(Kind.SKILL, "audit", "audit", details={"allowed_tools": ["secret_ledger"]}),
    ]
    await words.put("shop", entries)
    anyone = Principal.anyone()
    for way in Format:
        for nodes in (False, True):
            drawn = await words.graph(format=way, nodes=nodes, principal=anyone)
            said = drawn.text.replace("name:secretledger", "")  # the skill that everybody sees says this word itself
            spelled = said.replace('"secretledger"', "")  # as the name of that node, in JSON
            assert not any(word in spelled for word in ("secret_ledger", "private", "leaks", "secretledger"))
            assert "secret_ledger" in (await words.graph(format=way, nodes=nodes)).text
    for public in ("skill:audit", "doc:public.md", "tool:shop/list_orders", "tool:shop/get_order"):
        assert not any("secret" in edge.origin + edge.target or edge.relation == "leaks" for edge in await words.edges(public, anyone))
    ids = [entity.id for entity in entries]
    assert not any("secret_ledger" in origin + target for origin, _, target in words._store.edges_of(ids, ANYONE))
    assert not any("private" in origin for origin, _, _ in words._store.edges_of(ids, ANYONE))
    for query in ("secret ledger", "secert ledgr", "secret_ledger"):
        assert not any("secret" in one for one in found(words, query))
        assert "tool:shop/secret_ledger" in found(words, query, EVERYTHING)
    with pytest.raises(repertory.errors.NotFound):
        await words.graph("tool:shop/secret_ledger", principal=anyone)


# E04


async def test_E04_the_graph_alone_finds_a_misspelt_tool(words: Repertory) -> None:
    others = [tool(f"misc/{verb}_{noun}") for verb in ("list", "create", "pack") for noun in ("ship", "truck", "invoice", "payment")]
    await words.put("shop", [*others, tool("post/track_shipment", "Where a parcel such as 1Z999AA10123456784 is.")])
    assert found(words, "trak shipmnt 1z999")[0] == "tool:post/track_shipment"
    assert found(words, "shipment tarck")[0] == "tool:post/track_shipment"  # a transposition is one error


async def test_E04_the_graph_finds_the_shipping_tools_of_the_examples(examples: Repertory) -> None:
    best = found(examples, "trak shipmnt 1z999", depth=10)
    assert best
    assert all("parcel-tracking" in one for one in best[:4])
    assert "tool:parcel-tracking/trackParcel" in best


@pytest.mark.parametrize(
    ("query", "matches"),
    [
        ("pya", False),  # three letters: too short to guess
        ("trcak", True),  # five letters, one transposition
        ("trakc", True),
        ("trkac", False),  # five letters, two errors
        ("shpmnt", True),  # six letters, two errors
        ("shipmentttt", False),  # three errors
        ("e0308", True),  # identifiers as they are
        ("e0309", False),  # and never a guess
    ],
)
async def test_E04_errors_are_forgiven_by_length(words: Repertory, query: str, matches: bool) -> None:
    await words.put("shop", [tool("a/track"), tool("a/shipment"), tool("a/pay"), tool("a/explain_E0308")])
    assert bool(found(words, query)) is matches


async def test_E04_expands_one_hop_and_ranks_stably(words: Repertory) -> None:
    await words.put("shop", shop())
    asked = understand("cancel order", frozenset()).words
    ranked = walk(asked, words._store, ANYONE, 20)
    assert ranked[0][0] == "tool:shop/cancel_order"
    scores = dict(ranked)
    assert scores["skill:refunds"] == pytest.approx(scores["tool:shop/cancel_order"] / 2)  # over an edge, by half
    assert ranked == sorted(ranked, key=lambda item: (-item[1], item[0]))
    assert ranked == walk(asked, words._store, ANYONE, 20)
    assert walk(asked, words._store, ANYONE, 2) == ranked[:2]


async def test_E04_respects_kinds_and_tags(words: Repertory) -> None:
    await words.put("shop", [tool("a/cancel_order", tags=("sales",)), tool("b/cancel_order"), note("cancel_order", "Text.")])
    assert found(words, "cancel", Filter(tags=frozenset({"sales"}))) == ["tool:a/cancel_order"]
    assert found(words, "cancel", Filter(kinds=frozenset({Kind.DOCUMENT}))) == ["doc:cancel_order"]


# E11


async def test_E11_the_best_categories_with_their_best_tools(words: Repertory) -> None:
    entries = [tool(f"desk/{name}", metadata={"category": "Office Work"}) for name in ("write", "print", "file", "fold")] + [
        tool("calendar/book"),
        note("n", "Text."),
    ]
    await words.put("all", entries)
    ranked = [("doc:n", 9.0), ("tool:calendar/book", 2.5), *((f"tool:desk/{name}", 1.0) for name in ("write", "print", "file", "fold"))]
    best = categories(ranked, words._store.edges_of([one for one, _ in ranked], ANYONE), tools=2)
    assert [(category.name, category.score, category.tools) for category in best] == [
        ("office-work", 3.0, ("tool:desk/write", "tool:desk/print")),  # its best three count, not all four
        ("calendar", 2.5, ("tool:calendar/book",)),
    ]
