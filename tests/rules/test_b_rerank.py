"""B07. A cross-encoder over the head."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repertory.errors import RemoteModelError
from repertory.model import Candidate, Evidence, Kind
from repertory.search.rerank import HEAD, LANE, blend, rerank
from repertory.settings import load

SHARES = st.floats(0, 1)


class Told:
    """A re-ranker that gives the scores it was told, or fails."""

    def __init__(self, *scores: float) -> None:
        self.scores = list(scores)
        self.read: list[Sequence[str]] = []

    async def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        self.read.append(texts)
        if not self.scores:
            raise RemoteModelError("The re-ranker is out of order.")
        return self.scores

    async def close(self) -> None: ...


def ranking(*scores: float) -> list[Candidate]:
    return [
        Candidate(number, f"tool:{number}", f"tool:{number}", Kind.TOOL, score, (Evidence("bm25", number, score, score),))
        for number, score in enumerate(scores, 1)
    ]


def numbers(candidates: Sequence[Candidate]) -> list[int]:
    return [candidate.number for candidate in candidates]


def test_B07_is_off_by_default_and_reads_ten() -> None:
    settings, _ = load({}, {})
    assert (settings.reranker_url, HEAD) == (None, 10)


async def test_B07_without_a_reranker_nothing_changes() -> None:
    ranked = ranking(1.0, 0.8)
    assert await rerank(None, "query", ranked, ["a", "b"]) == (ranked, None)


async def test_B07_the_head_is_reordered_and_the_tail_keeps_its_order() -> None:
    ranked = ranking(1.0, 0.9, 0.8, 0.7, 0.7, 0.1)
    found, diagnostic = await rerank(Told(0.1, 0.0, 0.9), "query", ranked, ["a", "b", "c"])
    assert diagnostic is None
    assert numbers(found) == [1, 3, 2, 4, 5, 6]  # blended: 0.55, 0.45 and 0.25
    assert [candidate.score for candidate in found] == pytest.approx([0.91, 0.89, 0.85, 0.7, 0.7, 0.1])
    assert found[3:] == ranked[3:]


async def test_B07_has_a_say_but_not_the_last_word() -> None:
    ranked = ranking(1.0, 0.95, 0.0)
    found, _ = await rerank(Told(0.4, 1.0, 0.6), "query", ranked, ["a", "b", "c"])
    assert numbers(found) == [2, 1, 3]  # the model prefers 3 to 1; the lanes had hardly found it


async def test_B07_explains_itself() -> None:
    found, _ = await rerank(Told(0.1, 0.9), "query", ranking(1.0, 0.9), ["a", "b"])
    evidence = {candidate.number: candidate.evidence[-1] for candidate in found}
    assert [(evidence[number].lane, evidence[number].rank, evidence[number].score) for number in (1, 2)] == [(LANE, 2, 0.1), (LANE, 1, 0.9)]
    for candidate in found:
        assert sum(one.contribution for one in candidate.evidence) == pytest.approx(candidate.score)


async def test_B07_an_exact_name_stays_first() -> None:
    found, _ = await rerank(Told(0.0, 1.0, 0.5), "query", ranking(1.0, 1.0, 0.4), ["a", "b", "c"], exact=frozenset({1}))
    assert numbers(found) == [1, 2, 3]
    assert found[0].score == 1.0


async def test_B07_a_failure_changes_nothing_and_is_told() -> None:
    ranked = ranking(1.0, 0.8, 0.2)
    found, diagnostic = await rerank(Told(), "query", ranked, ["a", "b"])
    assert found == ranked
    assert diagnostic is not None
    assert diagnostic.code == "rerank_failed"
    assert "out of order" in diagnostic.message


async def test_B07_a_single_candidate_is_not_sent_anywhere() -> None:
    told = Told(0.1)
    assert numbers((await rerank(told, "query", ranking(1.0), ["a"]))[0]) == [1]
    assert await rerank(told, "query", [], []) == ([], None)
    assert not told.read


@given(st.lists(st.tuples(SHARES, SHARES), min_size=1, max_size=10), st.sets(st.integers(1, 10)))
def test_B07_scores_stay_descending_between_the_worst_and_the_best(pairs: list[tuple[float, float]], exact: set[int]) -> None:
    old = sorted((score for score, _ in pairs), reverse=True)
    pinned = frozenset(number for number in exact if number <= len(old) and old[number - 1] == old[0])
    found = blend(ranking(*old), [score for _, score in pairs], pinned)
    assert sorted(numbers(found)) == list(range(1, len(old) + 1))
    assert all(old[-1] <= candidate.score <= old[0] for candidate in found)
    assert all(better.score >= worse.score for better, worse in pairwise(found))
