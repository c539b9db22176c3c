"""What holds for every catalog and every query?"""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.catalogs import ids

import repertory
from repertory.indexes.features import dimension
from repertory.indexes.read import NAMING
from repertory.ingest.project import project
from repertory.model import Entity, Filter, Fusion, Kind, Preset, Principal, SearchRequest, Status, Strategy
from repertory.text.tokens import plain_words, terms

WORDS_IN_USE = "read write file parcel track invoice S3 C++ 天気 погода café get_user calendar Go AI sendMail".split()
WORDS = st.sampled_from(WORDS_IN_USE)
TEXT = st.lists(WORDS, max_size=8).map(" ".join)
PATH = st.from_regex(r"[a-z]{1,6}/[a-z_]{1,8}", fullmatch=True)
GROUPS = st.frozensets(st.sampled_from(["public", "hr", "ops|eu", "50%,x"]), min_size=1, max_size=3)
KINDS = st.sampled_from([Kind.TOOL, Kind.MCP_SERVER, Kind.SKILL, Kind.A2A_AGENT])
ENTITIES = st.lists(
    st.builds(
        Entity,
        kind=KINDS,
        path=PATH,
        name=TEXT.map(lambda text: text or "nameless"),
        description=TEXT,
        tags=st.lists(st.sampled_from(["a", "b"]), unique=True).map(tuple),
        status=st.sampled_from(Status),
        enabled=st.booleans(),
        audience=GROUPS,
    ),
    max_size=25,
    unique_by=lambda entity: entity.id,
)
REQUESTS = st.builds(
    SearchRequest,
    query=st.one_of(st.lists(WORDS, min_size=1, max_size=5).map(" ".join), st.text(min_size=1, max_size=30).filter(str.strip)),
    strategy=st.sampled_from([None, *(strategy for strategy in Strategy if strategy is not Strategy.REGEX)]),
    fusion=st.sampled_from([None, *Fusion]),
    preset=st.sampled_from([None, *Preset]),
    context=st.one_of(st.none(), TEXT),
    min_confidence=st.sampled_from([None, 0.0]),
    kinds=st.one_of(st.none(), st.frozensets(KINDS, min_size=1)),
    tags=st.frozensets(st.sampled_from(["a", "b"]), max_size=2),
    limit=st.integers(1, 50),
    include_deprecated=st.booleans(),
    include_draft=st.booleans(),
    include_disabled=st.booleans(),
)
PRINCIPALS = st.one_of(st.just(Principal()), GROUPS.map(lambda groups: Principal("someone", groups)))
VOCABULARY = sorted({stem for word in WORDS_IN_USE for stem in terms(word)})
SOME = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@SOME
@given(ENTITIES, st.lists(st.tuples(REQUESTS, PRINCIPALS), min_size=1, max_size=6))
def test_B09_invariants_of_every_strategy(entities: list[Entity], asked: list[tuple[SearchRequest, Principal]]) -> None:
    stated = {entity.id: entity for entity in entities}  # an answer does not tell who else may see an entry

    async def check(catalog: str) -> None:
        async with repertory.open(catalog) as rep:
            await rep.put("entries", entities)
            for request, principal in asked:
                response = await rep.search(request, principal)
                scores = [result.score for result in response.results]
                assert len(scores) <= request.limit
                assert all(0.0 <= score <= 1.0 for score in scores)
                assert scores == sorted(scores, reverse=True)
                assert len(set(ids(response))) == len(scores)
                if response.mode == "hybrid" and scores:
                    assert scores[0] == 1.0
                if response.abstained:
                    assert scores == []
                assert all(_may_see(stated[result.entity.id], request, principal) for result in response.results)
                if request.preset is None:  # the others distribute, or look as deep as the limit says
                    smaller = await rep.search(replace(request, limit=max(1, request.limit // 2)), principal)
                    assert ids(smaller) == ids(response)[: len(smaller.results)]

    with tempfile.TemporaryDirectory() as catalog:
        asyncio.run(check(catalog))


def _may_see(entity: Entity, request: SearchRequest, principal: Principal) -> bool:
    """The same decision, by brute force and from the rules' own words."""
    allowed = {Status.ACTIVE, Status.BETA}
    allowed |= {Status.DEPRECATED} if request.include_deprecated else set()
    allowed |= {Status.DRAFT} if request.include_draft else set()
    return (
        (request.kinds is None or entity.kind in request.kinds)
        and entity.status in allowed
        and (entity.enabled or request.include_disabled)
        and request.tags <= set(entity.tags)
        and (principal.groups is None or bool(principal.groups & entity.audience))
    )


@SOME
@given(ENTITIES, ENTITIES, ENTITIES)
def test_an_index_by_increments_equals_one_from_scratch(first: list[Entity], second: list[Entity], third: list[Entity]) -> None:
    async def check(catalog: Path) -> None:
        async with repertory.open(catalog / "increments", embedder="none") as rep:
            for state in (first, second, third):
                await rep.put("entries", state)
                assert await rep.check() == []
                expected = Counter(
                    term
                    for entity in state
                    for document in project(entity)
                    for term in {t for field, text in document.fields.items() for t in terms(text, naming=field in NAMING)}
                )
                spelled = Counter(w for e in state for d in project(e) for w in set().union(*map(plain_words, d.fields.values())))
                assert rep._store.words() == spelled
                assert rep._store.frequencies([dimension(term) for term in VOCABULARY]) == {
                    dimension(term): expected[term] for term in VOCABULARY if expected[term]
                }
                assert {entity.id for entity in (await rep.entries(_ANY, limit=1000))[0]} == {entity.id for entity in state}

    with tempfile.TemporaryDirectory() as catalog:
        asyncio.run(check(Path(catalog)))


_ANY = Filter(statuses=frozenset(Status), include_disabled=True)
