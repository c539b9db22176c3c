from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.catalogs import ask, tool
from tests.typos import misspell

from repertory import access
from repertory.app import Repertory, open_with
from repertory.embedders.dictionary import common_words
from repertory.evaluate import measure
from repertory.evaluate.sets import load
from repertory.model import Preset, Principal
from repertory.search.spelling import Known, Spelling, Vocabulary, correct_query, known_in
from repertory.settings import load as load_settings

HARBOR = Path(__file__).parents[3] / "examples" / "labelled" / "harbor"
WORDS = {"shipment": 9, "tracking": 4, "tracing": 2, "parcel": 3, "parcels": 1, "tier": 5, "invoice": 3, "kubectl": 1}
CATALOG = Spelling(WORDS)
ENGLISH = Spelling(WORDS, common_words())


def known(words: Sequence[str]) -> Collection[str]:
    return [word for word in words if word in WORDS]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("shipmnt", "shipment"),  # left out
        ("shippment", "shipment"),  # inserted
        ("shipmemt", "shipment"),  # replaced
        ("shipmetn", "shipment"),  # swapped
        ("hsipment", "shipment"),  # the first letter too
        ("shpimetn", "shipment"),  # two errors in a long word
        ("trackng", "tracking"),
        ("traccing", "tracking"),  # as near as "tracing", and more frequent
        ("pracle", None),  # two errors in a short word
        ("untracking", None),  # two letters before a word make another word
        ("qqqqqqqq", None),
    ],
)
def test_the_nearest_word_then_the_most_frequent(written: str, meant: str | None) -> None:
    assert CATALOG.correct(written) == meant


def test_candidates_come_best_first() -> None:
    assert CATALOG.candidates("parcelz") == ["parcel", "parcels"]
    assert ENGLISH.candidates("thier")[:2] == ["their", "tier"]
    assert ENGLISH.correct("kilos") is None  # "kills", "kilns": of a short word, an English neighbour says little
    assert ENGLISH.correct("temprature") == "temperature"  # the embedder knows more words than the catalog


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("where is my shipmnt?", "where is my shipment?"),
        ("Shipmnt's way, trackng: now", "Shipment's way, tracking: now"),
        ("shipmnt, and again the shipmnt", "shipment, and again the shipment"),
        ("Teh invioce of the parcle", "Teh invoice of the parcel"),
    ],
)
def test_a_query_is_corrected_in_place(written: str, meant: str) -> None:
    corrected, changed = correct_query(written, known, lambda: CATALOG)
    assert corrected == meant
    assert all(WORDS[choice] for choice in changed.values())


@pytest.mark.parametrize(
    "text",
    [
        'the word "shipmnt" as it is, and `shipmnt` too',
        "ask Trackin about it",  # a name inside a sentence
        "SHIPMNT and shipMnt",
        "shipmnt_id, shipmnt-id, shipmnt.id, shipmnt2",
        "a tier of kubectl",  # known words
        "a project of several documents and backups",  # English words that the catalog has not
        "tire",  # too short to tell
        "天気予報天気予報",
        "",
    ],
)
def test_what_is_no_typing_error_is_left_alone(text: str) -> None:
    assert correct_query(text, known, lambda: Spelling({**WORDS, "projects": 5, "backup": 5}, common_words())) == (text, {})


def test_the_vocabulary_is_not_read_for_words_that_are_known() -> None:
    def never() -> Spelling:
        raise AssertionError

    assert correct_query("tracking the shipment", known, never) == ("tracking the shipment", {})


def test_an_unknown_word_costs_at_most_three_milliseconds_of_twenty_thousand() -> None:
    spelling = Spelling({word: 1 for word in common_words() if len(word) > 3}, common_words())
    spelling.candidates("warmup")
    taken = []
    for word in ("shipmnt", "temprature", "organizatoin", "wether", "calender") * 5:
        started = time.thread_time()
        spelling._nearest(word)  # what `candidates` remembers
        taken.append(time.thread_time() - started)
    assert min(taken) < 0.003  # a busy machine, which makes others dearer, is not our cost


def test_a_page_of_noise_is_corrected_only_so_far() -> None:
    noise = " ".join(f"shipme{one}{two}t" for one in "abcdefghij" for two in "abcdefghij")
    corrected, changed = correct_query(noise, known, lambda: CATALOG)
    assert (len(changed), corrected.split().count("shipment")) == (32, 32)


async def test_nobody_is_led_to_a_word_that_they_may_not_see(rep: Repertory) -> None:
    secret = tool("hr/severance", "Computes the zeppelinary share", audience=frozenset({"hr"}))
    await rep.put("tools", [secret, tool("ops/fly", "Flies a zeppelinery")])
    vocabulary = Vocabulary(rep._store)

    def visible(principal: Principal) -> Known:
        return known_in(rep._engine.index, rep._sync.scope(access.everything_for(principal)), rep._store)

    def correct(text: str, principal: Principal) -> str:
        return correct_query(text, visible(principal), lambda: vocabulary.at(rep._sync.snapshot.revision))[0]

    hr, others = Principal("a", frozenset({"hr"})), Principal("b", frozenset({"public"}))
    assert correct("zeppelinarry", hr) == "zeppelinary"
    assert correct("zeppelinarry", others) == "zeppelinery"
    assert correct("zeppelinary", hr) == "zeppelinary"
    assert correct("zeppelinary", others) == "zeppelinery"  # what they may not see is unknown to them
    await rep.put("tools", [tool("ops/fly", "Flies a kite")])
    assert correct("zeppelinarry", hr) == "zeppelinarry"  # gone with its entry


async def test_a_word_is_known_to_whoever_sees_a_document_that_has_it(rep: Repertory) -> None:
    secret = tool("hr/severance", "Computes the zeppelinary share of ballast", audience=frozenset({"hr"}))
    await rep.put("tools", [secret, tool("ops/fly", "Carries ballast and kites"), tool("ops/land", "Drops ballast")])
    words = ["zeppelinary", "ballast", "kites", "anchor"]

    def seen(principal: Principal) -> set[str]:
        return set(known_in(rep._engine.index, rep._sync.scope(access.everything_for(principal)), rep._store)(words))

    assert seen(Principal()) == {"zeppelinary", "ballast", "kites"}
    assert seen(Principal("b", frozenset({"public"}))) == {
        "ballast",
        "kites",
    }  # more have the one than are hidden; the other was looked for


async def test_typing_errors_cost_little(tmp_path: Path) -> None:
    """One error in every word of five letters or more, on our own labelled set."""
    labelled = load(HARBOR)
    settings = load_settings({"catalog": tmp_path}, {})[0]
    async with open_with(settings) as rep:
        await rep.put("harbor", labelled.entities)

        async def ndcg(texts: dict[str, str], **request: Any) -> float:
            found = {q.id: [r.entity.path for r in (await ask(rep, texts[q.id], **request)).results] for q in labelled.queries}
            by_query = measure._metrics(labelled, found)["nDCG@10"]
            return sum(by_query.values()) / len(by_query)

        clean = {query.id: query.text for query in labelled.queries}
        wrong = {query: misspell(text) for query, text in clean.items()}
        assert not any([(await ask(rep, text)).corrected for text in clean.values()])
        assert await ndcg(wrong) > await ndcg(clean) - 0.06
        assert await ndcg(wrong) > await ndcg(wrong, preset=Preset.TOOLS) + 0.1  # which corrects nothing
