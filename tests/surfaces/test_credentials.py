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
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

import repertory
from repertory.errors import LoginRequired, UpstreamError
from repertory.gateway.credentials import Credential, Key, Vault
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


def tell(port: int, what: str) -> None:
    assert httpx2.post(f"http://127.0.0.1:{port}/{what}", trust_env=False).status_code == 200


async def guest(rep: repertory.Repertory, principal: Principal) -> str:
    return str((await rep.call("lodge/guest", {}, principal))["structuredContent"]["guest"])


async def test_oauth_from_the_first_login_to_a_revoked_one(lodge: int, tmp_path: Path) -> None:
    catalog = add(tmp_path, "lodge", lodge)
    sources = run("sources", "--json", catalog=catalog, **NO_MODEL).answer["sources"]
    assert "repertory login lodge" in sources[0]["error"]  # it does not even tell its tools

    ran = log_in(catalog, "lodge")
    assert ran.code == 0, ran.err
    assert stat.S_IMODE((catalog / "credentials.json").stat().st_mode) == 0o600
    await asyncio.sleep(LIFETIME + 0.5)  # so that another process finds a token that has expired
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
        await asyncio.sleep(LIFETIME + 0.5)
        before = counts(lodge)["refreshes"]
        assert set(await asyncio.gather(*(guest(rep, Principal()) for _ in range(20)))) == {me}
        assert counts(lodge)["refreshes"] == before + 1  # one flight for all of them

        assert log_in(catalog, "lodge", "--as", "alice").code == 0  # while this process has the catalog open
        alice = await guest(rep, ALICE)
        assert alice not in ("None", me)
        assert {await guest(rep, who) for who in (Principal(), ALICE, Principal(), ALICE)} == {me, alice}

        tell(lodge, "revoke")
        assert await guest(rep, ALICE) == alice  # only the token had been taken away
        tell(lodge, "break")
        await asyncio.sleep(LIFETIME + 0.5)
        with pytest.raises(UpstreamError, match=r"could not be renewed, its authorization server does not answer \(500\)"):
            await guest(rep, ALICE)
        tell(lodge, "break?mended")
        assert await guest(rep, ALICE) == alice
        tell(lodge, "revoke?all")
        for _ in range(2):
            began = time.monotonic()
            with pytest.raises(LoginRequired, match="wants you to log in"):
                await guest(rep, ALICE)
            assert time.monotonic() - began < 3


@pytest.fixture(scope="module")
def workshop() -> Iterator[int]:
    """A server that echoes what it is shown, at its port."""
    port = free_port()
    with started("tests.workshop", "http", str(port)):
        yield port


def store(catalog: Path, secret: str, *arguments: str) -> Ran:
    """`repertory login` with a secret on stdin."""
    with tempfile.TemporaryDirectory() as elsewhere:
        ran = run_in(Path(elsewhere), f"{secret}\n", "login", *arguments, catalog=catalog, **NO_MODEL)
    assert ran.code == 0, ran.err
    assert secret not in ran.out + ran.err
    return ran


async def shown(rep: repertory.Repertory, principal: Principal) -> str | None:
    """The Authorization header with which a principal comes to the workshop."""
    shown: str | None = (await rep.call("workshop/whoami", {}, principal))["structuredContent"]["authorization"]
    return shown


async def test_two_principals_never_share_what_they_are_known_by(workshop: int, tmp_path: Path) -> None:
    catalog = add(tmp_path, "workshop", workshop, headers={"authorization": "Bearer of-the-config"})
    async with repertory.open(catalog, embedder="none") as rep:
        assert await shown(rep, ALICE) == "Bearer of-the-config"
        store(catalog, "of-everyone", "workshop", "--everyone", "--bearer")
        assert await shown(rep, ALICE) == "Bearer of-everyone"  # noticed at once, and spelled differently than in the config
        for name in ("alice", "bob"):
            store(catalog, f"of-{name}", "workshop", "--as", name, "--bearer")
        asked = [who for _ in range(20) for who in (ALICE, BOB)]
        assert await asyncio.gather(*(shown(rep, who) for who in asked)) == [f"Bearer of-{who.name}" for who in asked]
        assert await shown(rep, Principal("carol", frozenset({"public"}))) == "Bearer of-everyone"
        under_way = asyncio.create_task(rep.call("workshop/fire", {"seconds": 8}, ALICE))
        await asyncio.sleep(0.5)
        left = await asyncio.to_thread(run, "logout", "workshop", "--as", "alice", catalog=catalog, **NO_MODEL)
        assert left.code == 0
        assert [await shown(rep, who) for who in (ALICE, BOB)] == ["Bearer of-everyone", "Bearer of-bob"]
        assert not under_way.done()
        assert (await under_way)["content"][0]["text"] == "fired"  # what had begun was not broken off

        Vault(catalog).put(Key("workshop", "bob"), Credential("https://elsewhere.example", {"Authorization": "Bearer of-elsewhere"}))
        with pytest.raises(LoginRequired, match=r"was for https://elsewhere.example, but it is at http://127.0.0.1"):
            await shown(rep, BOB)


async def test_a_serving_process_notices_logins_and_passes_nothing_on(workshop: int, tmp_path: Path) -> None:
    catalog = add(tmp_path, "workshop", workshop)
    with serving(catalog, REPERTORY_LOG_LEVEL="debug", **NO_MODEL) as served:

        async def over_mcp() -> str | None:
            async with (
                httpx2.AsyncClient(headers=served.as_owner, timeout=30, trust_env=False) as http,
                Client(streamable_http_client(f"{served.url}/mcp", http_client=http), cache=None) as client,
            ):
                answer: Any = (await client.call_tool("call", {"id": "workshop/whoami"})).structured_content
                return answer["authorization"]  # type: ignore[no-any-return]

        def over_rest() -> dict[str, Any]:
            asked = {"id": "workshop/whoami"}
            answer = httpx2.post(f"{served.url}/api/call", json=asked, headers=served.as_owner, timeout=30, trust_env=False)
            return dict(answer.json()["structuredContent"])

        assert await over_mcp() is None  # though the caller showed a token of ours
        assert over_rest()["authorization"] is None
        store(catalog, "hush-hush-1", "workshop", "--bearer")
        assert await over_mcp() == "Bearer hush-hush-1"
        assert over_rest()["authorization"] == "Bearer hush-hush-1"
        store(catalog, "hush-hush-2", "workshop", "--bearer")
        assert over_rest()["authorization"] == "Bearer hush-hush-2"

        listed = run("logins", "--json", catalog=catalog, **NO_MODEL).answer["logins"]
        assert [(row["server"], row["principal"], row["by"]) for row in listed] == [("workshop", "owner", "Authorization")]
        everything = json.dumps(listed)
        for path in ("/api/sources", "/api/entries", "/api/export", "/health", "/api/entries/server%3Aworkshop"):
            everything += httpx2.get(f"{served.url}{path}", headers=served.as_owner, trust_env=False).text
        everything += httpx2.post(f"{served.url}/api/search", json={"query": "hush-hush-2"}, headers=served.as_owner, trust_env=False).text
        everything = everything.replace('"query":"hush-hush-2"', "")
        everything += run("logins", catalog=catalog, **NO_MODEL).out + served.said
        for log in (catalog / "logs").glob("*"):
            everything += log.read_text()
        assert "hush-hush" not in everything
        assert run("logout", "workshop", catalog=catalog, **NO_MODEL).code == 0
        assert over_rest()["authorization"] is None
        again = run("logout", "workshop", catalog=catalog, **NO_MODEL)
        assert (again.code, "is not logged in" in again.err) == (4, True)


def test_wrong_logins_are_refused_with_a_reason(workshop: int, tmp_path: Path) -> None:
    catalog = add(tmp_path, "workshop", workshop)
    nowhere = run("login", "nowhere", catalog=catalog, **NO_MODEL)
    assert (nowhere.code, "Live servers: workshop" in nowhere.err) == (4, True)
    both = run("login", "workshop", "--as", "alice", "--everyone", catalog=catalog, **NO_MODEL)
    assert (both.code, "not both" in both.err) == (2, True)
    host = run("login", "workshop", "--header", "Host", catalog=catalog, **NO_MODEL)
    assert (host.code, "no header that can be set" in host.err) == (2, True)
    empty = run("login", "workshop", "--bearer", catalog=catalog, **NO_MODEL)
    assert (empty.code, "must be one line" in empty.err) == (2, True)
    unasked = log_in(catalog, "workshop")
    assert (unasked.code, "asks nobody to log in" in unasked.err) == (10, True)
    store(catalog, "hush-hush", "workshop", "--header", "X-Api-Key", "--as", "alice")
    (catalog / "credentials.json").chmod(0o644)
    open_to_all = run("logins", catalog=catalog, **NO_MODEL)
    assert (open_to_all.code, "chmod 600" in open_to_all.err) == (5, True)


async def test_an_agent_is_shown_what_is_stored_for_it_and_only_where_it_was(tmp_path: Path) -> None:
    pytest.importorskip("a2a")
    heard: list[str | None] = []

    class Clerk(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            heard.append(self.headers["Authorization"])
            self.send_error(500)

        def log_message(self, *_: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Clerk) as clerk:
        threading.Thread(target=clerk.serve_forever, daemon=True).start()
        here = f"http://127.0.0.1:{clerk.server_port}"
        card = {
            "name": "Clerk",
            "description": "Answers.",
            "version": "1",
            "protocolVersion": "1.0",
            "supportedInterfaces": [{"url": f"{here}/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
            "capabilities": {},
            "skills": [{"id": "a", "name": "Answer", "description": "Answers.", "tags": []}],
        }
        (tmp_path / "clerk.json").write_text(json.dumps(card))
        catalog = tmp_path / "catalog"
        assert run("add", tmp_path / "clerk.json", catalog=catalog, **NO_MODEL).code == 0
        agent = run("list", "--json", catalog=catalog, **NO_MODEL).answer["entries"][0]["id"]
        store(catalog, "of-alice", agent, "--as", "alice", "--bearer")
        browser = run("login", agent, catalog=catalog, **NO_MODEL)
        assert (browser.code, "--bearer or --header" in browser.err) == (2, True)
        async with repertory.open(catalog, embedder="none") as rep:
            for who in (ALICE, BOB):
                with pytest.raises(UpstreamError):
                    await rep.call(agent, {"message": "Good morning"}, who)
            assert heard == ["Bearer of-alice", None]
            Vault(catalog).put(Key(agent, "bob"), Credential("https://elsewhere.example", {"Authorization": "Bearer of-bob"}))
            with pytest.raises(LoginRequired, match=r"was for https://elsewhere.example"):
                await rep.call(agent, {"message": "Good morning"}, BOB)
            assert len(heard) == 2
        clerk.shutdown()
