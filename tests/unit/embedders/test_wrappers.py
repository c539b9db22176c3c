from __future__ import annotations

import asyncio
import gc
from collections.abc import Sequence

import numpy as np
import pytest

from repertory.embedders.base import Embedder, Embeddings
from repertory.embedders.wrappers import Cached, Guarded
from repertory.errors import EmbedderError


class Time:
    """A clock that only moves when told."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Moody:
    """An embedder that works, fails or hangs as told, and counts what it is asked."""

    model = "moody"
    dimensions = 2
    batch = 8

    def __init__(self) -> None:
        self.mood = "well"
        self.asked: list[str] = []
        self.waiting = asyncio.Event()
        self.closed = asyncio.Event()

    async def embed_documents(self, texts: Sequence[str]) -> Embeddings:
        await self.embed_query("documents")
        return Embeddings(np.ones((len(texts), 2), np.float32), len(texts))

    async def embed_query(self, text: str) -> Embeddings:
        self.asked.append(text)
        if self.mood == "hangs":
            await self.waiting.wait()
        if self.mood == "fails":
            raise EmbedderError("The model is out of order.")
        return Embeddings(np.array([[len(text), 1.0]], np.float32), len(text))

    async def close(self) -> None:
        self.closed.set()


@pytest.fixture
def clock() -> Time:
    return Time()


@pytest.fixture
async def moody() -> Moody:
    return Moody()


@pytest.fixture
def guarded(moody: Moody, clock: Time) -> Guarded:
    return Guarded(moody, pause=30.0, timeout=0.05, document_timeout=0.2, clock=clock)


@pytest.fixture
def cached(moody: Moody, clock: Time) -> Cached:
    return Cached(moody, size=2, ttl=900.0, clock=clock)


async def break_it(guarded: Guarded, moody: Moody) -> None:
    moody.mood = "fails"
    with pytest.raises(EmbedderError, match=r"out of order\. It will be tried again in 30 s"):
        await guarded.embed_query("first")
    moody.asked.clear()


async def test_wrappers_are_embedders_and_close_what_they_wrap(moody: Moody) -> None:
    wrapped: Embedder = Cached(Guarded(moody))
    assert (wrapped.model, wrapped.dimensions) == ("moody", 2)
    assert (await wrapped.embed_documents(["a", "b"])).tokens == 2
    await wrapped.close()
    assert moody.closed.is_set()


async def test_after_a_failure_calls_fail_at_once_and_say_when_it_is_tried_again(guarded: Guarded, moody: Moody, clock: Time) -> None:
    await break_it(guarded, moody)
    clock.now += 10
    with pytest.raises(EmbedderError, match=r"tried again in 20\.0 s\. The model is out of order"):
        await guarded.embed_query("second")
    with pytest.raises(EmbedderError, match=r"20\.0 s"):
        await guarded.embed_documents(["second"])
    assert not moody.asked


async def test_after_the_pause_a_success_closes_the_breaker(guarded: Guarded, moody: Moody, clock: Time) -> None:
    await break_it(guarded, moody)
    moody.mood = "well"
    clock.now += 30
    assert (await guarded.embed_query("trial")).tokens == 5
    assert (await guarded.embed_query("after")).tokens == 5
    assert moody.asked == ["trial", "after"]


async def test_a_trial_that_fails_starts_the_next_pause(guarded: Guarded, moody: Moody, clock: Time) -> None:
    await break_it(guarded, moody)
    for _ in range(3):
        clock.now += 30
        with pytest.raises(EmbedderError, match="out of order"):
            await guarded.embed_query("trial")
        with pytest.raises(EmbedderError, match=r"tried again in 30\.0 s"):
            await guarded.embed_query("too early")
    assert moody.asked == ["trial"] * 3


async def test_only_one_query_is_the_trial(moody: Moody, clock: Time) -> None:
    guarded = Guarded(moody, clock=clock)
    await break_it(guarded, moody)
    moody.mood = "hangs"
    clock.now += 30
    trial = asyncio.create_task(guarded.embed_query("trial"))
    await asyncio.sleep(0)
    with pytest.raises(EmbedderError, match="tried again"):
        await guarded.embed_query("beside it")
    moody.waiting.set()
    await trial
    assert (await guarded.embed_query("after")).tokens == 5
    assert moody.asked == ["trial", "after"]


async def test_a_trial_whose_caller_leaves_lets_the_next_query_try(moody: Moody, clock: Time) -> None:
    guarded = Guarded(moody, clock=clock)
    await break_it(guarded, moody)
    moody.mood = "hangs"
    clock.now += 30
    trial = asyncio.create_task(guarded.embed_query("trial"))
    await asyncio.sleep(0)
    trial.cancel()
    with pytest.raises(asyncio.CancelledError):
        await trial
    moody.mood = "well"
    assert (await guarded.embed_query("next")).tokens == 4


async def test_a_query_that_takes_too_long_opens_the_breaker(guarded: Guarded, moody: Moody, clock: Time) -> None:
    moody.mood = "hangs"
    with pytest.raises(EmbedderError, match=r"did not answer in 0\.05 s.*tried again in 30 s"):
        await guarded.embed_query("slow")
    with pytest.raises(EmbedderError, match=r"rests after a failure.*did not answer in 0\.05 s"):
        await guarded.embed_query("second")
    assert moody.asked == ["slow"]
    moody.mood = "well"
    clock.now += 30
    await guarded.embed_query("trial")


async def test_a_caller_who_leaves_does_not_open_the_breaker(moody: Moody, clock: Time) -> None:
    guarded = Guarded(moody, clock=clock)
    moody.mood = "hangs"
    call = asyncio.create_task(guarded.embed_query("left"))
    await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    moody.mood = "well"
    await guarded.embed_query("next")


async def test_documents_may_take_longer_than_a_query_and_do_not_move_the_breaker(guarded: Guarded, moody: Moody) -> None:
    moody.mood = "hangs"
    asyncio.get_running_loop().call_later(0.1, moody.waiting.set)  # twice the time a query has
    assert (await guarded.embed_documents(["a", "b", "c"])).tokens == 3
    moody.waiting.clear()
    with pytest.raises(EmbedderError, match=r"did not finish 1 documents in 0\.2 s"):
        await guarded.embed_documents(["a"])
    moody.mood = "fails"
    with pytest.raises(EmbedderError, match="out of order"):
        await guarded.embed_documents(["a"])
    moody.mood = "well"
    await guarded.embed_query("still asked")


async def test_documents_are_let_through_after_the_pause_without_a_query(guarded: Guarded, moody: Moody, clock: Time) -> None:
    await break_it(guarded, moody)
    moody.mood = "well"
    clock.now += 30
    assert (await guarded.embed_documents(["a"])).tokens == 1


async def test_a_repeated_query_costs_no_second_call_and_no_tokens(cached: Cached, moody: Moody) -> None:
    first, second = await cached.embed_query("same"), await cached.embed_query("same")
    assert (first.tokens, second.tokens) == (4, 0)
    np.testing.assert_array_equal(first.vectors, second.vectors)
    assert moody.asked == ["same"]


async def test_an_answer_is_remembered_for_its_time_and_no_longer(cached: Cached, moody: Moody, clock: Time) -> None:
    await cached.embed_query("same")
    clock.now += 899.9
    assert (await cached.embed_query("same")).tokens == 0
    clock.now += 0.1
    assert (await cached.embed_query("same")).tokens == 4
    assert moody.asked == ["same", "same"]


async def test_the_query_used_longest_ago_is_forgotten_first(cached: Cached, moody: Moody) -> None:
    for text in ("a", "b", "a", "c", "a", "b"):  # room for two: c displaces b, then b displaces c
        await cached.embed_query(text)
    assert moody.asked == ["a", "b", "c", "b"]


async def test_equal_queries_at_once_cost_one_call_and_are_counted_once(cached: Cached, moody: Moody) -> None:
    answers = await asyncio.gather(*(cached.embed_query("same") for _ in range(5)), cached.embed_query("other"))
    assert [answer.tokens for answer in answers] == [4, 0, 0, 0, 0, 5]
    assert sorted(moody.asked) == ["other", "same"]


async def test_a_caller_who_leaves_does_not_take_the_answer_from_the_others(cached: Cached, moody: Moody) -> None:
    moody.mood = "hangs"
    calls = [asyncio.create_task(cached.embed_query("same")) for _ in range(3)]
    await asyncio.sleep(0)
    calls[0].cancel()
    moody.waiting.set()
    answers = await asyncio.gather(*calls, return_exceptions=True)
    assert isinstance(answers[0], asyncio.CancelledError)
    assert all(isinstance(answer, Embeddings) for answer in answers[1:])
    assert moody.asked == ["same"]


async def test_failures_reach_every_waiting_caller_and_are_not_remembered(cached: Cached, moody: Moody) -> None:
    moody.mood = "fails"
    answers = await asyncio.gather(*(cached.embed_query("same") for _ in range(3)), return_exceptions=True)
    assert all(isinstance(answer, EmbedderError) for answer in answers)
    moody.mood = "well"
    assert (await cached.embed_query("same")).tokens == 4
    assert moody.asked == ["same", "same"]


async def test_a_failure_that_nobody_waits_for_is_quiet(cached: Cached, moody: Moody) -> None:
    complaints: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: complaints.append(context))
    moody.mood = "hangs"
    call = asyncio.create_task(cached.embed_query("same"))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    call.cancel()
    moody.mood = "fails"
    moody.waiting.set()
    for _ in range(5):
        await asyncio.sleep(0)
    del call
    gc.collect()
    assert moody.asked == ["same"]
    assert not complaints


async def test_close_waits_for_a_query_that_is_under_way(cached: Cached, moody: Moody) -> None:
    moody.mood = "hangs"
    call = asyncio.create_task(cached.embed_query("same"))
    await asyncio.sleep(0)
    closing = asyncio.create_task(cached.close())
    await asyncio.sleep(0.01)
    assert not moody.closed.is_set()
    moody.waiting.set()
    await closing
    assert moody.closed.is_set()
    assert (await call).tokens == 4


async def test_a_shared_vector_cannot_be_changed(cached: Cached) -> None:
    answer = await cached.embed_query("same")
    with pytest.raises(ValueError, match="read-only"):
        answer.vectors[0, 0] = 7.0


async def test_documents_pass_the_cache_by(cached: Cached, moody: Moody) -> None:
    for _ in range(2):
        assert (await cached.embed_documents(["a"])).tokens == 1
    assert len(moody.asked) == 2


async def test_a_cached_query_is_answered_while_the_breaker_is_open(moody: Moody, clock: Time) -> None:
    embedder = Cached(Guarded(moody, clock=clock), clock=clock)
    await embedder.embed_query("known")
    moody.mood = "fails"
    with pytest.raises(EmbedderError):
        await embedder.embed_query("unknown")
    assert (await embedder.embed_query("known")).tokens == 0
