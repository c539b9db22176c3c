"""Do the reference servers of the protocol come in together, and may one of them die?"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.conftest import require
from tests.programs import answering, free_port
from tests.provision import EVERYTHING, FETCH, FILESYSTEM, GIT, MEMORY, THINKING, TIME
from tests.surfaces.programs import Served, run, serving

NO_MODEL = {"REPERTORY_EMBEDDER": "none"}
OFTEN = "0.05"  # minutes between two looks
KNOWN = {  # of each server a tool, and words that find it
    "everything/echo": "echoes back the input",
    "filesystem/read_text_file": "read the complete contents of a file as text",
    "memory/create_entities": "create new entities in the knowledge graph",
    "sequential-thinking/sequentialthinking": "problem-solving through thoughts",
    "time/get_current_time": "current time in a timezone",
    "git/git_log": "commit logs",
    "fetch/fetch": "fetches a URL",
}


@contextlib.contextmanager
def everything(port: int) -> Iterator[str]:
    """The server with everything, over streamable HTTP."""
    environment = {"PATH": os.environ["PATH"], "PORT": str(port)}
    with subprocess.Popen(
        [require(EVERYTHING), "streamableHttp"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            yield answering(f"http://127.0.0.1:{port}/mcp")
        finally:
            process.kill()


@pytest.fixture
def seven(tmp_path: Path) -> tuple[Path, int]:
    """A config of all seven, and the port at which one of them is expected."""
    files, repository, port = tmp_path / "files", tmp_path / "repository", free_port()
    files.mkdir()
    subprocess.run(["git", "init", "--quiet", repository], check=True)
    servers: dict[str, dict[str, Any]] = {
        "everything": {"type": "http", "url": f"http://127.0.0.1:{port}/mcp"},
        "filesystem": {"command": require(FILESYSTEM), "args": [str(files)]},
        "memory": {"command": require(MEMORY), "env": {"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl")}},
        "sequential-thinking": {"command": require(THINKING)},
        "time": {"command": require(TIME)},
        "git": {"command": require(GIT), "args": ["--repository", str(repository)]},
        "fetch": {"command": require(FETCH)},
    }
    config = tmp_path / "mcp.json"
    config.write_text(json.dumps({"mcpServers": servers}))
    return config, port


def paths(answer: dict[str, Any]) -> list[str]:
    return [result["path"] for result in answer["results"]]


def test_one_command_brings_the_tools_of_all_seven(seven: tuple[Path, int], tmp_path: Path) -> None:
    config, port = seven
    catalog = tmp_path / "catalog"
    with everything(port):
        added = run("add", config, catalog=catalog, **NO_MODEL)
    assert (added.code, added.err) == (0, "")
    assert len(added.out.splitlines()) == 7
    for path, query in KNOWN.items():
        found = run("search", query, "--kind", "tool", "--limit", "3", "--json", catalog=catalog, **NO_MODEL).answer
        assert path in paths(found), (query, paths(found))
    states = {source["name"]: source["state"] for source in run("sources", "--json", catalog=catalog, **NO_MODEL).answer["sources"]}
    assert states == dict.fromkeys(states, "ok")


def test_one_that_dies_is_told_of_and_recovers_by_itself(seven: tuple[Path, int], tmp_path: Path) -> None:
    config, port = seven
    catalog = tmp_path / "catalog"
    with serving(catalog, REPERTORY_REFRESH_MINUTES=OFTEN, **NO_MODEL) as server:
        with everything(port):
            assert run("add", config, catalog=catalog).code == 0
            wait_for(server, "everything", "ok")
        wait_for(server, "everything", "broken")
        shown = run("sources", catalog=catalog)
        assert f"broken  everything: http://127.0.0.1:{port} could not be asked (ConnectError)" in shown.out
        found = httpx2.post(f"{server.url}/api/search", json={"query": KNOWN["everything/echo"], "limit": 1}, trust_env=False).json()
        assert (paths(found), found["results"][0]["stale"]) == (["everything/echo"], True)
        others = run("search", KNOWN["time/get_current_time"], "--json", catalog=catalog).answer["results"]
        assert (others[0]["path"], "stale" in others[0]) == ("time/get_current_time", False)
        with everything(port):
            wait_for(server, "everything", "ok")
        server.process.terminate()
        assert server.process.wait(10) == 0  # it lets go of seven servers first
    left = subprocess.run(["ps", "-eo", "args="], capture_output=True, text=True, check=True).stdout
    assert str(tmp_path) not in left


def wait_for(server: Served, name: str, wanted: str) -> None:
    """Until a source is in a state."""
    state, until = "", time.monotonic() + 40
    while state != wanted and time.monotonic() < until:
        time.sleep(0.2)
        answer = httpx2.get(f"{server.url}/api/sources", headers=server.as_owner, trust_env=False).json()
        state = next((str(source["state"]) for source in answer["sources"] if source["name"] == name), "")
    assert state == wanted
