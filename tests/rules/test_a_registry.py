"""A. The registry: servers, agents, skills, virtual servers."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.catalogs import ask, ids, note, server, tool

import repertory
from repertory.app import Repertory
from repertory.indexes.base import BM25, KEYWORD, VECTOR
from repertory.ingest.project import project
from repertory.model import (
    PUBLIC,
    Bucket,
    Candidate,
    Entity,
    Evidence,
    Filter,
    Fusion,
    Hit,
    Kind,
    Link,
    Preset,
    Principal,
    Ranking,
    SearchRequest,
    Status,
    Strategy,
)
from repertory.search import lanes
from repertory.search.distribute import distribute
from repertory.search.fuse import fuse
from repertory.search.lanes import Found
from repertory.search.offers import tool_score
from repertory.search.plan import plan
from repertory.search.rank import rank
from repertory.search.reading import Reading
from repertory.search.rescale import rescale
from repertory.settings import load as load_settings
from repertory.store import Changes, Reference
from repertory.text.flatten import flatten
from repertory.text.query import understand
from repertory.text.tokens import STOPWORDS, query_words


def test_A01_query_tokens() -> None:
    assert query_words("Find the Café's dashboard, filter by user and page") == ["find", "cafe", "dashboard", "filter", "user", "page"]
    assert query_words("to be or at ax") == []
    assert query_words("ax on S3", {"s3", "ax"}) == ["ax", "s3"]
    for identifier in ("webSearch", "web_search", "web-search", "web.search"):
        assert {"web", "search", identifier.lower()} <= set(query_words(identifier))
    assert query_words("пошук документів") == ["пошук", "документів"]
    assert {"東京", "天気"} <= set(query_words("東京の天気"))
    assert not STOPWORDS & {"dashboard", "filter", "user", "page", "list", "get", "search", "file"}


@pytest.mark.parametrize("name", ["S3", "AI", "Go", "C++", "Node.js"])
async def test_A01_short_names_are_found(rep: Repertory, name: str) -> None:
    texts = {"S3": "Copies to S3", "AI": "Trains AI models", "Go": "Builds Go programs", "C++": "Compiles C++", "Node.js": "Runs Node.js"}
    await rep.put("tools", [tool(f"box/tool-{n}", text) for n, text in enumerate([*texts.values(), "Goes to it as it is, in a row"])])
    for strategy in (Strategy.BM25, Strategy.KEYWORD, Strategy.HYBRID):
        assert (await ask(rep, name, strategy=strategy)).results[0].entity.description == texts[name]


def test_A02_embedded_texts() -> None:
    offered = {"tools": [{"name": "list_events", "description": "Lists events"}]}
    (of_server,) = project(server("calendar", "Meetings", tags=("time", "team"), metadata={"region": "eu"}, details=offered))
    assert of_server.text == "calendar\nMeetings\nTags: time, team\nregion eu\nlist_events: Lists events"
    skills = {"capabilities": {"streaming": True, "push": False}, "skills": [{"id": "x9", "name": "Plan", "description": "Plans trips"}]}
    (of_agent,) = project(Entity(Kind.A2A_AGENT, "a", "Traveller", "Travels", ("trip",), details=skills))
    assert of_agent.text == "Traveller\nTravels\nTags: trip\nCapabilities: streaming\nPlan: Plans trips"
    about = {"author": "Ann", "version": "2", "body": "Do this, then that."}
    (of_skill,) = project(Entity(Kind.SKILL, "s", "fill-forms", "Fills forms", metadata={"team": "ops"}, details=about))
    assert of_skill.text == "fill-forms\nFills forms\nAnn\n2\nteam ops"
    schema = {"type": "object", "properties": {"eventId": {"type": "string", "description": "Which event"}, "force": {}}}
    details = {"server": "teamCalendar", "title": "Cancel", "input_schema": schema}
    (of_tool,) = project(Entity(Kind.TOOL, "secret/path", "cancel_event", "Cancels", details=details))
    assert of_tool.text == "team Calendar: cancel event\nCancel\nCancels\nevent Id: Which event\nforce"
    everything = of_server.text + of_agent.text + of_skill.text + of_tool.text
    assert not [never for never in ("secret/path", "x9", "string", "Do this") if never in everything]


async def test_A02_virtual_servers(rep: Repertory, tmp_path: Path) -> None:
    file = tmp_path / "harbor.yaml"
    file.write_text(
        """
        virtual_server:
          name: harbor-desk
          description: What the desk needs
          tags: [harbor]
          tools:
            - {from: backend-7/list_events, alias: upcoming_arrivals, description: Ships that are due, scopes: [calendar.read]}
            - {from: backend-8/send_mail}
        """
    )
    report = await rep.add(file)
    assert (report.added, report.problems) == (1, [])
    entity = await rep.show("virtual:harbor-desk")
    document, guarded = project(entity)
    assert document.text == "harbor-desk\nWhat the desk needs\nTags: harbor\nsend_mail:"
    assert guarded.text == "harbor-desk\nupcoming_arrivals: Ships that are due"
    everything = " ".join(text for one in (document, guarded) for text in (one.text, *one.fields.values()))
    assert not [never for never in ("backend", "list_events", "calendar.read") if never in everything]
    assert entity.links == (Link("tool:backend-7/list_events", "composes"), Link("tool:backend-8/send_mail", "composes"))
    response = await ask(rep, "upcoming arrivals")
    assert ids(response) == ["virtual:harbor-desk"]
    assert response.results[0].matching_tools[0].name == "upcoming_arrivals"
    by_alias = Entity(Kind.VIRTUAL_SERVER, "v", "v", details={"tools": [{"name": "list_events", "alias": "arrivals", "scopes": ["x.y"]}]})
    assert project(by_alias)[1].text == "v\narrivals:"


def test_A03_flatten() -> None:
    assert flatten({"source": "agentcore-sync", "region": "us-east-1"}) == "source agentcore-sync region us-east-1"
    assert flatten({"a": [1, {"b": {"c": None, "d": True}}], "e": ""}) == "a 1 b c d True e"
    deep: object = "end"
    for _ in range(5000):
        deep = {"k": deep}
    assert flatten(deep).endswith("k end")


async def test_A04_keyword_boosts(rep: Repertory) -> None:
    await rep.put(
        "entries",
        [
            server("alpha", "beta", tags=("gamma",), metadata={"delta": "x"}, details={"tools": [{"name": "zeta"}, {"name": "zeta_two"}]}),
            tool("other/spreadsheet", "Example of reading"),
        ],
    )

    async def boost(query: str, entity_id: str = "server:alpha") -> float:
        response = await ask(rep, query, strategy=Strategy.KEYWORD)
        return next((r.evidence[0].score for r in response.results if r.entity.id == entity_id), 0.0)

    assert await boost("alpha") == pytest.approx(5 + 3)
    assert await boost("beta") == pytest.approx(2)
    assert await boost("gamma") == pytest.approx(1.5)
    assert await boost("delta") == pytest.approx(1)
    assert await boost("zeta") == pytest.approx(2)  # two tools match
    assert await boost("gamm") == pytest.approx(1.5)  # a prefix at a word boundary
    assert await boost("Exa", "tool:other/spreadsheet") == 0  # "Exa" is not in "Example"
    assert await boost("beta unknown") == pytest.approx(2 / 2)  # the share of the query's tokens
    assert await boost("beta gamma") == pytest.approx((2 + 1.5) / 2)
    assert await boost("read", "tool:other/spreadsheet") == pytest.approx(2)  # of "reading", not of "spreadsheet"
    assert await boost("sheet", "tool:other/spreadsheet") == 0
    assert await boost("xample", "tool:other/spreadsheet") == 0


async def test_A05_every_kind_has_its_own_top(rep: Repertory) -> None:
    crowd = [tool(f"crowd/parcel{n}", "Tracks a parcel on its way to the customer") for n in range(120)]
    await rep.put("entries", [*crowd, server("post", "Follows letters that were sent"), note("guide.md", "How to send a box abroad")])
    response = await ask(rep, "track a parcel to the customer", strategy=Strategy.EMBEDDING, limit=50)
    assert {result.entity.kind for result in response.results} >= {Kind.TOOL}
    only_tools = await ask(rep, "track a parcel", strategy=Strategy.EMBEDDING, kinds=frozenset({Kind.MCP_SERVER}), limit=5)
    assert ids(only_tools) == ["server:post"]
    lanes = (await ask(rep, "track a parcel to the customer", limit=10)).lanes or {}
    assert lanes[VECTOR] == 30 + 1 + 1  # the best of the crowd, and both small kinds in full


BUCKET = Bucket(Kind.TOOL, Status.ACTIVE, True, frozenset({PUBLIC}))


def _found(fusion: Fusion, *rankings: Ranking) -> Found:
    planned = plan(SearchRequest("x", fusion=fusion), Filter())
    return Found(planned, rankings, {ranking.lane: dict(ranking.hits) for ranking in rankings}, frozenset(), Reading(understand("x", ())))


def test_A06_reciprocal_rank_fusion() -> None:
    found = _found(Fusion.RRF, Ranking(BM25, (Hit(1, 9.0), Hit(2, 3.0))), Ranking(VECTOR, (Hit(1, 0.8), Hit(3, 0.7))))
    scores = {number: sum(e.contribution for e in evidence) for number, evidence in fuse(found).items()}
    assert scores == {1: pytest.approx(2 / 61), 2: pytest.approx(1 / 62), 3: pytest.approx(1 / 62)}
    references = {n: Reference(f"doc{9 - n}", f"doc{9 - n}", BUCKET) for n in (1, 2, 3)}
    assert [c.number for c in rank(fuse(found), references, frozenset(), {})] == [1, 2, 3]  # 2 before 3: the higher lane score
    tie = _found(Fusion.RRF, Ranking(BM25, (Hit(2, 1.0),)), Ranking(VECTOR, (Hit(3, 1.0),)))
    assert [c.document_id for c in rank(fuse(tie), references, frozenset(), {})] == ["doc6", "doc7"]  # then the id


async def test_A06_legacy_fusion(rep: Repertory, monkeypatch: pytest.MonkeyPatch) -> None:
    found = _found(Fusion.LEGACY, Ranking(KEYWORD, (Hit(1, 2.0), Hit(2, 9.0))), Ranking(VECTOR, (Hit(1, 0.5), Hit(2, 0.6), Hit(3, -0.2))))
    scores = {number: sum(e.contribution for e in evidence) for number, evidence in fuse(found).items()}
    assert scores == {1: pytest.approx(0.75 + 0.2), 2: pytest.approx(1.0), 3: pytest.approx(0.4)}
    monkeypatch.setenv("SEARCH_FUSION_METHOD", "legacy")
    assert load_settings({})[0].fusion is Fusion.LEGACY


async def test_A07_nothing_is_filtered_after_the_cut(rep: Repertory) -> None:
    hidden = [tool(f"old/send{n}", "Sends a message to a person", status=Status.DEPRECATED) for n in range(200)]
    await rep.put("entries", [*hidden, *(tool(f"new/send{n}", "Sends a message") for n in range(10))])
    for strategy in (Strategy.HYBRID, Strategy.BM25, Strategy.KEYWORD, Strategy.EMBEDDING):
        found = ids(await ask(rep, "send a message to a person", strategy=strategy, limit=10))
        assert len(found) == 10
        assert all(entity_id.startswith("tool:new/") for entity_id in found)


def _ranked(listed: str) -> list[Candidate]:
    """S.95 A.88: a server at .95, an agent at .88."""
    kinds = {"S": Kind.MCP_SERVER, "A": Kind.A2A_AGENT, "T": Kind.TOOL}
    return [
        Candidate(place, f"d{place}", f"e{place}", kinds[one[0]], float(one[1:]), (Evidence(BM25, place, float(one[1:]), float(one[1:])),))
        for place, one in enumerate(listed.split())
    ]


@pytest.mark.parametrize(
    ("listed", "limit", "expected"),
    [
        ("S.95 S.93 S.91 A.88 S.87 T.85 S.83 A.80 S.78 T.75 A.72 S.70", 10, {"mcp_server": 6, "a2a_agent": 2, "tool": 2}),
        (" ".join(f"S.{99 - n}" for n in range(20)), 10, {"mcp_server": 10}),  # alone, a kind has every place
        (" ".join(["S.9"] * 40 + ["A.5"] * 3 + ["T.4"] * 2), 50, {"mcp_server": 40, "a2a_agent": 3, "tool": 2}),
        (" ".join(["S.9"] * 12 + ["A.5"]), 10, {"mcp_server": 9, "a2a_agent": 1}),  # who was passed over fills what is left
        ("S.9 A.8", 1, {"mcp_server": 1}),
    ],
)
def test_A08_distribution(listed: str, limit: int, expected: dict[str, int]) -> None:
    chosen = distribute(_ranked(listed), limit)
    assert Counter(candidate.kind.value for candidate in chosen) == expected
    assert [candidate.score for candidate in chosen] == sorted((candidate.score for candidate in chosen), reverse=True)


async def test_A08_the_registry_preset_distributes(rep: Repertory) -> None:
    many = [tool(f"mail/send{n}", "Sends a message to a person") for n in range(30)]
    servers = [server(f"message-{n}", "Sends it") for n in range(6)]
    await rep.put("entries", [*many, *servers])
    kinds = Counter(result.entity.kind for result in (await ask(rep, "send a message", preset=Preset.REGISTRY, limit=10)).results)
    assert kinds[Kind.TOOL] == 6  # of thirty that match better than any server
    assert kinds[Kind.MCP_SERVER] >= 1


def test_A09_rescaling_for_display() -> None:
    whole = _ranked("S.9 S.7 S.5 S.3 S.2 S.1")
    shown = rescale(whole, whole[:5], "spread", 0.2)  # the last of the ranking sets the scale, though it is not chosen
    assert [candidate.score for candidate in shown] == pytest.approx([1.0, 0.75, 0.5, 0.25])  # 0.125 is dropped
    assert [candidate.score for candidate in rescale(_ranked("S.4"), _ranked("S.4"), "spread", 0.2)] == [1.0]
    assert [candidate.score for candidate in rescale(_ranked("S.4 A.4"), _ranked("S.4 A.4"), "spread", 0.2)] == [1.0, 1.0]


async def test_A09_the_registry_preset_drops_what_is_far_behind(rep: Repertory) -> None:
    await rep.put("entries", [tool(f"box/{name}", name) for name in "alpha bravo carol delta echo foxtrot golf".split()])
    response = await ask(rep, "alpha", preset=Preset.REGISTRY)
    assert response.results[0].score == 1.0
    assert all(result.score >= 0.2 for result in response.results)


@pytest.mark.parametrize(
    ("name", "description", "query", "expected"),
    [
        ("web_search_exa", "", ["search"], 0.65),
        ("lookup", "Search the web", ["search"], 0.51),
        ("web_lookup", "", ["web", "page"], 0.50),
        ("lookup", "Of the web", ["web", "page"], 0.36),
        ("web_page", "", ["web", "page"], 1.00),
        ("getStats", "Get activity stats", ["strava"], 0.0),
        ("example", "An example", ["exa"], 0.0),
    ],
)
def test_A10_tool_score(name: str, description: str, query: list[str], expected: float) -> None:
    assert tool_score(name, description, query) == pytest.approx(expected)


async def test_A10_a_server_shows_which_of_its_tools_match(rep: Repertory) -> None:
    tools = [{"name": "web_search", "description": "Find pages"}, {"name": "crawl", "description": "Search a site"}, {"name": "stop"}]
    await rep.put("entries", [server("exa", "Looks things up", details={"tools": tools}), tool("exa/web_search", "Find pages")])
    found = {result.entity.id: result for result in (await ask(rep, "search")).results}
    assert found["server:exa"].as_json()["matching_tools"] == [
        {"name": "web_search", "description": "Find pages", "score": 0.65},
        {"name": "crawl", "description": "Search a site", "score": 0.51},
    ]
    assert "matching_tools" not in found["tool:exa/web_search"].as_json()


async def test_A10_tools_are_lifted_beside_the_limit(rep: Repertory) -> None:
    schema = {"type": "object", "properties": {"query": {"type": "string"}}}
    tools = [tool(f"exa/search_{n}", "Find pages", details={"input_schema": schema}) for n in range(9)]
    links = tuple(Link(one.id, "has_tool") for one in tools)
    offered = {"tools": [{"name": one.name, "description": one.description} for one in tools]}
    await rep.put("entries", [server("exa-search", "The search server", details=offered, links=links), *tools])
    servers = frozenset({Kind.MCP_SERVER})
    response = await ask(rep, "search", preset=Preset.REGISTRY, kinds=servers, limit=10)
    assert ids(response) == ["server:exa-search"]
    assert response.tools == ()  # only servers were asked for
    response = await ask(rep, "search server", preset=Preset.REGISTRY, limit=1)
    assert ids(response) == ["server:exa-search"]
    assert len(response.tools) == 3  # max(3, ceil(0.6 * 1))
    assert response.as_json()["tools"][0]["inputSchema"] == schema
    alone = await ask(rep, "search", preset=Preset.REGISTRY, kinds=frozenset({Kind.TOOL}), limit=10)
    assert {result.entity.kind for result in alone.results} == {Kind.TOOL}


@pytest.mark.parametrize("strategy", list(Strategy))
async def test_A13_status(rep: Repertory, strategy: Strategy) -> None:
    states = {status: tool(f"box/{status}_pump", "Pumps water", status=status) for status in Status}
    virtual = Entity(Kind.VIRTUAL_SERVER, "pumps", "pump_house", "Pumps water", status=Status.DRAFT)
    off = tool("box/broken_pump", "Pumps water", enabled=False)
    await rep.put("entries", [*states.values(), virtual, off])

    async def found(**flags: bool) -> set[str]:
        return set(ids(await ask(rep, "pump", strategy=strategy, **flags)))

    usual = {states[Status.ACTIVE].id, states[Status.BETA].id, virtual.id}
    assert await found() == usual
    assert await found(include_deprecated=True) == usual | {states[Status.DEPRECATED].id}
    assert await found(include_draft=True) == usual | {states[Status.DRAFT].id}
    assert await found(include_disabled=True) == usual | {off.id}


@pytest.mark.parametrize("strategy", list(Strategy))
async def test_A14_a_change_is_found_at_once(rep: Repertory, strategy: Strategy) -> None:
    stays = tool("box/lamp", "Lights a room")
    await rep.put("entries", [tool("box/gadget", "Waters the orchids", details={"title": "Waters"}), stays])
    await rep.put("entries", [tool("box/gadget", "Sharpens pencils", details={"title": "Sharpens"}), stays])
    assert ids(await ask(rep, "sharpen", strategy=strategy))[:1] == (["tool:box/gadget"] if strategy is not Strategy.REGEX else [])
    assert "Waters" not in str((await ask(rep, "orchids", strategy=strategy)).as_json())
    if strategy in (Strategy.BM25, Strategy.KEYWORD, Strategy.REGEX):
        assert ids(await ask(rep, "orchids", strategy=strategy)) == []
    await rep.put("entries", [tool("box/gadget", "Sharpens pencils", status=Status.DRAFT), stays])
    assert "tool:box/gadget" not in ids(await ask(rep, "sharpens pencils", strategy=strategy))
    await rep.put("entries", [stays])
    assert "tool:box/gadget" not in ids(await ask(rep, "sharpens pencils", strategy=strategy, include_draft=True))
    assert await rep.check() == []


async def test_A15_without_a_query_vector_words_answer(tmp_path: Path) -> None:
    async with repertory.open(tmp_path, embedder="none") as rep:
        await rep.put("entries", [server("alpha", "beta", details={"tools": [{"name": "alpha_tool"}]}), tool("box/other", "beta")])
        response = await ask(rep, "alpha")
        assert response.mode == "lexical-only"
        assert response.strategy == "hybrid"
        assert [d.code for d in response.diagnostics] == ["no_query_vector"]
        assert response.results[0].score == pytest.approx((5 + 3 + 1) / 13.5, abs=1e-4)


async def test_A15_a_broken_model_is_tried_again(tmp_path: Path) -> None:
    broken = {"embedder": "openai", "embedder_url": "http://127.0.0.1:9/v1", "embedder_dimensions": 8, "embedder_pause": 0.0}
    async with repertory.open(tmp_path, **broken) as rep:
        report = await rep.put("entries", [tool("box/lamp", "Lights a room")])
        assert (report.embedded, report.waiting) == (0, 1)
        for _ in range(2):
            response = await ask(rep, "light")
            assert ids(response) == ["tool:box/lamp"]
            assert response.mode == "lexical-only"
    async with repertory.open(tmp_path) as rep:  # the model is back: what waited is embedded
        assert await rep.embed() == 1
        assert (await ask(rep, "light")).mode == "hybrid"


async def test_A16_documents_without_a_vector_stay_discoverable(tmp_path: Path) -> None:
    async with repertory.open(tmp_path) as rep:
        await rep.put("first", [tool("box/lamp", "Lights a room")])
        rep._embedder, embedder = None, rep._embedder  # the model is away while the second source comes in
        await rep.put("second", [tool("box/torch", "Lights a room without a cable")])
        rep._embedder = embedder
        response = await ask(rep, "light a room")
        assert response.mode == "hybrid"
        assert [diagnostic.code for diagnostic in response.diagnostics] == ["vectors_missing"]
        assert set(ids(response)) == {"tool:box/lamp", "tool:box/torch"}


async def test_A16_a_search_while_others_are_embedded_says_how_many_wait(tmp_path: Path) -> None:
    async with repertory.open(tmp_path, embedder="none") as rep:
        await rep.put("entries", [tool(f"box/lamp{n}", f"Lights room {n}") for n in range(600)])
    async with repertory.open(tmp_path) as rep:
        embedding = asyncio.create_task(rep.embed())
        told: list[str] = []
        while not embedding.done():
            response = await ask(rep, "light room 7")
            assert response.results
            told += [diagnostic.message for diagnostic in response.diagnostics]
            await asyncio.sleep(0.01)
        assert told[0] == "Answered by words alone: nothing in the catalog has a vector yet."
        missing = [int(message.split()[0]) for message in told if message.endswith(" documents have no vector yet; words alone find them.")]
        assert missing == sorted(missing, reverse=True)
        assert 0 < missing[-1] < missing[0] < 600
        assert await embedding == 600
        assert not (await ask(rep, "light room 7")).diagnostics


async def test_A17_one_line_per_search_without_its_text(rep: Repertory, caplog: pytest.LogCaptureFixture) -> None:
    await rep.put("entries", [tool("box/lamp", "Lights a room")])
    with caplog.at_level(logging.DEBUG, "repertory.search"):
        await ask(rep, "confidential lamp")
    (line,) = [record.getMessage() for record in caplog.records if record.name.startswith("repertory.search")]
    assert "bm25" in line
    assert "vector" in line
    assert "confidential" not in line


@pytest.mark.parametrize("strategy", list(Strategy))
async def test_A18_visibility_is_part_of_the_filter(rep: Repertory, strategy: Strategy) -> None:
    await rep.put("entries", [tool("hr/pay", "Pays wages", audience=frozenset({"hr"})), tool("all/pay_bill", "Pays a bill")])
    request = SearchRequest("pay", strategy=strategy)
    anyone, hr = Principal.anyone(), Principal("ann", frozenset({"hr", "public"}))
    assert ids(await rep.search(request, anyone)) == ["tool:all/pay_bill"]
    assert set(ids(await rep.search(request, hr))) == {"tool:all/pay_bill", "tool:hr/pay"}
    assert [entity.id for entity in (await rep.entries(principal=anyone))[0]] == ["tool:all/pay_bill"]
    with pytest.raises(repertory.RepertoryError, match="no entry"):
        await rep.show("tool:hr/pay", anyone)


async def test_A18_a_scope_that_is_out_of_date_does_not_leak(rep: Repertory) -> None:
    await rep.put("open", [tool("all/pay_bill", "Pays a bill")])
    before = rep._sync.snapshot  # only public documents: no bucket needs a condition
    await rep.put("closed", [tool("hr/pay", "Pays wages", audience=frozenset({"hr"}))])
    rep._sync.snapshot = before  # as a search sees it that began before the write and runs its lanes after it
    assert rep._sync.scope(Filter(audience=frozenset({PUBLIC}))).everything
    for strategy in Strategy:
        assert ids(await rep.search(SearchRequest("pay", strategy=strategy), Principal.anyone())) == ["tool:all/pay_bill"]


@pytest.mark.parametrize("change", [{"audience": frozenset({"hr"})}, {"status": Status.DRAFT}, {"enabled": False}])
async def test_A18_what_was_narrowed_since_the_lanes_ran_is_not_shown(rep: Repertory, change: dict[str, Any]) -> None:
    await rep.put("entries", [tool("box/lamp", "Lights a room")])
    engine = rep._engine
    request = SearchRequest("lamp")
    planned = plan(request, Filter(audience=frozenset({PUBLIC})))
    place = engine._place(planned.filter)
    head = lanes.begin(await lanes.start(planned, understand("lamp", frozenset()), place, engine.embedder), place)
    engine.store.write(Changes("narrow", "entries", put_entities=[(tool("box/lamp", "New and secret", **change), "x")]))
    assert engine._answer(*engine._rank(head, place), place, request).results == ()
