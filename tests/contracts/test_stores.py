"""Does the truth behave alike in SQLite and in PostgreSQL?"""

from __future__ import annotations

import contextlib
import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import text
from tests.catalogs import note, server, tool
from tests.postgres import Server

from repertory.errors import CatalogError, CatalogFormat, CatalogUnavailable
from repertory.graph.derive import MAY_USE
from repertory.indexes.features import dimension
from repertory.ingest.difference import diff_documents
from repertory.model import Entity, Filter, Kind, Link, content_digest
from repertory.store import Call, Changes, KeyRecord, Override, Pairing, Pin, SourceState, Store, Turn, copy_store

NOW = datetime(2026, 5, 1, tzinfo=UTC)
EVERYTHING = Filter()


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'catalog.db'}"
    started: Server = request.getfixturevalue("postgres_server")
    return started.database()


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with closing(Store(url)) as opened:
        yield opened


def put(store: Store, *entities: Entity, source: str = "tools", **more: object) -> int:
    changes = Changes(f"add {source}", source, put_entities=[(one, content_digest(str(one))) for one in entities])
    for name, value in more.items():
        setattr(changes, name, value)
    diff_documents(changes, store, {})
    return store.write(changes)


def test_what_searches_look_up_is_never_older_than_the_last_write(store: Store) -> None:
    put(store, tool("mail/send", "Sends a letter"))
    (number,) = store.references(None)
    assert store.entities_of([number])["tool:mail/send"].description == "Sends a letter"
    store.write(Changes("word it", "tools", put_entities=[(tool("mail/send", "Posts a letter"), "x")]))  # its document stays the same
    assert store.entities_of([number])["tool:mail/send"].description == "Posts a letter"
    store.write(Changes("remove", "tools", remove_entities=["tool:mail/send"]))
    assert (store.entities_of([number]), store.frequencies([dimension("letter")])) == ({}, {})


def test_what_another_process_wrote_is_looked_up_at_once(postgres_server: Server) -> None:
    url = postgres_server.database()
    with closing(Store(url)) as one, closing(Store(url)) as other:
        put(one, tool("mail/send", "Sends a letter"))
        (number,) = other.references(None)
        assert other.entities_of([number])["tool:mail/send"].description == "Sends a letter"
        assert other.frequencies([dimension("letter")]) == {dimension("letter"): 1}
        one.write(Changes("word it", "tools", put_entities=[(tool("mail/send", "Posts a letter"), "x")]))
        put(one, tool("mail/read", "Reads a letter"))
        assert other.entities_of([number])["tool:mail/send"].description == "Posts a letter"
        assert other.frequencies([dimension("letter")]) == {dimension("letter"): 2}


def test_what_is_put_is_there_and_what_is_removed_is_gone(store: Store) -> None:
    assert put(store, tool("mail/send", "Sends a letter"), tool("mail/read", "Reads a letter"), note("Züge.md", "Der Zug", "Die Züge")) == 1
    listed, total = store.list_entities(EVERYTHING, limit=2, offset=1)
    assert ([one.id for one in listed], total) == (["tool:mail/read", "doc:Züge.md"], 3)
    assert [one.id for one in store.find("send", EVERYTHING)] == ["tool:mail/send"]
    assert store.frequencies([dimension("letter"), dimension("nothing")]) == {dimension("letter"): 2}
    assert store.words()["letter"] == 2
    assert put(store, tool("mail/send", "Sends a parcel")) == 2
    assert store.frequencies([dimension("letter")]) == {dimension("letter"): 1}
    assert [one.id for one in store.every_entity(EVERYTHING)] == ["tool:mail/send", "tool:mail/read", "doc:Züge.md"]  # it keeps its place
    store.write(Changes("remove", "tools", remove_entities=["tool:mail/read", "doc:Züge.md"]))
    assert {number for number, _, _ in store.haystacks(EVERYTHING)} == {5}  # numbers are never used twice
    assert "letter" not in store.words()
    assert store.revision() == 3


def test_the_outbox_tells_what_came_and_went_in_order(store: Store) -> None:
    put(store, tool("a/one", "first"), tool("a/two", "second"))
    put(store, tool("a/one", "other"))
    assert store.outbox(0, 10) == [(1, 1, False), (2, 2, False), (3, 1, True), (4, 3, False)]
    assert store.outbox(2, 1) == [(3, 1, True)]
    assert (store.snapshot().position, store.snapshot().revision) == (4, 2)
    store.trim_outbox(3)
    assert store.oldest_outbox() == 4


def test_a_snapshot_counts_and_knows_what_is_broken(store: Store) -> None:
    put(store, tool("a/one", "first aid"), tool("a/GPT4", "x2"))
    store.put_source("tools", "/somewhere")
    assert store.mark_source("tools", error="away") is True
    snapshot = store.snapshot()
    assert (sum(snapshot.counts.values()), snapshot.broken) == (2, frozenset({"tools"}))
    assert snapshot.mean_length > 0
    assert store.mark_source("tools") is True
    (known,) = store.sources()
    assert (known.state, known.entries, known.live, known.error) == (SourceState.OK, 2, False, "")
    store.put_mark("tools", "here")
    store.put_mark("tools", "there")
    assert store.mark("tools") == "there"
    store.drop_source("tools")
    assert (store.sources(), store.mark("tools")) == ([], None)


def test_vectors_are_kept_to_the_bit(store: Store) -> None:
    put(store, tool("a/one", "first"), tool("b/one", "second"))
    waiting = store.pending("model", 0, 10)
    vectors = {digest: np.random.default_rng(1).standard_normal(8).astype(np.float32) for _, digest, _ in waiting}
    assert sorted(store.add_embeddings("model", vectors)) == [1, 2]
    assert (store.count_pending("model"), store.count_pending("other"), store.count_texts()) == (0, 2, 2)
    assert all(np.array_equal(kept, vectors[digest]) for digest, kept in store.kept_vectors("model", list(vectors)).items())
    assert [record.number for record in store.documents("model") if record.vector is not None] == [1, 2]
    assert store.prune_embeddings({"other"}) == 2
    assert [vector for _, _, vector in store.vectors("model", [1, 2])] == [None, None]


def test_the_graph_is_walked_alike(store: Store) -> None:
    links = (Link("tool:mail/send", "uses"), Link("word:letter", "about"))
    one = Entity(Kind.SKILL, "post", "post", "Posts letters", links=links)
    put(store, tool("mail/send", "Sends"), server("mail", "Mail"), one, tool("ähnlich/send", "Sendet"))
    assert ("skill:post", "uses", "tool:mail/send") in store.neighbours(["tool:mail/send"], EVERYTHING)
    assert store.edges_of(["skill:post"], EVERYTHING, (MAY_USE,))
    assert store.all_edges(EVERYTHING, nodes=False, limit=10)
    assert store.node_words() == sorted(store.node_words())


def test_names_are_ordered_by_their_code_points(store: Store) -> None:
    for name in ("b", "a", "B", "ä", "_", "Z", "z", "é", "漢"):
        store.put_source(name, f"/{name}")
    assert [source.name for source in store.sources()] == sorted(["b", "a", "B", "ä", "_", "Z", "z", "é", "漢"])


def test_thousands_are_looked_up_at_once(store: Store) -> None:
    put(store, *(tool(f"many/tool{n}", f"does {n}") for n in range(1200)))
    numbers = list(range(1, 1201))
    assert len(store.references(numbers)) == len(store.fields(numbers)) == len(store.references(None)) == 1200
    assert len(store.owners([f"tool:many/tool{n}" for n in range(1200)])) == 1200
    assert len(store.entities_of(numbers)) == 1200


def test_decisions_pins_and_what_they_say_are_kept(store: Store) -> None:
    one = tool("mail/send", "Sends", modified=NOW)
    pin = Pin("tool:mail/send", "tools", "digest", "body", {"name": "send"}, approved_by="ann")
    put(
        store,
        one,
        put_overrides=[Override(one.id, {"enabled": False}, replace(one, description="Was")), Override("tool:x", {}, None)],
        pins=[pin],
    )
    assert store.overrides() == {one.id: {"enabled": False}}
    assert store.originals([one.id])[one.id].description == "Was"
    assert store.pins([one.id]) == {one.id: pin}
    assert store.modified([one.id]) == {one.id: NOW}


def test_people_are_remembered(store: Store) -> None:
    key = KeyRecord("0123456789ab", "ann", "hash", frozenset({"hr"}), frozenset({"admin"}), NOW.isoformat())
    store.put_key(key, "owner")
    store.mark_keys({key.id: NOW.isoformat()})
    assert store.revoke_key(key.id, NOW.isoformat(), "owner") is True
    assert store.revoke_key(key.id, NOW.isoformat(), "owner") is False
    (kept,) = store.api_keys()
    assert (kept.groups, kept.last_used, kept.revoked) == (key.groups, NOW.isoformat(), NOW.isoformat())
    store.record("ann", "key.use", key.id, {"Grüße": 1})
    assert [event.action for event in store.events(limit=10)] == ["key.use", "key.revoke", "key.create"]
    assert store.forget_events(datetime.now(UTC) + timedelta(days=1)) == 3
    store.note_calls([Call("ann", "tool:a", NOW.isoformat(), 1.5, "ok"), Call("bob", "search", NOW.isoformat(), 2.0, "ok", 3, 1)])
    assert [(call.who, call.exposed) for call in store.calls(limit=10)] == [("bob", 3), ("ann", None)]
    store.put_pairings([Pairing(frozenset({7, 2**32 - 1}), "tool:a", 1.0, 2.0)])
    assert store.pairings() == [Pairing(frozenset({7, 2**32 - 1}), "tool:a", 1.0, 2.0)]


def test_several_writers_take_no_number_twice(postgres_server: Server) -> None:
    """Each with a store of its own, as processes have it."""
    url = postgres_server.database()
    stores = [Store(url) for _ in range(4)]
    begun = threading.Barrier(len(stores))

    def write(position: int) -> None:
        begun.wait()
        for step in range(10):
            put(stores[position], tool(f"s{position}/tool{step}", f"Sends letters {position} {step}"), source=f"s{position}")

    with ThreadPoolExecutor() as workers:
        for done in [workers.submit(write, position) for position in range(len(stores))]:
            done.result()
    assert stores[0].revision() == 40
    assert sorted(line[0] for line in stores[0].outbox(0, 100)) == list(range(1, 41))
    assert stores[0].words()["letters"] == 40
    assert len({one.id for one in stores[0].every_entity(EVERYTHING)}) == 40
    assert len({other.identity() for other in stores}) == 1
    for other in stores:
        other.close()


def test_a_copy_is_a_catalog_directory_without_people(store: Store, tmp_path: Path) -> None:
    put(store, tool("mail/send", "Sends a letter"))
    store.put_key(KeyRecord("0123456789ab", "ann", "hash", frozenset(), frozenset(), NOW.isoformat()), "owner")
    store.identity()
    with store.turn():
        copy_store(store, tmp_path / "copy", with_keys=False)
    assert [file.name for file in (tmp_path / "copy").iterdir()] == ["catalog.db"]
    with closing(Store.at(tmp_path / "copy")) as copy:
        assert [one.id for one in copy.every_entity(EVERYTHING)] == ["tool:mail/send"]
        assert (copy.words(), copy.revision(), copy.outbox(0, 9)) == (store.words(), store.revision(), store.outbox(0, 9))
        assert (copy.api_keys(), copy.events(limit=9), copy.fact("catalog"), copy.fact("turn")) == ([], [], None, None)
    with store.turn():
        copy_store(store, tmp_path / "all", with_keys=True)
    with closing(Store.at(tmp_path / "all")) as copy:
        assert (len(copy.api_keys()), len(copy.events(limit=9))) == (1, 1)


def test_a_format_of_another_version_is_refused(url: str) -> None:
    with closing(Store(url)) as store, store._begin() as connection:
        connection.execute(text("UPDATE facts SET value = '99' WHERE name = 'format'"))
    with pytest.raises(CatalogFormat, match="has format 99"):
        Store(url)


def test_one_process_has_the_turn_at_a_time(postgres_server: Server) -> None:
    url = postgres_server.database()
    with closing(Store(url)) as one, closing(Store(url)) as other:
        with one.turn() as first:
            assert first is Turn.AFTER_OTHERS
            with other.turn(wait=False) as second:
                assert second is Turn.TAKEN
        with one.turn() as again:
            assert again is Turn.AGAIN
        with other.turn() as second:
            assert second is Turn.AFTER_OTHERS
        with contextlib.suppress(ZeroDivisionError), one.turn():
            put(one, tool("a/one", "first"))
            1 / 0  # noqa: B018 - whatever goes wrong, the turn ends
        with other.turn(wait=False) as second:
            assert second is Turn.AFTER_OTHERS


def test_who_loses_the_turn_cannot_write(postgres_server: Server) -> None:
    url = postgres_server.database()
    cut = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND pid != pg_backend_pid()"
    with closing(Store(url)) as one, closing(Store(url)) as other:
        with one.turn():
            put(one, tool("a/one", "first"))
            with other._engine.begin() as connection:
                connection.execute(text(cut))
            with other.turn():
                put(other, tool("b/one", "second"))
            with pytest.raises(CatalogUnavailable, match="does not answer"):
                put(one, tool("a/two", "third"))
        assert [entity.id for entity in one.every_entity(EVERYTHING)] == ["tool:a/one", "tool:b/one"]


def test_a_key_that_postgresql_cannot_index_is_refused(postgres_server: Server) -> None:
    dice = random.Random(1)
    endless = "".join(chr(dice.randrange(0x4E00, 0x9FFF)) for _ in range(3000))  # that cannot be compressed
    with closing(Store(postgres_server.database())) as store:
        with pytest.raises(CatalogError, match="does not take this: index row"):
            put(store, tool(f"a/{endless}", "first"))
        assert put(store, tool("a/one", "first")) == 1


def test_a_character_that_postgresql_has_not_is_refused(postgres_server: Server) -> None:
    with closing(Store(postgres_server.database())) as store:
        with pytest.raises(CatalogError, match=r"does not take this: .*NUL"):
            put(store, tool("a/one", "first\x00second"))
        assert put(store, tool("a/one", "first")) == 1


def test_others_hear_of_a_write(postgres_server: Server) -> None:
    url = postgres_server.database()
    with closing(Store(url)) as one, closing(Store(url)) as other:
        heard = threading.Semaphore(0)
        with other.hearing(lambda: heard.release()):
            assert heard.acquire(timeout=10)  # at first, for what was written before
            before = one.revision()
            put(one, tool("a/one", "first"))
            assert heard.acquire(timeout=10)
            assert other.revision() == before + 1
