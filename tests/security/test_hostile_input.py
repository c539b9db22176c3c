"""What can files and servers do that mean us harm? Cost themselves, and nobody else.

Everything hostile is added at once, by the real program, beside something good: each case must be told of, the good must be found, and the
program must stay small and quick. The limits are stated in docs/sources.md.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.mcpserver import TOOLS
from tests.surfaces.programs import REPERTORY

MB = 1024 * 1024
PATIENCE = 240.0  # seconds on a busy machine; alone it takes a tenth
MOST_MEMORY = 500 * MB  # with nothing hostile it takes 100
LONGEST = "n" * 200

OBJECT = {"type": "object"}
DEEP = '{"a":' * 10_000 + "1" + "}" * 10_000


@dataclass(frozen=True, slots=True)
class Added:
    """What `repertory add` did, and what it took."""

    report: dict[str, Any]
    said: str
    seconds: float
    memory: int  # bytes at most
    entries: dict[str, dict[str, Any]]  # by path

    def problems(self, where: str) -> list[str]:
        """What is told of a file or a server."""
        return [problem["message"] for problem in self.report["problems"] if where in problem["file"]]


def add(what: Path, catalog: Path) -> Added:
    """Add something as a person would."""
    started = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(_command("add", what, catalog=catalog), env=_environment(), stdout=out, stderr=err)
        timer = time.monotonic() + PATIENCE
        memory = 0
        while process.poll() is None and time.monotonic() < timer:
            memory = max(memory, _memory(process.pid))
            time.sleep(0.05)
        if process.poll() is None:
            process.kill()
            process.wait()
            raise AssertionError("it took too long")
        out.seek(0)
        err.seek(0)
        said = err.read().decode()
        assert process.returncode == 0, said
        report = json.loads(out.read())
    listed = subprocess.run(
        _command("list", "--limit", "1000", catalog=catalog), env=_environment(), capture_output=True, check=True
    ).stdout
    entries = {entry["path"]: entry for entry in json.loads(listed)["entries"]}
    return Added(report, said, time.monotonic() - started, memory, entries)


def _memory(pid: int) -> int:
    """The most bytes that a process has held. What the kernel says of a child that ended counts its parent before exec."""
    try:
        found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return 0
    return int(found.group(1)) * 1024 if found else 0


def _command(*arguments: str | Path, catalog: Path) -> list[str]:
    return [str(REPERTORY), *map(str, arguments), "--catalog", str(catalog), "--json"]


def _environment() -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": tempfile.gettempdir(), "LANG": "C.UTF-8", "REPERTORY_EMBEDDER": "none"}


def tool(name: object, **more: object) -> dict[str, Any]:
    return {"name": name, "description": "Does something.", "inputSchema": OBJECT, **more}


ODD_NAMES = [
    tool("a\x00b"),
    tool("bell\x07"),
    tool("half \ud800"),
    tool(LONGEST),
    tool(LONGEST + "n"),
    tool("twin"),
    tool("twin"),
    tool("fine"),
]
LAUGHS = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n" + "".join(f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))


def write_files(folder: Path) -> None:
    """A folder of everything that a file can do."""
    texts = {
        "good.md": "# Lighthouse\n\nKeeps ships off the rocks.\n",
        "broken-head.md": "---\ntitle: [never closed\n---\nStill a text.\n",
        "broken.yaml": "tools:\n  - name: a\n   inputSchema: {\n",
        "cycle-a.md": "[[cycle-b]] [[cycle-a]]",
        "cycle-b.md": "[back](cycle-a.md)",
        "out.md": "[[../../../etc/passwd]] [x](../../../../../../etc/passwd) [y](/etc/passwd) [z](file:///etc/passwd)",
        "deep.json": f'{{"tools": [{{"name": "a", "inputSchema": {DEEP}}}]}}',
        "deep.yaml": f"tools: [{{name: a, inputSchema: {DEEP}}}]",
        "laughs.yaml": f"{LAUGHS}tools: [{{name: a, inputSchema: *a11}}]",
        "laughs.md": f"---\n{LAUGHS}---\nA text.\n",
        "names.json": json.dumps({"server": {"name": "odd"}, "tools": ODD_NAMES}),
        "red\x1b[31m.md": "A name that colours terminals.",
        "two\nlines.md": "A name of two lines.",
    }
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")
    filler = "x" * (50 * MB)
    (folder / "card.json").write_text(json.dumps({"name": "Big", "capabilities": {}, "skills": [{"name": "a", "description": filler}]}))
    (folder / "tools.json").write_text(json.dumps({"tools": [tool("a"), tool("b", title=filler)]}))
    (folder / "line.md").write_bytes(b"word " * (20 * MB))
    (folder / "picture.md").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00" * 1000)
    Path(os.fsdecode(bytes(folder) + b"/caf\xe9.md")).write_text("A name that is not UTF-8.")
    (folder / "passwd.md").symlink_to("/etc/passwd")
    (folder / "etc").symlink_to("/etc")
    (folder / "again").symlink_to(folder)
    (folder / "itself.md").symlink_to(folder / "itself.md")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Added:
    """The folder, added."""
    folder = tmp_path_factory.mktemp("hostile") / "harm"
    folder.mkdir()
    write_files(folder)
    return add(folder, folder.parent / "catalog")


@pytest.mark.parametrize(
    ("file", "why"),
    [
        ("card.json", "larger than 10 MB"),
        ("tools.json", "larger than 10 MB"),
        ("line.md", "larger than 10 MB"),
        ("picture.md", "is binary"),
        ("broken-head.md", "the front matter is not valid YAML"),
        ("broken.yaml", "is not valid YAML"),
        ("deep.json", "deeper than 100 levels"),
        ("deep.yaml", "deeper than 100 levels"),
        ("laughs.yaml", "aliases expand to more than is read"),
        ("laughs.md", "aliases expand to more than is read"),
        ("caf", "its name is not UTF-8"),
    ],
)
def test_a_hostile_file_is_told_of(files: Added, file: str, why: str) -> None:
    (message,) = files.problems(f"/harm/{file}")
    assert why in message


def test_what_is_good_in_a_hostile_folder_is_indexed(files: Added) -> None:
    documents = {path for path in files.entries if path.startswith("harm/")}
    names = ("good", "broken-head", "cycle-a", "cycle-b", "out", "laughs", "red[31m", "two\nlines")
    assert documents == {f"harm/{name}.md" for name in names}
    assert "Traceback" not in files.said


def test_links_go_round_and_never_out(files: Added) -> None:
    def targets(name: str) -> list[str]:
        return [target for target, _ in files.entries[f"harm/{name}.md"]["links"]]

    assert targets("cycle-b") == ["doc:harm/cycle-a.md"]
    assert "doc:harm/cycle-b.md" in targets("cycle-a")
    assert targets("out") == []
    assert not any("root:" in json.dumps(entry) for entry in files.entries.values())


def test_odd_names_in_a_file_cost_themselves(files: Added) -> None:
    assert {path for path in files.entries if path.startswith("odd/")} == {
        "odd/a�b",
        "odd/half �",
        f"odd/{LONGEST}",
        "odd/twin",
        "odd/fine",
    }
    control, long, twin = files.problems("/harm/names.json")
    assert "control characters" in control
    assert "201 characters" in long
    assert "already at tools[5]" in twin


def test_hostile_files_take_little(files: Added) -> None:
    assert files.memory < MOST_MEMORY
    assert files.seconds < PATIENCE


def sdk(mode: str, **more: Any) -> dict[str, Any]:
    """A server that misbehaves within the protocol."""
    return {"command": sys.executable, "args": ["-m", "tests.mcpserver", mode], "cwd": str(ROOT), **more}


def elder(folder: Path, name: str, result: object, **more: Any) -> dict[str, Any]:
    """A server that answers with this result."""
    file = folder / f"{name}.json"
    file.write_text(result if isinstance(result, str) else json.dumps(result))
    return {"command": sys.executable, "args": ["-m", "tests.elderserver", "stdio", str(file)], "cwd": str(ROOT), **more}


WRONG: list[Any] = [
    tool("first"),
    tool("text_schema", inputSchema="object"),
    tool("list_schema", inputSchema=[1]),
    tool(5),
    tool(None),
    tool("annotated", annotations="yes"),
    "just a text",
    None,
    {"description": "Nameless."},
    tool("odd_type", inputSchema={"type": 5, "properties": {"a": 7}, "required": "a"}),
    tool("bare", inputSchema=None, outputSchema=None, title=None, icons=None),
    tool("last"),
]


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Added:
    """A config of servers that mean harm, added."""
    folder = tmp_path_factory.mktemp("servers")
    soon = {"startup_timeout_sec": 8}  # those that will not answer need not be waited for as long as usual
    config = folder / "mcp.json"
    named: dict[str, Callable[[], dict[str, Any]]] = {
        "good": lambda: sdk("good"),
        "hanging": lambda: sdk("hanging", **soon),
        "shouting": lambda: sdk("shouting"),
        "flooding": lambda: sdk("flooding"),
        "looping": lambda: sdk("looping"),
        "huge": lambda: elder(folder, "huge", {"tools": [tool("a", title="x" * (50 * MB))]}),
        "deep": lambda: elder(folder, "deep", f'{{"tools": [{{"name": "a", "inputSchema": {DEEP}}}]}}', **soon),
        "wrong": lambda: elder(folder, "wrong", {"tools": WRONG}),
        "odd": lambda: elder(folder, "odd", {"tools": ODD_NAMES}),
        "nonsense": lambda: elder(folder, "nonsense", {"tools": "none"}),
    }
    config.write_text(json.dumps({"mcpServers": {name: entry() for name, entry in named.items()}}))
    return add(config, folder / "catalog")


@pytest.mark.parametrize(
    ("server", "why"),
    [
        ("hanging", "did not answer within 8 s"),
        ("shouting", "says more than is listened to"),
        ("huge", "says more than is listened to"),
        ("deep", "did not answer within 8 s; something that it said cannot be read"),
        ("looping", "repeats the same cursor"),
        ("nonsense", "its answer cannot be read"),
    ],
)
def test_a_hostile_server_is_told_of(servers: Added, server: str, why: str) -> None:
    assert any(why in message for message in servers.problems(f"#{server}")), servers.problems(f"#{server}")


def test_what_is_good_beside_hostile_servers_is_indexed(servers: Added) -> None:
    parts = {part["source"]: part for part in servers.report["parts"]}
    assert {name: parts[name]["added"] for name in ("good", "flooding", "looping")} == {"good": 3, "flooding": 1 + TOOLS, "looping": 2}
    assert {name for name, part in parts.items() if part["broken"]} == {"hanging", "shouting", "huge", "deep", "nonsense"}
    assert "Traceback" not in servers.said


def test_a_tool_that_is_wrong_costs_none_of_the_others(servers: Added) -> None:
    (part,) = (part for part in servers.report["parts"] if part["source"] == "wrong")
    assert part["added"] == 5  # the server, first, odd_type, bare, last
    told = servers.problems("#wrong")
    assert len(told) == 8
    assert "tools[1]: inputSchema must be an object, not 'object'" in told


def test_odd_names_of_a_server_cost_themselves(servers: Added) -> None:
    (part,) = (part for part in servers.report["parts"] if part["source"] == "odd")
    assert part["added"] == 1 + 5
    control, long, twin = servers.problems("#odd")
    assert ("control characters" in control, "201 characters" in long, "already at tools[5]" in twin) == (True, True, True)


def test_hostile_servers_take_little(servers: Added) -> None:
    assert servers.memory < MOST_MEMORY
    assert servers.seconds < PATIENCE
