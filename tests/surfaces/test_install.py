"""Do other programs get Repertory into their configs, and is everything else in there left as it is?"""

from __future__ import annotations

import json
import stat
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from repertory.cli.installing import CLIENTS
from repertory.sources.clients import read
from repertory.sources.installed import place_of
from tests.surfaces.programs import REPERTORY, Ran, run_in

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the home directories here are laid out as on Linux")

OWN = {
    "claude-desktop": ".config/Claude/claude_desktop_config.json",
    "claude-code": ".claude.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".config/Code/User/mcp.json",
    "codex": ".codex/config.toml",
    "gemini": ".gemini/settings.json",
}
OF_PROJECT = {
    "claude-code": ".mcp.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".vscode/mcp.json",
    "codex": ".codex/config.toml",
    "gemini": ".gemini/settings.json",
}
CODEX = """# mine
model = "o9"   # the best

[mcp_servers.files]   # do not touch
command = "files"
env = { KEY = "secret-1" }

# about the end
[tools]
web = true
"""


class Desk:
    """A person's home and a project."""

    def __init__(self, place: Path) -> None:
        self.home, self.project = place / "home", place / "project"
        self.home.mkdir()
        self.project.mkdir()

    def install(self, *arguments: str, typed: str = "") -> Ran:
        ran = run_in(self.project, typed, "install", *arguments, HOME=str(self.home))
        assert "Traceback" not in ran.err
        return ran

    def write(self, client: str, text: str) -> Path:
        file = self.home / OWN[client]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
        return file


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def _servers(file: Path) -> dict[str, Any]:
    value = tomllib.loads(file.read_text()) if file.suffix == ".toml" else json.loads(file.read_text())
    return dict(value.get("mcpServers") or value.get("servers") or value.get("mcp_servers") or {})


@pytest.mark.parametrize("client", OWN)
def test_a_new_config_can_be_read_by_everybody(desk: Desk, client: str) -> None:
    ran = desk.install(client, "--yes")
    assert ran.code == 0, ran.err
    file = desk.home / OWN[client]
    assert str(file) in ran.out
    assert "(new)" in ran.out
    entry = _servers(file)["repertory"]
    assert (entry["command"], entry["args"]) == (str(REPERTORY), ["mcp"])
    assert read(file).specs["repertory"].command == str(REPERTORY)  # as `repertory import` would
    again = desk.install(client, "--yes")
    assert (again.code, "has repertory already" in again.out) == (0, True)
    assert [one.name for one in file.parent.iterdir() if "backup" in one.name] == []


@pytest.mark.parametrize("client", OF_PROJECT)
def test_a_config_of_a_project_names_no_place_of_this_machine(desk: Desk, client: str) -> None:
    assert desk.install(client, "--project", "--yes").code == 0
    assert _servers(desk.project / OF_PROJECT[client])["repertory"]["command"] == "repertory"
    assert not (desk.home / OWN[client]).exists()


def test_claude_desktop_has_neither_projects_nor_addresses(desk: Desk) -> None:
    for option in (["--project"], ["--url", "http://127.0.0.1:8321"]):
        ran = desk.install("claude-desktop", *option, "--yes")
        assert (ran.code, "leave out" in ran.err) == (2, True)


@pytest.mark.parametrize(
    ("client", "key", "more"),
    [
        ("claude-code", "url", {"type": "http"}),
        ("cursor", "url", {}),
        ("vscode", "url", {"type": "http"}),
        ("gemini", "httpUrl", {}),
        ("codex", "url", {}),
    ],
)
def test_an_address(desk: Desk, client: str, key: str, more: dict[str, str]) -> None:
    assert desk.install(client, "--url", "http://127.0.0.1:8321", "--discover", "--yes").code == 0
    assert _servers(desk.home / OWN[client])["repertory"] == {key: "http://127.0.0.1:8321/mcp?discover=1", **more}
    assert desk.install(client, "--url", "127.0.0.1:8321", "--yes").code == 2


def test_options_reach_the_command(desk: Desk) -> None:
    assert desk.install("cursor", "--name", "my tools", "--catalog", "notes", "--discover", "--yes").code == 0
    args = _servers(desk.home / OWN["cursor"])["my tools"]["args"]
    assert args == ["mcp", "--discover", "--catalog", str(desk.project / "notes")]


STYLES = {
    "two blanks": '{\n  "theme": "dark",\n  "mcpServers": {\n    "files": {\n      "command": "files",\n'
    '      "env": {"KEY": "secret-1"}\n    }\n  },\n  "z": [1,2]\n}\n',
    "four blanks, no last line end": '{\n    "mcpServers": {\n        "files": {"command": "files"}\n    }\n}',
    "tabs and windows": '{\r\n\t"mcpServers": {\r\n\t\t"files": {\r\n\t\t\t"command": "files"\r\n\t\t}\r\n\t}\r\n}\r\n',
    "one line": '{"mcpServers":{"files":{"command":"files"}},"other":{"b":1,"a":2.50}}',
    "a mark": '\ufeff{\n  "mcpServers": {\n    "files": {"command": "files"}\n  }\n}\n',
    "odd": '\n {"mcpServers" : { "files":{"command":"files"} ,"b": {"url":"https://b.example/x//y"}},\n "u":"\\u00fc \\"}{" }\n\n',
}


@pytest.mark.parametrize("style", STYLES)
def test_everything_else_stays_byte_for_byte(desk: Desk, style: str) -> None:
    text = STYLES[style]
    file = desk.write("cursor", text)
    file.chmod(0o640)
    ran = desk.install("cursor", "--yes")
    assert ran.code == 0, ran.err
    changed = file.read_bytes().decode()
    before, after = json.loads(text.lstrip("\ufeff")), json.loads(changed.lstrip("\ufeff"))
    added = after["mcpServers"].pop("repertory")
    assert after == before
    assert added["args"] == ["mcp"]
    assert ("\r\n" in changed) == ("\r\n" in text)
    assert changed.count("\n") == changed.count("\r\n") or "\r\n" not in text
    position = next(i for i, (a, b) in enumerate(zip(text, changed, strict=False)) if a != b)
    inserted = len(changed) - len(text)
    assert changed[:position] + changed[position + inserted :] == text  # one piece more, at one place
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    (backup,) = [one for one in file.parent.iterdir() if one.name.endswith(".backup")]
    assert backup.read_bytes().decode() == text
    assert desk.install("cursor", "--remove", "--yes").code == 0
    assert file.read_bytes().decode() == text


def test_it_is_indented_as_its_neighbours(desk: Desk) -> None:
    file = desk.write("cursor", STYLES["tabs and windows"])
    desk.install("cursor", "--yes")
    assert '\r\n\t\t},\r\n\t\t"repertory": {\r\n\t\t\t"command": ' in file.read_bytes().decode()


@pytest.mark.parametrize("text", ["{}", "{\n}\n", '{"theme": "dark"}', '{\n  "mcpServers": {}\n}\n', '{\n  "a": 1\n}\n', "", " \n"])
def test_a_config_without_servers_gets_its_first(desk: Desk, text: str) -> None:
    file = desk.write("gemini", text)
    assert desk.install("gemini", "--yes").code == 0
    after = json.loads(file.read_text())
    assert list(after.pop("mcpServers")) == ["repertory"]
    before = json.loads(text) if text.strip() else {}
    before.pop("mcpServers", None)
    assert after == before


BROKEN = {
    "a comment": '{\n  // mine\n  "mcpServers": {"files": {"command": "files"}}\n}\n',
    "a last comma": '{"mcpServers": {"files": {"command": "files"},}}',
    "half": '{"mcpServers": {"files"',
    "an array": "[1]",
    "servers that are none": '{"mcpServers": []}',
}


@pytest.mark.parametrize("what", BROKEN)
def test_what_cannot_be_changed_safely_is_left_alone(desk: Desk, what: str) -> None:
    file = desk.write("claude-desktop", BROKEN[what])
    ran = desk.install("claude-desktop", "--yes")
    assert ran.code == 3
    assert "is left as it is" in ran.err
    assert json.loads(ran.err[ran.err.index("{") if what != "half" else ran.err.index('{\n  "mcpServers"') :])["mcpServers"]["repertory"][
        "args"
    ] == ["mcp"]
    assert file.read_text() == BROKEN[what]
    assert [one.name for one in file.parent.iterdir()] == [file.name]


def test_bytes_that_are_no_text_are_left_alone(desk: Desk) -> None:
    file = desk.write("cursor", "")
    file.write_bytes(b'{"mcpServers": {"\xff": {}}}')
    ran = desk.install("cursor", "--yes")
    assert (ran.code, "it is not UTF-8" in ran.err) == (3, True)
    assert file.read_bytes() == b'{"mcpServers": {"\xff": {}}}'


def test_a_commented_config_that_has_it_already_is_seen(desk: Desk) -> None:
    desk.install("vscode", "--yes")
    file = desk.home / OWN["vscode"]
    file.write_text(f"// by hand\n{file.read_text()}")
    assert "has repertory already" in desk.install("vscode", "--yes").out


def test_codex_keeps_comments_and_order(desk: Desk) -> None:
    file = desk.write("codex", CODEX)
    ran = desk.install("codex", "--yes")
    assert ran.code == 0, ran.err
    assert "secret-1" not in ran.out
    assert file.read_text() == f'{CODEX}\n[mcp_servers.repertory]\ncommand = "{REPERTORY}"\nargs = ["mcp"]\n'
    assert "has repertory already" in desk.install("codex", "--yes").out
    assert desk.install("codex", "--discover", "--yes").code == 0
    assert file.read_text() == f'{CODEX}\n[mcp_servers.repertory]\ncommand = "{REPERTORY}"\nargs = ["mcp", "--discover"]\n'
    assert desk.install("codex", "--remove", "--yes").code == 0
    assert file.read_text() == CODEX


def test_codex_takes_out_what_stands_between_others(desk: Desk) -> None:
    ours = '[mcp_servers."repertory"]\ncommand = "old"\nargs = [\n  "mcp",\n]\n[mcp_servers.repertory.env]\nA = "1"\n\n'
    file = desk.write("codex", CODEX.replace("# about the end", f"{ours}# about the end"))
    assert desk.install("codex", "--remove", "--yes").code == 0
    assert tomllib.loads(file.read_text()) == tomllib.loads(CODEX)
    assert "# about the end\n[tools]" in file.read_text()
    assert "# mine" in file.read_text()


@pytest.mark.parametrize(
    "text", ["mcp_servers = { files = { command = 'f' } }\n", "model = \n", "[mcp_servers.repertory]\ncommand='x'\nenv={A='1'}\n"]
)
def test_codex_is_left_alone_where_a_table_does_not_fit(desk: Desk, text: str) -> None:
    file = desk.write("codex", text)
    ran = desk.install("codex", "--yes")
    assert ran.code == 3
    assert "[mcp_servers.repertory]" in ran.err
    assert file.read_text() == text


def test_an_entry_of_that_name_keeps_its_other_keys(desk: Desk) -> None:
    file = desk.write("cursor", '{"mcpServers": {"repertory": {"url": "https://old.example", "env": {"REPERTORY_PRESET": "auto"}}}}')
    assert desk.install("cursor", "--yes").code == 0
    assert _servers(file)["repertory"] == {"command": str(REPERTORY), "args": ["mcp"], "env": {"REPERTORY_PRESET": "auto"}}


def test_it_asks_and_shows_only_what_changes(desk: Desk) -> None:
    file = desk.write("cursor", STYLES["two blanks"])
    for ran in (desk.install("cursor", typed="n\n"), desk.install("cursor", "--dry-run")):
        assert ran.code == 0
        assert '+    "repertory": {' in ran.out
        assert "secret-1" not in ran.out
        assert file.read_text() == STYLES["two blanks"]
    assert desk.install("cursor", typed="y\n").code == 0
    assert "repertory" in _servers(file)
    assert "does not have nothing-like-it already" in desk.install("cursor", "--remove", "--name", "nothing-like-it", "--yes").out


def test_a_link_stays_a_link_and_backups_pile_up(desk: Desk) -> None:
    real = desk.project / "dotfiles.json"
    real.write_text(STYLES["two blanks"])
    (desk.home / ".cursor").mkdir()
    (desk.home / OWN["cursor"]).symlink_to(real)
    for name in ("one", "two"):
        assert desk.install("cursor", "--name", name, "--yes").code == 0
    assert (desk.home / OWN["cursor"]).is_symlink()
    assert list(_servers(real)) == ["files", "one", "two"]
    assert sorted(one.name for one in desk.project.iterdir()) == ["dotfiles.json", "dotfiles.json.backup", "dotfiles.json.backup-1"]


def test_without_a_client_it_says_which_are_here(desk: Desk) -> None:
    desk.write("codex", CODEX)
    desk.install("cursor", "--yes")
    said = {line.split()[0]: line for line in desk.install().out.splitlines()}
    assert list(said) == list(CLIENTS)
    assert "has repertory" in said["cursor"]
    assert "found" in said["codex"]
    assert "not found" in said["gemini"]
    wrong = desk.install("emacs")
    assert (wrong.code, "claude-desktop, claude-code" in wrong.err) == (2, True)


def test_places_on_other_systems() -> None:
    home = Path("/home/ada")
    desktop = {system: place_of("Claude Desktop", home, platform=system) for system in ("darwin", "win32", "linux")}
    assert desktop == {
        "darwin": home / "Library/Application Support/Claude/claude_desktop_config.json",
        "win32": home / "AppData/Roaming/Claude/claude_desktop_config.json",
        "linux": home / ".config/Claude/claude_desktop_config.json",
    }
    assert place_of("VS Code", home, platform="darwin") == home / "Library/Application Support/Code/User/mcp.json"
    assert place_of("VS Code", home, platform="win32") == home / "AppData/Roaming/Code/User/mcp.json"
    assert all(place_of(client.program, home, platform=system) for client in CLIENTS.values() for system in ("darwin", "win32", "linux"))
    assert place_of("Claude Desktop", home, Path("/work")) is None
