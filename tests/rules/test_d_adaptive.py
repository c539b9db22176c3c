"""D. Query-adaptive scoring."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.catalogs import ask, ids, note, tool

from repertory.app import Repertory
from repertory.embedders.base import Embeddings
from repertory.embedders.onnx import OnnxEmbedder
from repertory.indexes.base import BM25, VECTOR
from repertory.model import Filter, Fusion, Hit, Preset, Ranking, SearchRequest, Strategy
from repertory.search.fuse import fuse
from repertory.search.lanes import Found
from repertory.search.plan import plan
from repertory.search.reading import Reading
from repertory.text.anchors import contains
from repertory.text.classify import classify
from repertory.text.fold import fold
from repertory.text.query import understand


def test_D01_linear_fusion() -> None:
    planned = plan(SearchRequest("x", fusion=Fusion.LINEAR), Filter())
    semantic = {1: 0.7, 2: 0.85, 3: 0.6, 8: 1.0, 9: 0.0}  # 8 and 9 stretch both lanes over [0, 1]
    keyword = {1: 1.0, 2: 0.0, 3: 0.5, 8: 0.0, 9: 0.0}
    rankings = tuple(Ranking(lane, tuple(Hit(*hit) for hit in scores.items())) for lane, scores in ((BM25, keyword), (VECTOR, semantic)))
    fused = fuse(Found(planned, rankings, {BM25: keyword, VECTOR: semantic}, frozenset(), Reading(understand("x", ()))))
    totals = {number: sum(evidence.contribution for evidence in fused[number]) for number in (1, 2, 3)}
    assert totals == {1: pytest.approx(0.79), 2: pytest.approx(0.595), 3: pytest.approx(0.57)}


async def test_D01_every_candidate_is_scored_in_both_lanes(rep: Repertory) -> None:
    await rep.put("tools", [tool(f"t/x{n}", f"Books flight number {n}" if n % 2 else f"Reserves a seat on plane {n}") for n in range(120)])
    response = await ask(rep, "book a flight", fusion=Fusion.LINEAR, limit=30)
    words_match = [result for result in response.results if "flight" in result.entity.description]
    assert words_match
    assert all({evidence.lane for evidence in result.evidence} == {BM25, VECTOR} for result in words_match)


def _specific(anchors: tuple[str, ...], words: tuple[str, ...]) -> dict[str, float]:
    """What the lanes weigh for a query of so many anchors and words: both lanes say 1 of the first document, 0 of the second."""
    planned = plan(SearchRequest("x", preset=Preset.ANCHORED), Filter())
    scores = {BM25: {1: 1.0, 2: 0.0}, VECTOR: {1: 1.0, 2: 0.0}}
    rankings = tuple(Ranking(lane, (Hit(1, 1.0), Hit(2, 0.0))) for lane in scores)
    reading = Reading(replace(understand("x", ()), words=words), anchors=anchors)
    return {e.lane: e.contribution for e in fuse(Found(planned, rankings, scores, frozenset(), reading))[1]}


def test_D02_specificity_sets_the_weights() -> None:
    words = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    assert _specific(words[:6], words) == {VECTOR: 0.3, BM25: 0.7}  # .6
    assert _specific(words[:5], words) == {VECTOR: 0.5, BM25: 0.5}  # .5 is not above .5
    assert _specific(words[:3], words) == {VECTOR: 0.5, BM25: 0.5}
    assert _specific(words[:2], words) == {VECTOR: 0.7, BM25: 0.3}
    assert _specific((), words) == {VECTOR: 0.7, BM25: 0.3}


@pytest.mark.parametrize(
    ("query", "anchors"),
    [
        ("D40", ["d40"]),
        ("Tell me about (D40).", ["d40"]),
        ("where is PII-2024-0042?", ["pii-2024-0042"]),
        ("section 75.1725, please", ["75.1725"]),
        ("see 30 CFR 75.1725!", ["30 cfr 75.1725"]),
        ("error E0308 in rust", ["e0308"]),
        ("status of ENG-201", ["eng-201"]),
        ("changes in v1.2.3", ["v1.2.3"]),
        ("call get_user_by_id now", ["get_user_by_id"]),
        ("use os.path.join here", ["os.path.join"]),
        ('find "Over the Hills" today', ["over the hills"]),
        ("book a flight to the coast", []),
        ("the 1st of May, e.g. tomorrow", []),
    ],
)
def test_D03_anchors(query: str, anchors: list[str]) -> None:
    assert list(understand(query, ()).anchors) == anchors


async def test_D03_rare_proper_nouns_are_anchors(rep: Repertory) -> None:
    await rep.put(
        "notes", [note("monsters.md", "The Aboleth lives in deep lakes."), *(note(f"{n}.md", "The Dragon sleeps.") for n in range(99))]
    )
    assert (await ask(rep, "Tell me about the Aboleth please")).anchors == ("aboleth",)
    assert (await ask(rep, "Where does the Dragon sleep")).anchors == ()  # in nearly every note
    assert (await ask(rep, "Where does the Zeppelin sleep")).anchors == ()  # in none


@pytest.mark.parametrize("other", ["D4", "D400", "AD40", "D40.1", "D40-b"])
def test_D04_an_anchor_is_a_whole_token(other: str) -> None:
    assert contains(fold("Form D40, as filed."), "d40")
    assert not contains(fold(f"Form {other} as filed"), "d40")


async def test_D04_documents_that_hold_an_anchor_rise(rep: Repertory) -> None:
    texts = ["Form D40 and form D41 and form D42 and form D43", "Form D40", "Form D400", "Another form"]
    await rep.put("forms", [note(f"{n}.md", text) for n, text in enumerate(texts)])
    response = await ask(rep, "which form is D40 or D41 or D42 or D43", preset=Preset.ANCHORED)
    factors = {result.entity.path: math.prod(boost.factor for boost in result.boosts) for result in response.results}
    assert factors == {"0.md": 1.5**3, "1.md": 1.5, "2.md": 1.0, "3.md": 1.0}  # once per anchor, capped


class _Counting(OnnxEmbedder):
    """The real model, counted."""

    def __init__(self) -> None:
        super().__init__()
        self.queries = 0

    async def embed_query(self, text: str) -> Embeddings:
        self.queries += 1
        return await super().embed_query(text)


@pytest.mark.parametrize("preset", [Preset.ANCHORED, Preset.DEFAULT])
async def test_D05_an_identifier_calls_no_embedder(rep: Repertory, preset: Preset) -> None:
    await rep.put("notes", [note("a.md", "Form D40 for boats."), note("b.md", "Run sync_all_boats nightly."), note("c.md", "Boats.")])
    rep._engine.embedder = counting = _Counting()
    for query, expected in (("D40", "doc:a.md"), ("(d40)?", "doc:a.md"), ("sync_all_boats", "doc:b.md")):
        response = await ask(rep, query, preset=preset)
        assert ids(response)[0] == expected
        assert response.mode == "identifier"
        assert set(response.lanes or {}) <= {"bm25", "grams", "keyword"}
    assert counting.queries == 0
    await ask(rep, "what is D40", preset=preset)
    assert counting.queries == 1


@pytest.mark.parametrize("preset", [Preset.ANCHORED, Preset.DEFAULT])
async def test_D06_the_exact_chunk_is_first(rep: Repertory, preset: Preset) -> None:
    rules = [note(f"cfr/{n}.md", f"30 CFR {n}.{1700 + n} says that guards of machine {n} are kept in place.") for n in range(60, 90)]
    pumps = [note(f"pumps/D{n}.md", f"Pump D{n} lifts {n} litres. It is a relative of all the other pumps.") for n in (4, 40, 400, 41, 44)]
    await rep.put("notes", [*rules, *pumps, note("pumps/all.md", "Pumps, tell me about pumps: what pumps are, about pumps in general.")])
    assert ids(await ask(rep, "D40", preset=preset))[0] == "doc:pumps/D40.md"
    assert ids(await ask(rep, "30 CFR 75.1775", preset=preset))[0] == "doc:cfr/75.md"
    assert ids(await ask(rep, "Tell me about D40", preset=preset))[0] == "doc:pumps/D40.md"  # only one document has it


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "?!",
        "👋",
        "Hello!",
        "hi there",
        "Hi, thanks a lot!",
        "Good morning, how are you?",
        "谢谢",
        "Merci beaucoup",
        "Olá",
        "привет",
    ],
)
def test_D09_chat_needs_no_retrieval(text: str) -> None:
    found = classify(text)
    assert (found.needs_retrieval, found.type, found.complexity) == (False, "chat", "simple")


@pytest.mark.parametrize(
    ("text", "type", "strategy", "limit"),
    [
        ("D40", "identifier", "bm25", 3),
        ("create_issue", "identifier", "bm25", 3),
        ("github/createIssue", "identifier", "bm25", 3),
        ("`v1.2.3`", "identifier", "bm25", 3),
        ("PII-2024-0042?", "identifier", "bm25", 3),
        ("^(read|write)_file$", "pattern", "regex", 10),
        ("get_.*", "pattern", "regex", 10),
        ("^(unclosed", "keywords", "hybrid", 10),
        ("_issue$", "pattern", "regex", 10),
        ("budget CA$", "keywords", "hybrid", 10),
        ("C++", "keywords", "hybrid", 10),
        ("weather", "keywords", "hybrid", 10),
        ("e-mail slack", "keywords", "hybrid", 10),
        ("共享日历", "keywords", "hybrid", 10),
        ("hello world", "keywords", "hybrid", 10),
        ("What does .* mean in a pattern?", "question", "hybrid", 5),
        ("how do I rotate a key", "question", "hybrid", 5),
        ("Wie lösche ich einen Benutzer", "question", "hybrid", 5),
        ("如何创建问题？", "question", "hybrid", 5),
        ("save text to disk", "task", "hybrid", 10),
        ("send an invoice to a customer", "task", "hybrid", 10),
        ("compare Stripe and Adyen fees", "comparison", "hybrid", 15),
        ("Postgres vs. MySQL", "comparison", "hybrid", 15),
        ("What is the difference between a skill and a tool?", "comparison", "hybrid", 15),
    ],
)
def test_D09_type_strategy_and_limit(text: str, type: str, strategy: str, limit: int) -> None:
    found = classify(text)
    assert found.needs_retrieval
    assert (found.type, found.strategy, found.limit) == (type, strategy, limit)


def test_D09_anchors_decide_what_letters_cannot() -> None:
    assert classify("Aboleth").type == "keywords"
    assert classify("Aboleth", ["aboleth"]).type == "identifier"
    assert classify("30 CFR 75.1725", ["30 cfr 75.1725"]).type == "identifier"
    assert classify("hello", ["hello"]).needs_retrieval  # there is something of that name


@pytest.mark.parametrize(
    ("text", "complexity", "limit"),
    [
        ("send a message", "simple", 10),
        ("read the newest mails of my inbox and answer them", "moderate", 10),
        ("find the failed deployment, then open an issue and post its link to the channel", "complex", 15),
        ("Is the build green? If so, tag it, then publish the release and tell everyone.", "complex", 15),
        (
            "find all invoices of the last quarter that no customer of the northern region has paid despite two reminders by mail",
            "complex",
            15,
        ),
    ],
)
def test_D09_complexity(text: str, complexity: str, limit: int) -> None:
    found = classify(text)
    assert (found.complexity, found.limit) == (complexity, limit)


def test_D09_the_reasons_are_sentences() -> None:
    for text in ("", "D40", "get_.*", "weather", "how do I rotate a key", "save text to disk", "tea vs coffee"):
        reasons = classify(text).reasons
        assert len(reasons) == 3
        assert all(reason[0].isupper() and reason.endswith(".") for reason in reasons)
    assert "It has 2 meaningful words in 1 clause." in classify("rotate key").reasons


@given(st.text(), st.lists(st.text(), max_size=2))
def test_D09_suggests_what_can_be_asked(text: str, anchors: list[str]) -> None:
    found = classify(text, anchors)
    assert 1 <= found.limit <= 50
    assert found.strategy in set(Strategy)


def test_D09_is_quick_on_the_longest_query() -> None:
    started = time.perf_counter()
    for text in ("hi " * 1365 + "x", "thank you so much " * 227 + "x", "a." * 2048, "a_" * 2048 + " ", "[a" * 2048, "then " * 819):
        classify(text)
    assert time.perf_counter() - started < 2.0
