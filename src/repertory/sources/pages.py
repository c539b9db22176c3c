"""Which file does a link mean?"""

from __future__ import annotations

import posixpath
import unicodedata
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from repertory.model import Kind
from repertory.sources.inline import Target
from repertory.sources.skills import FILE_NAME as SKILL_FILE_NAME

SUFFIXES = frozenset({".md", ".markdown", ".txt"})


def document_path(page: str, namespace: str) -> str:
    """The path of a file's entity: where the file is under its root, never its stem alone (B02)."""
    return f"{namespace}/{page}" if namespace else page


class Pages:
    """The files of one root that links can lead to. A page is known by its path from the root."""

    def __init__(self, root: Path, files: Iterable[Path]) -> None:
        self._by_path: dict[str, str] = {}
        self._by_ending: dict[str, str] = {}  # "b/page" and "page" for "a/b/page.md"
        pages = (file.relative_to(root).as_posix() for file in files if file.suffix.lower() in SUFFIXES)
        # Of equal names the one nearest to the root is meant.
        for page in sorted(pages, key=lambda page: (page.count("/"), page)):
            for key in (_key(page), _key(_without_suffix(page))):
                self._by_path.setdefault(key, page)
                steps = key.split("/")
                for number in range(len(steps)):
                    self._by_ending.setdefault("/".join(steps[number:]), page)

    def entity_id(self, target: Target, page: str, namespace: str) -> str | None:
        """The id of what a link in this page leads to; None if it leads nowhere, or to itself."""
        found = self._find(target, page)
        if found is None or found == page:
            return None
        if posixpath.basename(found) == SKILL_FILE_NAME:
            return f"{Kind.SKILL.prefix}:{PurePosixPath(found).parent.name}"
        return f"{Kind.DOCUMENT.prefix}:{document_path(found, namespace)}"

    def _find(self, target: Target, page: str) -> str | None:
        folder = posixpath.dirname(page)
        if target.page.startswith("/"):
            return self._by_path.get(_key(posixpath.normpath(target.page.lstrip("/"))))
        beside = self._by_path.get(_key(posixpath.normpath(posixpath.join(folder, target.page))))
        if beside is not None or not target.wiki:
            return beside
        return self._by_ending.get(_key(posixpath.normpath(target.page)))


def _without_suffix(page: str) -> str:
    return posixpath.splitext(page)[0]


def _key(text: str) -> str:
    """Spelled alike, found alike: case and Unicode forms differ between file systems."""
    return unicodedata.normalize("NFC", text).casefold()
