"""E09: is a value worked out once, for as long and for as many as promised?"""

from __future__ import annotations

import asyncio

import pytest

from repertory.cache import TimedCache


class Time:
    """A clock that only moves when told."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


class Work:
    """Answers what it was told to, and counts how often it was asked."""

    def __init__(self, answer: str | None = "value") -> None:
        self.answer = answer
        self.error: Exception | None = None
        self.asked = 0

    async def __call__(self) -> str | None:
        self.asked += 1
        await asyncio.sleep(0)
        if self.error:
            raise self.error
        return self.answer


@pytest.fixture
def clock() -> Time:
    return Time()


@pytest.fixture
def cache(clock: Time) -> TimedCache[object, str | None]:
    return TimedCache(size=2, ttl=300.0, clock=clock)


async def test_a_value_is_made_once_for_its_time(cache: TimedCache[object, str | None], clock: Time) -> None:
    work = Work()
    assert [await cache.get("key", work), await cache.get("key", work)] == [("value", True), ("value", False)]
    clock.now += 300
    assert (await cache.get("key", work)).made
    assert work.asked == 2


async def test_none_is_a_value(cache: TimedCache[object, str | None]) -> None:
    work = Work(None)
    assert [await cache.get("key", work), await cache.get("key", work)] == [(None, True), (None, False)]
    assert work.asked == 1


async def test_a_key_is_all_of_its_parts(cache: TimedCache[object, str | None]) -> None:
    work = Work()
    for revision in (1, 2, 2):  # a result cache puts the index revision into its key
        await cache.get((revision, "principal", "request"), work)
    assert work.asked == 2


async def test_the_key_used_longest_ago_is_forgotten_first(cache: TimedCache[object, str | None]) -> None:
    works = {key: Work() for key in "abc"}
    for key in "abacab":
        await cache.get(key, works[key])
    assert {key: work.asked for key, work in works.items()} == {"a": 1, "b": 2, "c": 1}


async def test_one_flight_serves_all_who_wait_and_one_of_them_pays(cache: TimedCache[object, str | None]) -> None:
    work = Work()
    kept = await asyncio.gather(*(cache.get("key", work) for _ in range(5)))
    assert [one.made for one in kept] == [True, False, False, False, False]
    assert work.asked == 1


async def test_a_failure_reaches_all_who_wait_and_is_not_remembered(cache: TimedCache[object, str | None]) -> None:
    work = Work()
    work.error = ValueError("no")
    kept = await asyncio.gather(*(cache.get("key", work) for _ in range(3)), return_exceptions=True)
    assert all(isinstance(one, ValueError) for one in kept)
    work.error = None
    assert (await cache.get("key", work)).value == "value"
    assert work.asked == 2


async def test_a_cache_without_room_still_shares_flights(clock: Time) -> None:
    cache: TimedCache[str, str | None] = TimedCache(size=0, ttl=300.0, clock=clock)
    work = Work()
    await asyncio.gather(cache.get("key", work), cache.get("key", work))
    await cache.get("key", work)
    assert work.asked == 2
