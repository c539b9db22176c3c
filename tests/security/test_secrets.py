"""Does a credential stay where it is, whatever a server does with it?"""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

import repertory
from repertory.errors import LoginRequired, UpstreamError
from repertory.gateway.credentials import EVERYONE, Credential, Key, Vault
from repertory.model import Principal
from tests.surfaces.test_credentials import add, free_port, started

ANYONE = Principal.anyone()


async def test_a_server_that_quotes_credentials_in_its_errors_is_not_quoted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="repertory")
    port = free_port()
    with started("tests.security.telltale", str(port)):
        catalog = add(tmp_path, "telltale", port)
        origin = f"http://127.0.0.1:{port}"
        async with repertory.open(catalog, embedder="none") as rep:
            Vault(catalog).put(Key("telltale", EVERYONE), Credential(origin, {"Authorization": "Bearer hush-hush"}))
            with pytest.raises(UpstreamError, match=r"I do not like \*\*\*") as told:
                await rep.call("telltale/confess", {}, ANYONE)
            assert "hush" not in repr(told.value) + str(told.value.answer)
            tokens = {"tokens": {"access_token": "hush-token"}, "client": {}, "metadata": None, "resource": None}
            Vault(catalog).put(Key("telltale", EVERYONE), Credential(origin, oauth=tokens))
            with pytest.raises(UpstreamError, match=r"I do not like Bearer \*\*\*") as told:
                await rep.call("telltale/confess", {}, ANYONE)
            assert "hush" not in repr(told.value) + str(told.value.answer)
            Vault(catalog).put(Key("telltale", EVERYONE), Credential(origin, {"Authorization": "Bearer unwanted-hush"}))
            with pytest.raises(LoginRequired, match="repertory login telltale --as anyone") as told:
                await rep.call("telltale/confess", {}, ANYONE)
            assert "hush" not in repr(told.value) + str(told.value.answer)
    assert "hush" not in caplog.text
