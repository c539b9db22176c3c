"""Where do other programs on this machine keep their servers?

Files of the person's own are trusted as far as that person already runs what they name. Files of the current directory may have come with
somebody else's project: nothing that they name is started unasked.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from repertory.sources import clients
from repertory.sources.clients import Config
from repertory.sources.content import Unreadable

# Where programs keep settings, beside the home directory: (of this platform, of the others)
_SETTINGS = {"darwin": "Library/Application Support", "win32": "AppData/Roaming"}
_SETTINGS_ELSEWHERE = ".config"


class Place(NamedTuple):
    """A file that a program reads."""

    program: str
    path: str


OF_SETTINGS = (
    Place("Claude Desktop", "Claude/claude_desktop_config.json"),
    Place("VS Code", "Code/User/mcp.json"),
)
OF_HOME = (
    Place("Claude Code", ".claude.json"),
    Place("Cursor", ".cursor/mcp.json"),
    Place("Gemini", ".gemini/settings.json"),
    Place("Codex", ".codex/config.toml"),
)
OF_PROJECT = (
    Place("Claude Code", ".mcp.json"),
    Place("Cursor", ".cursor/mcp.json"),
    Place("VS Code", ".vscode/mcp.json"),
    Place("Gemini", ".gemini/settings.json"),
    Place("Codex", ".codex/config.toml"),
)


@dataclass(frozen=True, slots=True)
class Found:
    """A config on this machine, or why it cannot be read."""

    program: str
    file: Path
    trusted: bool
    config: Config | None
    error: str = ""


def place_of(program: str, home: Path, project: Path | None = None, platform: str = sys.platform) -> Path | None:
    """The file in which a program keeps its servers: for a project, or else for the person. None where it has no such file."""
    rows = [(project, OF_PROJECT)] if project else [(_settings(home, platform), OF_SETTINGS), (home, OF_HOME)]
    return next((base / place.path for base, places in rows for place in places if place.program == program), None)


def _settings(home: Path, platform: str) -> Path:
    return home / _SETTINGS.get(platform, _SETTINGS_ELSEWHERE)


def find(home: Path, project: Path, platform: str = sys.platform) -> list[Found]:
    """The configs of this machine that name servers, each file once."""
    found: dict[Path, Found] = {}
    for base, places, trusted in ((_settings(home, platform), OF_SETTINGS, True), (home, OF_HOME, True), (project, OF_PROJECT, False)):
        for one in _look(base, places, trusted):
            found.setdefault(one.file, one)
    return list(found.values())


def _look(base: Path, places: tuple[Place, ...], trusted: bool) -> Iterator[Found]:
    for program, path in places:
        file = (base / path).resolve()
        if not clients.is_config(file):
            continue
        try:
            config = clients.read(file)
        except Unreadable as error:
            yield Found(program, file, trusted, None, f"{error.problem(file).where}: {error}")
        else:
            if config.specs or config.problems:
                yield Found(program, file, trusted, config)
