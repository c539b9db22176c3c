"""Does anything, anywhere, tell of what a caller may not see? (A18)

Every entry and every offer of a server has a word of its own. Whatever a caller is told, no word of what is hidden from them is in it; and
what they may see is all there, by a truth that is worked out here from the rule's own words.
"""

from __future__ import annotations

import asyncio
import json
import random
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import repertory
from repertory import access
from repertory.app import Repertory
from repertory.errors import NotFound
from repertory.graph.draw import Format
from repertory.model import Edge, Entity, Filter, Kind, Link, Preset, Principal, SearchRequest, Status, Strategy

COMMON = "parcel"  # what every entry is about
ANY = Filter(statuses=frozenset(Status), include_disabled=True)
REASONS = {"not visible to you", "of another kind", "disabled", "deprecated", "draft", "withheld"}


def _words(count: int) -> list[str]:
    """Made-up words, far from each other."""
    letters = random.Random(7)
    return ["".join(letters.choice("bdfgklmnprstvz") + letters.choice("aeiou") for _ in range(5)) for _ in range(count)]


WORDS = _words(60)
SERVERS = ("depot", "harbor")
AUDIENCES = st.frozensets(st.sampled_from(["public", "hr", "ops|eu", "user:ann"]), min_size=1, max_size=2)
SCOPES = st.frozensets(st.sampled_from(["read", "write|all"]), max_size=2)
KINDS = st.sampled_from([Kind.TOOL, Kind.TOOL, Kind.SKILL, Kind.A2A_AGENT, Kind.DOCUMENT, Kind.MCP_SERVER, Kind.VIRTUAL_SERVER])
PRINCIPALS = st.one_of(
    st.just(Principal.anyone()),
    st.just(Principal.known("root", (), ["admin"])),
    st.builds(Principal.known, st.sampled_from(["ann", "bob"]), st.frozensets(st.sampled_from(["hr", "ops|eu"])), SCOPES),
)
LEXICAL = [Strategy.REGEX, Strategy.KEYWORD, Strategy.BM25, Strategy.GRAPH, Strategy.HYBRID, Strategy.AUTO]


@dataclass(frozen=True)
class Drawn:
    """What hypothesis chooses of one entry."""

    kind: Kind
    audience: frozenset[str]
    scopes: frozenset[str]
    status: Status
    enabled: bool
    tags: tuple[str, ...]
    server: str
    offers: tuple[tuple[int, frozenset[str]], ...]  # of a virtual server: which entry, and which scopes it asks for itself
    links: tuple[int, ...]


ENTRIES = st.lists(
    st.builds(
        Drawn,
        kind=KINDS,
        audience=AUDIENCES,
        scopes=SCOPES,
        status=st.sampled_from(Status),
        enabled=st.booleans(),
        tags=st.lists(st.sampled_from(["red", "blue"]), unique=True).map(tuple),
        server=st.sampled_from(SERVERS),
        offers=st.lists(st.tuples(st.integers(0, 11), SCOPES), max_size=3, unique_by=lambda offer: offer[0]).map(tuple),
        links=st.lists(st.integers(0, 11), max_size=2).map(tuple),
    ),
    min_size=1,
    max_size=12,
)


def catalog(drawn: list[Drawn]) -> list[Entity]:
    """The entries: each with a word of its own in its path, its name and its description."""
    paths = [f"{one.server}/{COMMON}_{WORDS[n]}" if one.kind is Kind.TOOL else f"{COMMON}_{WORDS[n]}" for n, one in enumerate(drawn)]
    ids = [f"{one.kind.prefix}:{path}" for one, path in zip(drawn, paths, strict=True)]
    tools = [n for n, one in enumerate(drawn) if one.kind is Kind.TOOL]
    entities = []
    for n, one in enumerate(drawn):
        details: dict[str, Any] = {}
        links = [Link(ids[to], "related") for to in one.links if to < len(drawn) and to != n]
        if one.kind is Kind.TOOL:
            details = {"server": one.server}
        elif one.kind is Kind.VIRTUAL_SERVER:
            chosen = [(tools[to % len(tools)], scopes) for to, scopes in one.offers] if tools else []
            details = {"tools": [_offer(n, to, paths[to], scopes) for to, scopes in dict(chosen).items()]}
            links += [Link(ids[to], "composes") for to in dict(chosen)]
        elif one.kind is Kind.DOCUMENT:
            details = {"sections": [{"path": [COMMON], "text": f"{COMMON} {WORDS[n]}"}]}
            if len(one.links) == 2 and max(one.links) < len(drawn):
                details["statements"] = [[ids[one.links[0]], "mentions", ids[one.links[1]]]]
        entities.append(
            Entity(
                one.kind,
                paths[n],
                paths[n].rpartition("/")[2],
                f"{COMMON} {WORDS[n]}",
                tags=one.tags,
                details=details,
                status=one.status,
                enabled=one.enabled,
                audience=one.audience,
                scopes=one.scopes,
                links=tuple(dict.fromkeys(links)),
                provenance=f"/secret/{WORDS[n]}",
            )
        )
    return entities


def _offer(server: int, tool: int, path: str, scopes: frozenset[str]) -> dict[str, Any]:
    own = WORDS[12 + (server * 12 + tool) % 48]
    return {"name": f"do_{own}", "description": f"{COMMON} {own}", "from": path, "scopes": sorted(scopes)}


# The truth, from the rule's own words


def sees(principal: Principal, entity: Entity) -> bool:
    if principal.groups is None or "admin" in principal.scopes:
        return True
    return bool(principal.groups & entity.audience) and entity.scopes <= principal.scopes


def hidden_words(principal: Principal, entities: list[Entity]) -> set[str]:
    """The words of entries that a principal does not see, and of offers that it must not be told of, unless something that it sees says
    them, too."""
    seen: set[str] = set()
    unseen: set[str] = set()
    by_path = {entity.path: entity for entity in entities if entity.kind is Kind.TOOL}
    for n, entity in enumerate(entities):
        (seen if sees(principal, entity) else unseen).add(WORDS[n])
        for offer in entity.details.get("tools", ()):
            tool = by_path[offer["from"]]
            told = sees(principal, entity) and sees(principal, tool) and (principal.is_admin or set(offer["scopes"]) <= principal.scopes)
            (seen if told else unseen).add(offer["name"].removeprefix("do_"))
    return unseen - seen


def findable(principal: Principal, entities: list[Entity], request: SearchRequest) -> set[str]:
    allowed = {Status.ACTIVE, Status.BETA}
    allowed |= {Status.DEPRECATED} if request.include_deprecated else set()
    allowed |= {Status.DRAFT} if request.include_draft else set()
    return {
        entity.id
        for entity in entities
        if sees(principal, entity)
        and (entity.status in allowed or entity.kind is Kind.VIRTUAL_SERVER)
        and (entity.enabled or request.include_disabled)
        and request.tags <= set(entity.tags)
        and (request.kinds is None or entity.kind in request.kinds)
    }


def silent(told: Any, hidden: set[str]) -> None:
    """Nothing that was told holds a hidden word."""
    text = told if isinstance(told, str) else json.dumps(told, default=str)
    assert not [word for word in hidden if word in text.lower()]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ENTRIES, st.lists(PRINCIPALS, min_size=1, max_size=3), st.booleans(), st.frozensets(st.sampled_from(["red", "blue"]), max_size=1))
def test_A18_nobody_is_told_of_what_they_may_not_see(
    drawn: list[Drawn], principals: list[Principal], everything: bool, tags: frozenset[str]
) -> None:
    entities = catalog(drawn)
    request = SearchRequest(
        COMMON,
        min_confidence=0.0,
        limit=50,
        tags=tags,
        include_deprecated=everything,
        include_draft=everything,
        include_disabled=everything,
    )

    async def check(directory: str) -> None:
        async with repertory.open(directory, embedder="none") as rep:
            middle = len(entities) // 2  # two sources, in two writes: what a server offers may come before the server, or after it
            await rep.put("one", entities[:middle])
            await rep.put("two", entities[middle:])
            assert await rep.check() == []
            for principal in [*principals, Principal()]:
                await _searched(rep, principal, entities, request)
                await _listed(rep, principal, entities)
                await _drawn(rep, principal, entities)

    with tempfile.TemporaryDirectory() as directory:
        asyncio.run(check(directory))


async def _searched(rep: Repertory, principal: Principal, entities: list[Entity], request: SearchRequest) -> None:
    hidden, wanted = hidden_words(principal, entities), findable(principal, entities, request)
    ids = {entity.id for entity in entities if sees(principal, entity)}
    for strategy in LEXICAL:
        answer = await rep.search(replace(request, strategy=strategy, explain=True), principal)
        assert {result.entity.id for result in answer.results} == wanted, strategy
        assert {tool.entity.id for tool in answer.tools} <= ids
        assert {one.entity.id for one in (*answer.related, *answer.next_steps)} <= ids
        assert set(answer.withheld or {}) <= REASONS
        silent(answer.as_json(explain=True), hidden)
        silent([access.shown(result.entity, principal) for result in answer.results], hidden)
        silent(repr(answer), hidden)
        few = await rep.search(replace(request, strategy=strategy, limit=2), principal)
        assert len(few.results) == min(2, len(wanted)), "hidden entries take nobody's place"
    for word in [*sorted(hidden)[:2], *(f"{word[:4]}{word[5]}{word[4]}{word[6:]}" for word in sorted(hidden)[:2])]:  # two letters swapped
        for asked in (SearchRequest(word, min_confidence=0.0, explain=True), SearchRequest(word, strategy=Strategy.GRAPH)):
            answer = await rep.search(asked, principal)
            silent(answer.as_json(explain=True), hidden - {word})
            assert not [result for result in answer.results if result.entity.id not in ids]
            assert not {tool.name for result in answer.results for tool in result.matching_tools} & {f"do_{word}"}
            assert word not in set((answer.corrected or {}).values())


async def _listed(rep: Repertory, principal: Principal, entities: list[Entity]) -> None:
    hidden, seen = hidden_words(principal, entities), [entity for entity in entities if sees(principal, entity)]
    listed, total = await rep.entries(ANY, principal, limit=1000)
    assert {entity.id for entity in listed} == {entity.id for entity in seen}
    assert total == len(seen)
    silent([access.shown(entity, principal) for entity in listed], hidden)
    silent(repr(listed), hidden)
    browsed = await rep.search(SearchRequest(limit=50, include_deprecated=True, include_draft=True, include_disabled=True), principal)
    assert {result.entity.id for result in browsed.results} == {entity.id for entity in seen}
    assert await rep.tags(ANY, principal) == Counter(tag for entity in seen for tag in entity.tags)
    silent(rep.status(), set(WORDS))
    by_path = {entity.path: entity for entity in entities if entity.kind is Kind.TOOL}
    for entity in entities:
        if not sees(principal, entity):
            for reference in (entity.id, entity.path, entity.name):
                with pytest.raises(NotFound):
                    await rep.show(reference, principal)
            continue
        shown = await rep.show(entity.id, principal)
        if principal.is_admin:
            assert (shown.audience, shown.scopes, shown.links, shown.provenance) == (
                entity.audience,
                entity.scopes,
                entity.links,
                entity.provenance,
            )
        for offer in entity.details.get("tools", ()):
            tool = by_path[offer["from"]]
            may = sees(principal, tool) and (principal.is_admin or set(offer["scopes"]) <= principal.scopes)
            told = offer["name"] in {one["name"] for one in shown.details["tools"]}
            assert told <= may
            if principal.is_admin or "public" in entity.audience | tool.audience or tool.audience == entity.audience:
                assert told == may  # otherwise it may be kept back: see model/offer


async def _drawn(rep: Repertory, principal: Principal, entities: list[Entity]) -> None:
    hidden = hidden_words(principal, entities)
    seen = {entity.id: entity for entity in entities if sees(principal, entity)}
    expected = {
        Edge(entity.id, link.relation, link.target)
        for entity in seen.values()
        for link in entity.links
        if link.target in seen and link.relation == "related"
    }
    expected |= {
        Edge(*stated) for one in seen.values() for stated in one.details.get("statements", ()) if {stated[0], stated[2]} <= set(seen)
    }
    expected = {edge for edge in expected if edge.origin != edge.target}
    found = {edge for entity_id in seen for edge in await rep.edges(entity_id, principal)}
    assert {edge for edge in found if edge.relation in ("related", "mentions")} == expected
    assert {end for edge in found for end in (edge.origin, edge.target)} <= set(seen)
    asked = {(one.id, f"tool:{offer['from']}"): set(offer["scopes"]) for one in seen.values() for offer in one.details.get("tools", ())}
    for origin, relation, target in found:
        assert relation != "composes" or principal.is_admin or asked[origin, target] <= principal.scopes
    for entity in entities:
        if entity.id not in seen:
            assert await rep.edges(entity.id, principal) == []
    for nodes in (False, True):
        for one in Format:
            silent((await rep.graph(None, one, nodes=nodes, principal=principal)).text, hidden)
        for entity_id in list(seen)[:3]:
            silent((await rep.graph(entity_id, Format.JSONLD, nodes=nodes, principal=principal)).text, hidden)
    silent([asdict(category) for category in await rep.categories(COMMON, principal)], hidden)


async def test_A18_corrections_and_concepts_are_words_that_the_caller_may_know(tmp_path: Path) -> None:
    """A dictionary word may be meant by anybody; that the catalog has it may not be told."""
    hidden = ("navy", "zarbolex submarine")
    async with repertory.open(tmp_path / "concepts", expansion=True) as rep:
        secret = [Entity(Kind.SKILL, f"s{n}", hidden[1], f"{hidden[1]} launch", audience=frozenset({hidden[0]})) for n in range(4)]
        known = [Entity(Kind.SKILL, f"k{n}", "fishing boat", "fishing boat trips at sea") for n in range(4)]
        await rep.put("skills", [*secret, *known])
        navy = Principal.known("nemo", ["navy"])
        assert (await rep.search("zarbloex", navy)).corrected == {"zarbloex": "zarbolex"}
        assert "submarine" in (await rep.search(_explained("warship under water", Preset.NOTES), navy)).concepts
        for query in ("zarbloex", "warship under water", "submarine", "zarbolex", "submarine boat"):
            for preset in (None, Preset.NOTES):
                answer = await rep.search(_explained(query, preset), Principal.anyone())
                assert "zarbolex" not in json.dumps(answer.as_json(explain=True))
                assert "submarine" not in answer.concepts
                assert {result.entity.path[0] for result in answer.results} <= {"k"}
                assert answer.known is None, "how far the catalog knows a word says whether something hidden has it"


def _explained(query: str, preset: Preset | None) -> SearchRequest:
    return SearchRequest(query, preset=preset, explain=True, min_confidence=0.0)


async def test_E09_answers_are_kept_by_what_a_caller_may_see(rep: Repertory) -> None:
    hidden = Entity(Kind.SKILL, "pay", "pay", "Pays wages", audience=frozenset({"hr"}), scopes=frozenset({"read"}))
    await rep.put("skills", [hidden, Entity(Kind.SKILL, "bill", "bill", "Pays a bill")])
    request = SearchRequest("pays", strategy=Strategy.BM25)
    callers = [
        (Principal("ann", frozenset({"public"})), 1),
        (Principal("ann", frozenset({"public", "hr"})), 1),
        (Principal("ann", frozenset({"public", "hr"}), frozenset({"read"})), 2),
        (Principal("ann", frozenset({"public"}), frozenset({"admin"})), 2),
        (Principal("ann", None), 2),
    ]
    for again in (False, True):
        for caller, count in callers:
            answer = await rep.search(request, caller)
            assert (len(answer.results), answer.cached) == (count, again)
