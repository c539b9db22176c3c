"""Does everybody reach a server as themselves, and only as themselves?"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

import repertory
from repertory.errors import LoginRequired
from repertory.gateway.credentials import EVERYONE, Credential, Key, Vault
from repertory.model import Principal
from tests.conftest import ROOT
from tests.surfaces.programs import PATIENCE, Ran, _command, _environment, run, run_in, serving

NO_MODEL = {"REPERTORY_EMBEDDER": "none", "REPERTORY_REFRESH_MINUTES": "0"}
ALICE = Principal("alice", frozenset({"public"}))
BOB = Principal("bob", frozenset({"public"}))
LIFETIME = 2  # seconds of a token


@contextlib.contextmanager
def started(module: str, *arguments: str) -> Iterator[None]:
    """A server at the port that its last but one or last argument names, until the block ends."""
    port = next(int(argument) for argument in arguments if argument.isdecimal() and int(argument) > 1024)
    with subprocess.Popen([sys.executable, "-m", module, *arguments], cwd=ROOT, stderr=subprocess.DEVNULL) as process:
        try:
            until = time.monotonic() + PATIENCE
            while time.monotonic() < until:
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.2):
                    break
                time.sleep(0.05)
            yield
        finally:
            process.kill()


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def add(directory: Path, name: str, port: int, **more: Any) -> Path:
    """A catalog that knows one server over HTTP."""
    (directory / "mcp.json").write_text(json.dumps({"mcpServers": {name: {"url": f"http://127.0.0.1:{port}/mcp", **more}}}))
    ran = run("add", directory / "mcp.json", catalog=directory / "catalog", **NO_MODEL)
    assert ran.code == 0, ran.err
    return directory / "catalog"


def log_in(catalog: Path, *arguments: str, follow: bool = True) -> Ran:
    """`repertory login`, with a browser that follows where it is sent."""
    with tempfile.TemporaryDirectory() as elsewhere:
        process = subprocess.Popen(
            _command(("login", *arguments, "--no-browser"), catalog),
            env=_environment(NO_MODEL),
            cwd=elsewhere,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        assert process.stderr is not None
        said = ""
        while line := process.stderr.readline():
            said += line
            if line.startswith("http") and follow:
                at = re.search(r"redirect_uri=http%3A%2F%2F127.0.0.1%3A(\d+)", line)
                assert at is not None
                knock = httpx2.get(f"http://127.0.0.1:{at[1]}/callback?code=x&state=wrong", trust_env=False)
                assert knock.status_code == 400  # another page on this machine cannot break the login off
                page = httpx2.get(line.strip(), follow_redirects=True, trust_env=False)
                assert "You can close this window" in page.text
        out, err = process.communicate(timeout=PATIENCE)
        return Ran(process.returncode, out, said + err)


@pytest.fixture(scope="module")
def lodge() -> Iterator[int]:
    """A server that wants a login, at its port."""
    port = free_port()
    with started("tests.lodge", str(port), str(LIFETIME)):
        yield port


def counts(port: int) -> dict[str, int]:
    return dict(httpx2.get(f"http://127.0.0.1:{port}/counts", trust_env=False).json())


async def guest(rep: repertory.Repertory, principal: Principal) -> str:
    return str((await rep.call("lodge/guest", {}, principal))["structuredContent"]["guest"])


async def test_oauth_from_the_first_login_to_a_revoked_one(lodge: int, tmp_path: Path) -> None:
    catalog = add(tmp_path, "lodge", lodge)
    sources = run("sources", "--json", catalog=catalog, **NO_MODEL).answer["sources"]
    assert "repertory login lodge" in sources[0]["error"]  # it does not even tell its tools

    ran = log_in(catalog, "lodge")
    assert ran.code == 0, ran.err
    assert stat.S_IMODE((catalog / "credentials.json").stat().st_mode) == 0o600
    time.sleep(LIFETIME + 0.5)  # so that another process finds a token that has expired
    logins = counts(lodge)["logins"]
    added = run("add", tmp_path / "mcp.json", "--json", catalog=catalog, **NO_MODEL)
    assert added.answer["added"] == 2, added.out
    assert counts(lodge)["logins"] == logins  # it was renewed, without anybody
    refreshes = counts(lodge)["refreshes"]
    assert refreshes == 1

    async with repertory.open(catalog, embedder="none") as rep:
        me = await guest(rep, Principal())
        assert me.startswith("guest")
        with pytest.raises(LoginRequired, match="The server 'lodge' wants you to log in: run `repertory login lodge --as alice`"):
            await guest(rep, ALICE)
        time.sleep(LIFETIME + 0.5)
        before = counts(lodge)["refreshes"]
        assert set(await asyncio.gather(*(guest(rep, Principal()) for _ in range(20)))) == {me}
        assert counts(lodge)["refreshes"] == before + 1  # one flight for all of them

        assert log_in(catalog, "lodge", "--as", "alice").code == 0  # while this process has the catalog open
        alice = await guest(rep, ALICE)
        assert alice not in ("None", me)
        assert {await guest(rep, who) for who in (Principal(), ALICE, Principal(), ALICE)} == {me, alice}

        httpx2.post(f"http://127.0.0.1:{lodge}/revoke", trust_env=False)
        assert await guest(rep, ALICE) == alice  # only the token had been taken away
        httpx2.post(f"http://127.0.0.1:{lodge}/revoke?all", trust_env=False)
        for _ in range(2):
            started = time.monotonic()
            with pytest.raises(LoginRequired, match="wants you to log in"):
                await guest(rep, ALICE)
            assert time.monotonic() - started < 3
