"""Which servers do configs name, in the words of each program?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from repertory.sources import clients
from repertory.sources.content import Unreadable
from repertory.sources.serverspec import ServerSpec, Transport

CLAUDE = """{"mcpServers": {
  "files": {"command": "npx", "args": ["-y", "files", 8], "env": {"TOKEN": "${FILES_TOKEN}"}},
  "web": {"type": "http", "url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${WEB:-none}"}},
  "old": {"url": "https://example.com/sse"}
}}"""
GEMINI = '{"theme": "dark", "mcpServers": {"web": {"httpUrl": "https://example.com/any"}}}'
CODE = """{
  // comments, and commas that are not needed
  "servers": {
    "web": {"type": "http", "url": "https://example.com/mcp" /* not a //comment in a text */, "headers": {"X": "${env:KEY}"},},
  },
}"""
CODEX = """
model = "any"
[mcp_servers.files]
command = "files"
args = ["--root", "."]
startup_timeout_sec = 90
[mcp_servers.web]
url = "https://example.com/mcp"
bearer_token_env_var = "WEB_TOKEN"
env_http_headers = { "X-Team" = "TEAM" }
[mcp_servers.off]
command = "off"
enabled = false
"""


def config(folder: Path, text: str, name: str = "mcp.json") -> clients.Config:
    file = folder / name
    file.write_text(text)
    assert clients.is_config(file)
    return clients.read(file)


def test_mcp_servers(tmp_path: Path) -> None:
    found = config(tmp_path, CLAUDE)
    assert found.specs["files"] == ServerSpec("files", Transport.STDIO, "npx", ("-y", "files", "8"), {"TOKEN": "${FILES_TOKEN}"})
    assert found.specs["web"].headers == {"Authorization": "Bearer ${WEB:-none}"}
    assert [spec.transport for spec in found.specs.values()] == [Transport.STDIO, Transport.HTTP, Transport.SSE]
    assert found.location("web") == f"{tmp_path / 'mcp.json'}#web"


def test_gemini(tmp_path: Path) -> None:
    found = config(tmp_path, GEMINI, "settings.json").specs["web"]
    assert (found.transport, found.url) == (Transport.HTTP, "https://example.com/any")


def test_vs_code_with_comments(tmp_path: Path) -> None:
    found = config(tmp_path, CODE).specs["web"]
    assert (found.url, found.headers) == ("https://example.com/mcp", {"X": "${env:KEY}"})


def test_codex(tmp_path: Path) -> None:
    found = config(tmp_path, CODEX, "config.toml")
    assert (found.specs["files"].args, found.specs["files"].timeout) == (("--root", "."), 90)
    assert found.specs["web"].headers == {"X-Team": "${TEAM}", "Authorization": "Bearer ${WEB_TOKEN}"}
    assert (set(found.specs), found.disabled) == ({"files", "web"}, frozenset({"off"}))


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({}, "neither a command nor a url"),
        ("npx", "must be an object"),
        ({"command": "x", "args": "-y"}, "args must be a list"),
        ({"command": "x", "env": {"TOKEN": ["secret"]}}, "env must hold texts"),
        ({"type": "ws", "url": "ws://example.com"}, "type is 'ws'"),
        ({"url": "file:///etc/passwd"}, "must start with http"),
    ],
)
def test_a_server_that_is_wrong_leaves_the_others(tmp_path: Path, entry: object, reason: str) -> None:
    found = config(tmp_path, json.dumps({"mcpServers": {"good": {"command": "x"}, "bad": entry}}, indent=1))
    assert set(found.specs) == {"good"}
    assert reason in found.problems["bad"].message
    assert "secret" not in found.problems["bad"].message
    assert found.problems["bad"].line is not None


def test_what_names_no_servers_is_no_config(tmp_path: Path) -> None:
    for name, text in {"a.json": '{"servers": ["north"]}', "b.json": '{"servers": {"north": {"region": "eu"}}}', "c.toml": "a = 1"}.items():
        (tmp_path / name).write_text(text)
        assert not clients.is_config(tmp_path / name)


def test_a_config_with_a_slip_says_where(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text('{"mcpServers": {\n "a": {"command" "x"}}}')
    assert clients.is_config(file)
    with pytest.raises(Unreadable) as failed:
        clients.read(file)
    assert failed.value.line == 2


def test_an_address_in_a_text_is_no_comment() -> None:
    assert clients.without_comments('{"a": "http://x/*y*/,]", "b": [1, /* 2 */],}') == '{"a": "http://x/*y*/,]", "b": [1         ] }'
