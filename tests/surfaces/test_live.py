"""Are live servers found, added and watched from a terminal?"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest
from rich.cells import cell_len

from tests.conftest import ROOT
from tests.surfaces.programs import run, run_in, serving

NO_MODEL = {"REPERTORY_EMBEDDER": "none"}
KEY = "open-sesame-42"


def entry(mode: str, *arguments: object) -> dict[str, Any]:
    return {
        "command": sys.executable,
        "args": ["-m", "tests.mcpserver", mode, *map(str, arguments)],
        "cwd": str(ROOT),
        "env": {"VAULT_KEY": KEY},
    }


def write(file: Path, key: str = "mcpServers", **servers: dict[str, Any]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({key: servers}))
    return file


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home directory with a config of Cursor and one of VS Code."""
    write(tmp_path / "home/.cursor/mcp.json", house=entry("good"), vault=entry("dying"))
    write(tmp_path / "home/.config/Code/User/mcp.json", "servers", barn=entry("good"))
    return tmp_path / "home"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project that brings a server along."""
    write(tmp_path / "project/.mcp.json", stranger=entry("good"))
    return tmp_path / "project"


def names(catalog: Path) -> dict[str, str]:
    answer = run("sources", "--json", catalog=catalog, **NO_MODEL).answer
    return {source["name"]: source["state"] for source in answer["sources"]}


@pytest.mark.skipif(sys.platform != "linux", reason="the fixture's home directory is laid out as on Linux")
def test_import_lists_asks_and_adds(home: Path, project: Path, tmp_path: Path) -> None:
    catalog = tmp_path / "catalog"
    settings = {"HOME": str(home), **NO_MODEL}
    refused = run_in(project, "n\nn\n", "import", catalog=catalog, **settings)
    assert refused.code == 0, refused.err
    for shown in ("Cursor", "VS Code", "Claude Code", "house", "vault", "barn", "stranger", "stdio", "(current directory)"):
        assert shown in refused.out
    assert names(catalog) == {}
    unattended = run_in(project, "", "import", "--yes", catalog=catalog, **settings)
    assert "house: 3 added." in unattended.out
    assert names(catalog) == {"barn": "ok", "house": "ok", "vault": "broken"}  # nobody vouched for the project
    agreed = run_in(project, "y\ny\n", "import", catalog=catalog, **settings)
    assert "stranger: 3 added." in agreed.out
    assert names(catalog)["stranger"] == "ok"
    for ran in (refused, unattended, agreed):
        assert KEY not in ran.out + ran.err


def test_import_of_nothing_says_so(tmp_path: Path) -> None:
    ran = run("import", catalog=tmp_path / "catalog", HOME=str(tmp_path))
    assert (ran.code, "names a server" in ran.out) == (0, True)


def test_sources_fit_a_narrow_terminal(tmp_path: Path) -> None:
    config = write(tmp_path / "mcp.json", house=entry("good"), vault=entry("dying"))
    catalog = tmp_path / "catalog"
    added = run("add", config, catalog=catalog, **NO_MODEL)
    assert (added.code, added.out) == (0, "house: 3 added.\nvault: broken, nothing added.\n")
    assert "cannot open the vault" in added.err
    assert "Traceback" not in added.err
    ran = run("sources", catalog=catalog, COLUMNS="60", **NO_MODEL)
    assert "broken  vault: " in ran.out
    assert "never" in ran.out
    assert [line for line in ran.out.splitlines() if cell_len(line) > 60] == []


def test_a_serving_process_recovers_by_itself(tmp_path: Path) -> None:
    switch = tmp_path / "up"
    switch.touch()
    config = write(tmp_path / "mcp.json", house=entry("switched", switch))
    catalog = tmp_path / "catalog"
    with serving(catalog, REPERTORY_REFRESH_MINUTES="0.02", **NO_MODEL) as server:

        def state() -> str:
            answer = httpx2.get(f"{server.url}/api/sources", headers=server.as_owner, trust_env=False).json()
            return str(next((source["state"] for source in answer["sources"] if source["name"] == "house"), ""))

        def wait_for(wanted: str) -> None:
            until = time.monotonic() + 20
            while state() != wanted and time.monotonic() < until:
                time.sleep(0.1)
            assert state() == wanted

        def found() -> dict[str, Any]:
            answer = httpx2.post(f"{server.url}/api/search", json={"query": "light lamp", "limit": 1}, trust_env=False).json()
            first: dict[str, Any] = answer["results"][0]
            return first

        assert run("add", config, catalog=catalog).code == 0
        wait_for("ok")
        assert "stale" not in found()
        switch.unlink()
        wait_for("broken")
        assert found()["stale"] is True
        assert "its source is broken" in run("search", "light lamp", catalog=catalog).out
        switch.touch()
        wait_for("ok")
        assert "stale" not in found()
        assert httpx2.get(f"{server.url}/api/sources", trust_env=False).status_code == 403
        assert KEY not in server.said
        server.process.terminate()
        assert server.process.wait(5) == 0
