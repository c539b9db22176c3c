"""Does one process at a time own a catalog directory?"""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from repertory.errors import CatalogBusy, CatalogError
from repertory.owner import Owner, Ownership, owner_of

STALE = {"pid": 1, "url": "http://127.0.0.1:9", "token": "old"}


def test_the_owner_says_who_it_is(tmp_path: Path) -> None:
    ownership = Ownership(tmp_path)
    assert owner_of(tmp_path) == Owner(os.getpid())
    ownership.release()


def test_the_directory_is_made(tmp_path: Path) -> None:
    Ownership(tmp_path / "a" / "b").release()
    assert (tmp_path / "a" / "b").is_dir()


def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CatalogError, match=r"/file/catalog cannot be made: Not a directory"):
        Ownership(tmp_path / "file" / "catalog")


def test_a_second_owner_is_refused_and_the_first_is_named(tmp_path: Path) -> None:
    first = Ownership(tmp_path)
    with pytest.raises(CatalogBusy, match=rf"in use by process {os.getpid()}\.") as caught:
        Ownership(tmp_path)
    assert str(tmp_path) in str(caught.value)
    assert owner_of(tmp_path) == Owner(os.getpid())  # the refused one left the note alone
    first.release()


def test_a_refused_owner_hears_where_the_first_serves_but_not_its_token(tmp_path: Path) -> None:
    first = Ownership(tmp_path)
    token = first.announce("http://127.0.0.1:1234")
    with pytest.raises(CatalogBusy, match=r"http://127\.0\.0\.1:1234") as caught:
        Ownership(tmp_path)
    assert token not in str(caught.value)
    first.release()


def test_an_owner_without_a_note_still_owns(tmp_path: Path) -> None:
    first = Ownership(tmp_path)
    (tmp_path / "owner.json").unlink()
    with pytest.raises(CatalogBusy, match="another process"):
        Ownership(tmp_path)
    first.release()


def test_what_is_released_can_be_owned_again(tmp_path: Path) -> None:
    for _ in range(3):
        ownership = Ownership(tmp_path)
        ownership.release()
        assert owner_of(tmp_path) is None


def test_two_directories_have_two_owners(tmp_path: Path) -> None:
    owners = [Ownership(tmp_path / name) for name in ("one", "two")]
    assert owner_of(tmp_path / "one") == owner_of(tmp_path / "two") == Owner(os.getpid())
    for ownership in owners:
        ownership.release()


def test_the_announcement_can_be_read_by_the_owner_only(tmp_path: Path) -> None:
    ownership = Ownership(tmp_path)
    token = ownership.announce("http://127.0.0.1:1234")
    assert owner_of(tmp_path) == Owner(os.getpid(), "http://127.0.0.1:1234", token)
    assert stat.S_IMODE((tmp_path / "owner.json").stat().st_mode) == 0o600
    assert len(token) >= 32
    ownership.release()


def test_the_note_was_never_readable_by_others(tmp_path: Path) -> None:
    # A note left open by an earlier owner, and one left half written, must not lend their mode to the new one.
    for name in ("owner.json", "owner.partial"):
        (tmp_path / name).write_text(json.dumps(STALE))
        (tmp_path / name).chmod(0o644)
    ownership = Ownership(tmp_path)
    assert stat.S_IMODE((tmp_path / "owner.json").stat().st_mode) == 0o600
    assert not (tmp_path / "owner.partial").exists()
    ownership.release()


def test_every_announcement_has_its_own_token(tmp_path: Path) -> None:
    ownership = Ownership(tmp_path)
    assert ownership.announce("http://127.0.0.1:1") != ownership.announce("http://127.0.0.1:1")
    ownership.release()


def test_the_note_of_a_dead_owner_does_not_disturb(tmp_path: Path) -> None:
    (tmp_path / "owner.json").write_text(json.dumps(STALE))
    (tmp_path / "owner.lock").touch()
    assert owner_of(tmp_path) == Owner(**STALE)  # type: ignore[arg-type]
    ownership = Ownership(tmp_path)
    assert owner_of(tmp_path) == Owner(os.getpid())
    ownership.release()


@pytest.mark.parametrize("note", ["", "{", "null", "[]", "{}", '{"pid": 1, "surprise": 2}'])
def test_a_note_that_makes_no_sense_names_nobody(tmp_path: Path, note: str) -> None:
    (tmp_path / "owner.json").write_text(note)
    assert owner_of(tmp_path) is None
    Ownership(tmp_path).release()


def test_where_there_is_no_note_there_is_no_owner(tmp_path: Path) -> None:
    assert owner_of(tmp_path) is None
    assert owner_of(tmp_path / "nowhere") is None
