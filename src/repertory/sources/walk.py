"""Which files are under a folder?"""

from __future__ import annotations

import os
from pathlib import Path

SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "dist", "build"})  # made by tools, not written by people


def files(root: Path) -> list[Path]:
    """The files under a folder, sorted, without hidden ones, those that tools have made, and links that lead outside.

    Each file is listed once: under its own path where that is walked, else under the first link to it. A folder that
    may not be listed is in the list itself, so that reading it can say why.
    """
    walk = _Walk(root)
    walk.enter(root, walk.real_root)
    walk.follow_links()
    return sorted(walk.found, key=lambda file: file.parts)


def is_skipped(name: str) -> bool:
    """Whether files and folders of this name are never read."""
    return name.startswith(".") or name in SKIPPED


class _Walk:
    def __init__(self, root: Path) -> None:
        self.real_root = os.path.realpath(root)
        self.found: list[Path] = []
        self._links: list[Path] = []
        self._seen: set[str] = set()  # real paths: links can make a circle

    def enter(self, folder: Path, real_folder: str) -> None:
        """List everything under a folder; links are kept for later."""
        waiting = [(folder, real_folder)]
        while waiting:
            shown, real = waiting.pop()
            if real in self._seen:
                continue
            self._seen.add(real)
            try:
                with os.scandir(real) as entries:
                    listed = sorted(entries, key=lambda entry: entry.name)
            except OSError:
                self.found.append(shown)
                continue
            for entry in listed:
                if is_skipped(entry.name):
                    continue
                if entry.is_symlink():
                    self._links.append(shown / entry.name)
                elif entry.is_dir(follow_symlinks=False):
                    waiting.append((shown / entry.name, entry.path))
                elif entry.is_file(follow_symlinks=False) and entry.path not in self._seen:
                    self._seen.add(entry.path)
                    self.found.append(shown / entry.name)

    def follow_links(self) -> None:
        """List what links lead to, if it is inside the root and not listed yet. Linked folders can bring more links."""
        while self._links:
            links, self._links = sorted(self._links), []
            for link in links:
                real = os.path.realpath(link)
                if real in self._seen or not Path(real).is_relative_to(self.real_root):
                    continue
                if Path(real).is_dir():
                    self.enter(link, real)
                elif Path(real).is_file():
                    self._seen.add(real)
                    self.found.append(link)
