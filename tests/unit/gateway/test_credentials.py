"""Are credentials kept so that nobody else sees them?"""

from __future__ import annotations

import json
import os
import stat
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import repertory
from repertory.errors import CatalogError, SettingsError
from repertory.gateway.credentials import EVERYONE, Credential, Key, Vault
from repertory.gateway.identity import Identities, login_command
from repertory.model import Filter, SearchRequest
from repertory.sources.serverspec import Identity, Noticed, ServerSpec, Transport, resolve

ALICE = Key("shop", "alice")
ORIGIN = "https://shop.example"
OAUTH = {
    "tokens": {"access_token": "at-hush", "refresh_token": "rt-hush"},
    "client": {"client_id": "c"},
    "metadata": None,
    "resource": None,
}
SHOP = ServerSpec("shop", Transport.HTTP, url=f"{ORIGIN}/mcp", headers={"x-api-key": "${KEY}", "X-Other": "config"})


def test_what_is_kept_comes_back_in_another_process(tmp_path: Path) -> None:
    kept = Credential(ORIGIN, {"X-Api-Key": "hush"}, OAUTH, expires=5.0)
    Vault(tmp_path).put(ALICE, kept)
    assert Vault(tmp_path).get(ALICE) == kept
    assert Vault(tmp_path).get(Key("shop", "bob")) is None
    assert Vault(tmp_path).remove(ALICE)
    assert not Vault(tmp_path).remove(ALICE)
    assert "hush" not in (tmp_path / "credentials.json").read_text()


def test_the_file_is_never_open_to_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    modes: list[int] = []
    replace_file = Path.replace

    def watched(self: Path, target: Path) -> Path:
        modes.append(stat.S_IMODE(self.stat().st_mode))
        return replace_file(self, target)

    monkeypatch.setattr(Path, "replace", watched)
    before = os.umask(0)
    try:
        Vault(tmp_path).put(ALICE, Credential(ORIGIN))
        Vault(tmp_path).put(Key("shop", "bob"), Credential(ORIGIN))
    finally:
        os.umask(before)
    assert modes == [0o600, 0o600]
    assert stat.S_IMODE((tmp_path / "credentials.json").stat().st_mode) == 0o600


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_a_file_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    vault = Vault(tmp_path)
    vault.put(ALICE, Credential(ORIGIN, {"X-Api-Key": "hush"}))
    assert vault.get(ALICE)
    (tmp_path / "credentials.json").chmod(mode)
    for asked in (vault, Vault(tmp_path)):
        with pytest.raises(CatalogError, match=r"can be read by others.*chmod 600"):
            asked.get(ALICE)


@pytest.mark.parametrize(
    "content", ["", "[]", "{", '{"version": 1, "credentials": {"shop": {"alice": {"secret": "hush"}}}}', '{"version": 9}']
)
def test_a_damaged_file_is_told_without_its_content(tmp_path: Path, content: str) -> None:
    (tmp_path / "credentials.json").touch(0o600)
    (tmp_path / "credentials.json").write_text(content)
    with pytest.raises(CatalogError) as caught:
        Vault(tmp_path).all()
    assert "hush" not in str(caught.value)


def test_writers_do_not_lose_each_others_logins(tmp_path: Path) -> None:
    vaults = [Vault(tmp_path), Vault(tmp_path)]
    threads = [threading.Thread(target=vaults[n % 2].put, args=(Key("shop", f"p{n}"), Credential(ORIGIN))) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(Vault(tmp_path).all()) == 12


def test_changes_are_logins_and_logouts_of_any_process_but_no_renewals(tmp_path: Path) -> None:
    serving, other = Vault(tmp_path), Vault(tmp_path)
    before = serving.state()
    credential = Credential(ORIGIN, oauth=OAUTH)
    other.put(ALICE, credential)
    assert serving.state() != before
    assert serving.changes() == {ALICE}
    assert serving.changes() == set()
    serving.renew(ALICE, replace(credential, expires=7.0))
    assert serving.changes() == set()
    other.put(ALICE, Credential(ORIGIN, oauth=OAUTH))
    assert serving.changes() == {ALICE}
    other.remove(ALICE)
    assert serving.changes() == {ALICE}


def test_a_renewal_brings_no_login_back(tmp_path: Path) -> None:
    vault = Vault(tmp_path)
    former = Credential(ORIGIN, oauth=OAUTH)
    vault.put(ALICE, former)
    vault.remove(ALICE)
    vault.renew(ALICE, former)
    assert vault.get(ALICE) is None
    newer = Credential(ORIGIN, {"Authorization": "Bearer newer"})
    vault.put(ALICE, newer)
    vault.renew(ALICE, former)
    assert vault.get(ALICE) == newer


def test_no_secret_is_in_a_repr() -> None:
    credential = Credential(ORIGIN, {"X-Api-Key": "hush"}, OAUTH)
    identity = Identity(credential.headers, noticed=Noticed({"at-hush"}))
    resolved = resolve(replace(SHOP, headers={}), {}).known_by(identity)
    assert "hush" not in repr(credential) + repr(identity) + repr(identity.noticed) + repr(resolved.spec)
    assert resolved.hide("at-hush and hush") == "*** and ***"


async def test_what_is_stored_covers_the_config_from_the_general_to_the_special(tmp_path: Path) -> None:
    vault = Vault(tmp_path)
    resolved = resolve(SHOP, {"KEY": "of-the-config"})

    async def headers() -> tuple[dict[str, str], bool]:
        identity = await Identities(vault).of("alice")(resolved.spec)
        return dict(resolved.known_by(identity).spec.headers), identity.auth is not None

    assert await headers() == ({"x-api-key": "of-the-config", "X-Other": "config"}, False)
    vault.put(Key("shop", EVERYONE), Credential(ORIGIN, {"X-API-KEY": "of-everyone", "X-Tenant": "t"}, OAUTH))
    assert await headers() == ({"X-Other": "config", "X-API-KEY": "of-everyone", "X-Tenant": "t"}, True)
    vault.put(ALICE, Credential(ORIGIN, {"X-Api-Key": "of-alice", "authorization": "Bearer ${KEY}"}))
    assert await headers() == (
        {"X-Other": "config", "X-Tenant": "t", "X-Api-Key": "of-alice", "authorization": "Bearer ${KEY}"},  # nobody fills in what is stored
        False,
    )


def test_who_must_log_in_is_told_what_to_type() -> None:
    commands = [login_command(Key("shop", name)) for name in ("owner", "alice", EVERYONE)]
    assert commands == ["repertory login shop", "repertory login shop --as alice", "repertory login shop --everyone"]


async def test_a_vault_in_a_folder_that_is_added_is_not_indexed(tmp_path: Path) -> None:
    catalog = tmp_path / "catalog"
    Vault(catalog).put(ALICE, Credential(ORIGIN, {"X-Api-Key": "hushhushhush"}, OAUTH))
    (tmp_path / "note.md").write_text("# A note\n\nAbout the shop.\n")
    async with repertory.open(catalog, embedder="none") as rep:
        report = await rep.add(tmp_path)
        entries, _ = await rep.entries(Filter(), limit=1000)
        found = await rep.search(SearchRequest("hushhushhush"))
    assert [entity.id for entity in entries] == [f"doc:{tmp_path.name}/note.md"]
    told = repr(report) + repr(entries) + repr(found.results)
    assert "hush" not in told


# The keyring


@pytest.fixture
def ring(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, str], str]:
    """A keyring in memory."""
    keyring = pytest.importorskip("keyring")
    from keyring.backend import KeyringBackend

    held: dict[tuple[str, str], str] = {}

    class InMemory(KeyringBackend):  # type: ignore[misc,unused-ignore]
        priority: Any = 1

        def get_password(self, service: str, username: str) -> str | None:
            return held.get((service, username))

        def set_password(self, service: str, username: str, password: str) -> None:
            held[service, username] = password

        def delete_password(self, service: str, username: str) -> None:
            del held[service, username]

    monkeypatch.setattr(keyring, "get_keyring", InMemory)
    return held


def test_with_a_keyring_no_secret_is_in_the_file(tmp_path: Path, ring: dict[tuple[str, str], str]) -> None:
    Vault(tmp_path).put(Key("shop", "bob"), Credential(ORIGIN, {"X-Api-Key": "hush-bob"}))  # before the setting was changed
    kept = Credential(ORIGIN, {"X-Api-Key": "hush"}, OAUTH)
    Vault(tmp_path, "keyring").put(ALICE, kept)
    assert "hush" not in (tmp_path / "credentials.json").read_text()
    assert len(ring) == 2
    assert Vault(tmp_path, "keyring").get(ALICE) == kept
    bob = Vault(tmp_path, "keyring").get(Key("shop", "bob"))
    assert bob is not None
    assert bob.headers == {"X-Api-Key": "hush-bob"}
    assert Vault(tmp_path, "keyring").remove(ALICE)
    assert len(ring) == 1
    Vault(tmp_path).put(ALICE, kept)  # and back to the file
    assert json.dumps(kept.headers) in (tmp_path / "credentials.json").read_text()


def test_without_a_keyring_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keyring = pytest.importorskip("keyring")
    from keyring.backends import fail

    monkeypatch.setattr(keyring, "get_keyring", fail.Keyring)
    with pytest.raises(SettingsError, match="no keyring that can be used"):
        Vault(tmp_path, "keyring").put(ALICE, Credential(ORIGIN))
    monkeypatch.setitem(__import__("sys").modules, "keyring", None)
    with pytest.raises(SettingsError, match=r"pip install 'repertory\[keyring\]'"):
        Vault(tmp_path, "keyring").put(ALICE, Credential(ORIGIN))
