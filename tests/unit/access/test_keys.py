"""What is an API key, and when does it count?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from repertory.access import Callers, keys
from repertory.access.denials import MOST, WINDOW, Denial, Denials
from repertory.errors import InvalidRequest, NotFound, Unauthorized
from repertory.model import Principal
from repertory.store import Store

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store.at(tmp_path)
    yield opened
    opened.close()


class Clock:
    """A clock that tests turn."""

    now = NOON

    def __call__(self) -> datetime:
        return self.now


def test_a_key_is_long_and_only_its_hash_is_kept() -> None:
    record, token = keys.make(" alice ", ["hr"], ["a.b"], "90d", NOON)
    other = keys.make("alice", (), (), None, NOON)
    assert token != other.token
    assert len(token.split("_", 2)[2]) == 43, "256 bits"
    assert (record.name, record.expires) == ("alice", "2026-07-30T12:00:00+00:00")
    assert token.split("_", 2)[2] not in repr(record)
    assert record.hash not in repr(record)
    assert "hash" not in record.as_json()
    assert keys.proves(token, record, NOON)
    assert not keys.proves(token[:-1] + ("A" if token[-1] != "A" else "B"), record, NOON)
    assert not keys.proves(other.token, record, NOON)
    assert not keys.proves(token, record, NOON + timedelta(days=90))
    assert not keys.proves(token, replace(record, revoked="2026-05-01"), NOON)
    assert keys.principal_of(record) == Principal.known("alice", ["hr"], ["a.b"])


@pytest.mark.parametrize("text", ["", "soon", "90", "0d", "-1d", "1.5d", "9999999d", "999999w", "1y"])
def test_a_time_to_live_that_is_none(text: str) -> None:
    with pytest.raises(InvalidRequest, match="12h, 90d, 52w"):
        keys.lifetime(text)
    assert keys.lifetime("12h") == timedelta(hours=12)


@pytest.mark.parametrize(
    ("name", "groups", "scopes"),
    [
        ("", [], []),
        ("a\n", ["user:bob"], []),
        ("a\x1b[0m", [], []),
        ("x" * 101, [], []),
        ("owner", [], []),
        ("a", [""], []),
        ("a", [], ["b c"]),
    ],
)
def test_what_a_key_cannot_be(name: str, groups: list[str], scopes: list[str]) -> None:
    with pytest.raises(InvalidRequest):
        keys.make(name, groups, scopes, None, NOON)


async def test_callers_are_recognised_until_their_key_ends(store: Store) -> None:
    clock = Clock()
    callers = Callers(store, now=clock)
    assert (callers.policy, callers.can_recognise) == ("open", False)
    assert await callers.recognise(None) == Principal.anyone()
    new = await callers.create_key("alice", ["hr"], [], "1d", Principal())
    assert (callers.policy, callers.can_recognise) == ("required", True)
    with pytest.raises(Unauthorized, match="needs a credential"):
        await callers.recognise(None)
    for written in (f"Bearer {new.token}", f"bearer  {new.token} "):
        assert (await callers.recognise(written)).name == "alice"
    assert [record.last_used for record in await callers.list_keys()] == ["2026-05-01T12:00:00+00:00"]
    again = Callers(store, now=clock)
    assert (await again.recognise(f"Bearer {new.token}")).name == "alice", "the store remembers it"
    clock.now += timedelta(days=1)
    with pytest.raises(Unauthorized, match="expired"):
        await callers.recognise(f"Bearer {new.token}")
    await callers.revoke_key(new.record.id, Principal())
    assert (callers.policy, callers.can_recognise) == ("required", False), "it does not open up because the last key ended"
    with pytest.raises(NotFound):
        await callers.revoke_key(new.record.id, Principal())
    assert Callers(store, policy="open").policy == "open"


async def test_the_owner_is_known_by_the_token_of_the_directory(store: Store) -> None:
    callers = Callers(store)
    with pytest.raises(Unauthorized):
        await callers.recognise("Bearer secret")
    callers.accept_owner("secret")
    assert (await callers.recognise("Bearer secret")).is_owner
    for wrong in ("Bearer secre", "Bearer Secret", "secret", "Basic secret", "Bearer", "", "Bearer \xff"):
        with pytest.raises(Unauthorized):
            await callers.recognise(wrong)


def test_a_flood_of_denials_is_a_few_lines(store: Store) -> None:
    now = [0.0]
    denials = Denials(store, clock=lambda: now[0])
    for _ in range(1000):
        denials.note(Denial("anyone", "access.unauthorized", "/api/keys"))
    assert [event.detail for event in store.events(limit=10)] == [{"attempts": 1}]
    now[0] += WINDOW
    denials.note(Denial("anyone", "access.unauthorized", "/api/keys"))
    assert [event.detail for event in store.events(limit=10)] == [{"attempts": 1}, {"attempts": 999}, {"attempts": 1}]
    for number in range(MOST * 3):
        denials.note(Denial(f"made-up-{number}", "access.forbidden", "/"))
    denials.flush()
    assert len(store.events(limit=10_000)) <= 3 + MOST + 2
    assert sum(event.detail["attempts"] for event in store.events(limit=10_000)) == 1001 + MOST * 3


def test_old_events_are_forgotten(store: Store) -> None:
    store.record("ann", "x.y", "z")
    assert store.forget_events(datetime.now(UTC) - timedelta(days=1)) == 0
    assert store.forget_events(datetime.now(UTC) + timedelta(days=1)) == 1
    assert store.events(limit=10) == []
