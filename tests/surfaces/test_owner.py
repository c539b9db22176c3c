"""Do commands share a catalog with the process that owns it?

One process has the catalog open and holds its lock; a command that succeeds meanwhile has asked that process.
"""

from __future__ import annotations

import json
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest

from tests.conftest import EXAMPLES
from tests.surfaces.programs import Ran, Served, run, serving

COMMANDS: dict[str, tuple[str | Path, ...]] = {
    "search": ("search", "schedule a meeting", "-k", "tool", "-k", "document", "-t", "calendar", "--explain", "--json"),
    "list": ("list", "-k", "skill", "-n", "4", "--offset", "1", "--json"),
    "show": ("show", "calendar/create_event", "--json"),
    "graph": ("graph", "trackParcel", "--format", "jsonld"),
    "whole graph": ("graph", "--all-nodes", "--json"),
    "add": ("add", EXAMPLES, "--json"),
    "doctor": ("doctor", "--json"),
}
FAILURES: dict[str, tuple[tuple[str, ...], int, str]] = {
    "bad pattern": (("search", "(", "-s", "regex"), 2, "error (invalid_pattern) '(' is no regular expression"),
    "unknown entry": (("show", "no-such-thing"), 4, "error (not_found) There is no entry 'no-such-thing'."),
    "missing path": (("add", "/nowhere/at/all"), 3, "error (source_error) no such file or folder: /nowhere/at/all"),
}
LOUD = {"REPERTORY_LOG_LEVEL": "debug"}


class Beside(NamedTuple):
    """What commands did beside a serving process, and after it had ended."""

    served: dict[str, Ran]
    alone: dict[str, Ran]
    token: str
    said: str
    mode: int


@pytest.fixture(scope="module")
def beside(catalog: Path, tmp_path_factory: pytest.TempPathFactory) -> Beside:
    copy = tmp_path_factory.mktemp("beside") / "catalog"
    shutil.copytree(catalog, copy)
    with serving(copy, **LOUD) as server:
        mode = stat.S_IMODE((copy / "owner.json").stat().st_mode)
        at_once = {name: command for name, command in COMMANDS.items() if name != "doctor"}
        at_once |= {name: command for name, (command, _, _) in FAILURES.items()}
        with ThreadPoolExecutor(2) as several:
            served = dict(zip(at_once, several.map(lambda command: run(*command, catalog=copy, **LOUD), at_once.values()), strict=True))
        served["doctor"] = run(*COMMANDS["doctor"], catalog=copy, **LOUD)  # it tells when add read the source
        said = server.said
    alone = {name: run(*COMMANDS[name], catalog=copy, **LOUD) for name in reversed(COMMANDS)}  # doctor before add
    return Beside(served, alone, server.token, said, mode)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_beside_a_server_answers_as_it_does_alone(beside: Beside, command: str) -> None:
    assert _lasting(beside.served[command].answer) == _lasting(beside.alone[command].answer)


@pytest.mark.parametrize("command", FAILURES)
def test_a_command_beside_a_server_fails_as_it_does_alone(beside: Beside, command: str) -> None:
    _, code, message = FAILURES[command]
    assert beside.served[command].code == code
    assert beside.served[command].out == ""
    assert message in beside.served[command].err


def test_the_note_is_for_its_owner_only_and_its_token_is_never_shown(beside: Beside) -> None:
    assert beside.mode == 0o600
    shown = [beside.said, *(text for ran in beside.served.values() for text in (ran.out, ran.err))]
    assert any(" DEBUG " in text for text in shown)  # the loudest log was on
    assert not any(beside.token in text for text in shown)


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server over a catalog that holds nothing yet."""
    with serving(tmp_path_factory.mktemp("empty"), REPERTORY_EMBEDDER="none") as server:
        yield server


def test_what_a_command_adds_is_served_at_once(empty: Served, tmp_path: Path) -> None:
    (tmp_path / "harbour.json").write_text(json.dumps({"tools": [{"name": "raise_flag", "description": "Raise the harbour flag."}]}))
    ran = run("add", tmp_path, catalog=empty.catalog)
    assert (ran.code, "1 added" in ran.out) == (0, True)
    answer = httpx2.post(f"{empty.url}/api/search", json={"query": "flag"}, trust_env=False).json()
    assert [result["name"] for result in answer["results"]] == ["raise_flag"]


def test_a_second_server_is_refused_and_told_where_the_first_is(empty: Served) -> None:
    ran = run("serve", "--port", "0", catalog=empty.catalog)
    assert ran.code == 6
    assert f"process {empty.process.pid}" in ran.err
    assert empty.url in ran.err


def test_an_owner_that_does_not_serve_is_named(tmp_path: Path) -> None:
    program = """
import asyncio, sys, repertory
async def main():
    async with repertory.open(sys.argv[1], embedder="none"):
        print("open", flush=True)
        await asyncio.sleep(60)
asyncio.run(main())
"""
    with subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True) as owner:
        try:
            assert owner.stdout is not None
            assert owner.stdout.readline() == "open\n"
            ran = run("list", catalog=tmp_path)
            examined = run("doctor", catalog=tmp_path, REPERTORY_EMBEDDER="none")
        finally:
            owner.kill()
    assert ran.code == 6
    assert ran.out == ""
    assert f"process {owner.pid}" in ran.err
    assert str(tmp_path) in ran.err
    assert examined.code == 1
    assert re.search(rf"^problem +catalog +.*process {owner.pid}", examined.out, re.MULTILINE)


def test_the_note_of_a_killed_server_does_not_disturb(tmp_path: Path) -> None:
    with serving(tmp_path, REPERTORY_EMBEDDER="none") as server:
        server.process.kill()
        server.process.wait()
        assert json.loads((tmp_path / "owner.json").read_text())["url"] == server.url  # it could not tidy up
        ran = run("list", catalog=tmp_path, REPERTORY_EMBEDDER="none")
    assert (ran.code, ran.err) == (0, "")
    assert not (tmp_path / "owner.json").exists()


def _lasting(answer: dict[str, Any]) -> dict[str, Any]:
    """The answer without what differs from one time to the next."""
    return {name: value for name, value in answer.items() if name != "took_ms"}


def test_the_note_of_a_killed_server_does_not_lead_to_another_catalog(tmp_path: Path) -> None:
    mine, other = tmp_path / "mine", tmp_path / "other"
    with serving(other, REPERTORY_EMBEDDER="none") as server:
        mine.mkdir()
        stale = {"pid": 1, "url": server.url, "token": "of the server that had this port before"}
        (mine / "owner.json").write_text(json.dumps(stale))
        tool_file = tmp_path / "tools.json"
        tool_file.write_text(json.dumps({"tools": [{"name": "mine", "inputSchema": {}}]}))
        added = run("add", tool_file, catalog=mine, REPERTORY_EMBEDDER="none")
        assert added.code == 0, added.err
        assert run("list", "--json", catalog=mine, REPERTORY_EMBEDDER="none").answer["total"] == 1
        assert run("list", "--json", catalog=other).answer["total"] == 0


def test_a_terminated_server_tidies_up(tmp_path: Path) -> None:
    with serving(tmp_path, REPERTORY_EMBEDDER="none") as server:
        server.process.terminate()
        assert server.process.wait(5) == 0
        assert not (tmp_path / "owner.json").exists()


@pytest.mark.parametrize("name", ["a#b", "c?d=e", "../sources", "50%2F"])
def test_names_with_odd_characters_are_shown_beside_a_server(tmp_path: Path, name: str) -> None:
    tool_file = tmp_path / "tools.json"
    tool_file.write_text(json.dumps({"tools": [{"name": name, "inputSchema": {}}]}))
    catalog = tmp_path / "catalog"
    run("add", tool_file, catalog=catalog, REPERTORY_EMBEDDER="none")
    with serving(catalog, REPERTORY_EMBEDDER="none"):
        ran = run("show", name, "--json", catalog=catalog)
    assert ran.answer["name"] == name


def test_a_bad_query_ends_alike_beside_a_server(empty: Served) -> None:
    ran = run("search", "[a-", "--strategy", "regex", catalog=empty.catalog)
    assert ran.code == 2
    assert "invalid_pattern" in ran.err
