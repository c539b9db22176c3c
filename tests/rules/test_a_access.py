"""Rule A18: a principal's groups and scopes decide what it can find, list, read and call, in one place."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.catalogs import ids, server, tool

from repertory import access
from repertory.app import Repertory
from repertory.errors import NotFound
from repertory.model import Bucket, Entity, Filter, Kind, Principal, SearchRequest, Status, Strategy
from repertory.store import Changes, Event

ANYONE = Principal.anyone()
ANN = Principal.known("ann", ["hr"], ["calendar.read"])
ADMIN = Principal.known("root", (), ["admin"])


def test_A18_groups_of_a_principal() -> None:
    assert ANN.groups == frozenset({"hr", "public", "user:ann"})
    assert Principal.known("eve", ["user:ann", "hr"]).groups == frozenset({"hr", "public", "user:eve"}), (
        "nobody is put into another's own group"
    )
    assert [p.is_admin for p in (Principal(), ADMIN, ANN, ANYONE)] == [True, True, False, False]
    assert [p.is_owner for p in (Principal(), ADMIN)] == [True, False]


def test_A18_a_bucket_without_scopes_has_the_key_it_always_had() -> None:
    plain = Bucket(Kind.TOOL, Status.ACTIVE, True, frozenset({"public"}))
    assert plain.key == "tool|active|on|public"
    scoped = plain._replace(scopes=frozenset({"a|b", "50%,x"}))
    assert scoped.key == "tool|active|on|public|50%25%2Cx,a%7Cb"
    assert [Bucket.from_key(one.key) for one in (plain, scoped)] == [plain, scoped]


@pytest.mark.parametrize("strategy", list(Strategy))
async def test_A18_every_scope_is_needed(rep: Repertory, strategy: Strategy) -> None:
    entries = [
        tool("one/pay", "Pays wages", scopes=frozenset({"calendar.read"})),
        tool("both/pay", "Pays wages", scopes=frozenset({"calendar.read", "calendar.write"})),
        tool("hr/pay", "Pays wages", audience=frozenset({"hr"}), scopes=frozenset({"calendar.read"})),
        tool("mine/pay", "Pays wages", audience=frozenset({"user:ann"})),
    ]
    await rep.put("entries", entries)
    request = SearchRequest("pay", strategy=strategy)
    assert ids(await rep.search(request, ANYONE)) == []
    assert set(ids(await rep.search(request, ANN))) == {"tool:one/pay", "tool:hr/pay", "tool:mine/pay"}
    assert set(ids(await rep.search(request, ADMIN))) == {entity.id for entity in entries}


VIRTUAL = """
virtual_server:
  name: harbor-desk
  tools:
    - {from: cal/list_events, alias: upcoming_arrivals, description: Ships that are due, scopes: [calendar.read]}
    - {from: pay/transfer, description: Moves money}
    - {from: mail/send, description: Writes a letter}
"""


@pytest.mark.parametrize("strategy", [strategy for strategy in Strategy if strategy is not Strategy.EMBEDDING])
async def test_A18_a_virtual_server_tells_of_a_tool_only_to_who_may_see_it(rep: Repertory, tmp_path: Path, strategy: Strategy) -> None:
    (tmp_path / "desk.yaml").write_text(VIRTUAL)
    await rep.add(tmp_path / "desk.yaml")
    # The tool comes after the virtual server, and is narrower: what is offered follows it.
    await rep.put("tools", [tool("pay/transfer", "Moves money", audience=frozenset({"bank"})), tool("mail/send"), tool("cal/list_events")])
    virtual = frozenset({Kind.VIRTUAL_SERVER})

    async def found(query: str, principal: Principal) -> list[str]:
        response = await rep.search(SearchRequest(query, strategy=strategy, kinds=virtual, min_confidence=0.0), principal)
        return [tool.name for result in response.results for tool in result.matching_tools]

    bank = Principal.known("bo", ["bank"])
    assert await found("arrivals", ANYONE) == await found("transfer", ANYONE) == await found("transfer", ANN) == []
    assert await found("send", ANYONE) == ["send"]
    if strategy is not Strategy.GRAPH:  # nodes have no audience: what not everybody sees makes none
        assert await found("arrivals", ANN) == ["upcoming_arrivals"]
        assert await found("transfer", bank) == ["transfer"]
    for principal, names in ((ANYONE, ["send"]), (ANN, ["upcoming_arrivals", "send"]), (bank, ["transfer", "send"])):
        entity = await rep.show("virtual:harbor-desk", principal)
        assert [offer["name"] for offer in entity.details["tools"]] == names
        assert not [offer for offer in entity.details["tools"] if {"scopes", "access", "audience"} & offer.keys()]
        assert entity.links == ()
    edges = await rep.edges("virtual:harbor-desk", ANYONE)
    assert [edge.target for edge in edges] == ["tool:mail/send"]


async def test_A18_a_tool_that_is_narrowed_is_told_of_by_no_server_any_more(rep: Repertory) -> None:
    box = server("box", details={"tools": [{"name": "lamp", "description": "Lights"}, {"name": "bell"}]})
    await rep.put("servers", [box])
    await rep.put("tools", [tool("box/lamp", "Lights"), tool("box/bell")])

    async def lamps(principal: Principal) -> set[str]:
        return set(ids(await rep.search(SearchRequest("lamp", strategy=Strategy.BM25), principal)))

    assert await lamps(ANYONE) == {"tool:box/lamp", "server:box"}
    await rep.put("tools", [tool("box/lamp", "Lights", audience=frozenset({"hr"})), tool("box/bell")])
    assert await lamps(ANYONE) == set()
    assert await lamps(ANN) == {"tool:box/lamp", "server:box"}
    (shown,) = (await rep.entries(Filter(kinds=frozenset({Kind.MCP_SERVER})), ANYONE))[0]
    assert [offer["name"] for offer in shown.details["tools"]] == ["bell"]
    assert [record.name for record in await rep.sources() if record.entries == 1] == ["servers"], "the server stays with its source"
    await rep.put("tools", [tool("box/lamp", "Lights"), tool("box/bell")])
    assert await lamps(ANYONE) == {"tool:box/lamp", "server:box"}
    assert await rep.check() == []


async def test_A18_what_is_shown_is_stripped_for_all_but_administrators(rep: Repertory) -> None:
    entity = replace(tool("box/lamp", "Lights", provenance="/home/me/secret.json"), audience=frozenset({"hr", "public"}))
    await rep.put("tools", [entity])
    told = access.shown(await rep.show("box/lamp", ADMIN), ADMIN)
    assert (told["audience"], told["scopes"], told["provenance"]) == (["hr", "public"], [], "/home/me/secret.json")
    assert not {"audience", "scopes", "provenance", "links"} & access.shown(entity, ANN).keys()
    (result,) = (await rep.search("lamp", ANN)).results
    assert "secret" not in repr(result)
    assert "'hr'" not in repr(result)


async def test_A18_an_entry_that_cannot_be_seen_is_no_entry(rep: Repertory) -> None:
    await rep.put("tools", [tool("box/lamp", scopes=frozenset({"x"}))])
    with pytest.raises(NotFound):
        await rep.show("tool:box/lamp", ANN)
    assert (await rep.show("tool:box/lamp", ADMIN)).scopes == {"x"}


async def test_A18_a_change_and_its_audit_are_one(rep: Repertory) -> None:
    changes = Changes("x", "x", put_entities=[(Entity(Kind.SKILL, "s", "s"), "d")])
    changes.events.append(Event("ann", "entry.create", "skill:s", {"status": "active"}))
    rep._store.write(changes)
    rep._store.record("bo", "key.create", "k1")
    newest, first = rep._store.events(limit=10)
    assert (newest.who, newest.action, newest.target) == ("bo", "key.create", "k1")
    assert first.as_json()["detail"] == {"status": "active"}
    assert [one.who for one in rep._store.events(limit=10, before=newest.id)] == ["ann"]
    assert [one.who for one in rep._store.events(limit=10, who="bo")] == ["bo"]
    assert rep._store.events(limit=10, target="nothing") == []
