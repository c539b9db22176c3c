"""Which files does a path bring in, and who reads each of them?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from repertory.errors import SourceError
from repertory.model import Entity
from repertory.sources import pages, values, walk
from repertory.sources.a2a import AgentCardReader
from repertory.sources.base import Problem, Reader
from repertory.sources.content import Unreadable, storable
from repertory.sources.markdown import MarkdownReader
from repertory.sources.registry import RegistryReader
from repertory.sources.skills import SkillReader
from repertory.sources.toolfile import ToolFileReader
from repertory.sources.virtual import VirtualServerReader

SUFFIXES = pages.SUFFIXES | values.SUFFIXES

Progress = Callable[[int, int], None]  # files done, files in all


def files(path: Path) -> list[Path]:
    """The files that a path brings in, sorted: under a folder those whose names fit some format, or the one it names.

    Raises `SourceError` for a path that does not exist, or a file that no reader knows.
    """
    try:
        path.stat()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or error
        hint = f"Check the spelling; a relative path starts at {Path.cwd()}"
        raise SourceError(f"no such file or folder: {storable(str(path))} ({reason}). {hint}") from error
    if not path.is_dir():
        _require_reader(path)
        return [path]
    return [file for file in walk.files(path) if file.suffix.lower() in SUFFIXES or file.is_dir()]


def readers(listed: Sequence[Path] | None = None) -> tuple[Reader, ...]:
    """One reader per format, in the order of asking: a SKILL.md is Markdown too, an agent card has a name like a tool.

    `listed` are the files that links can lead to; without it the first link of a file has its root walked.
    """
    return (SkillReader(), MarkdownReader(listed), AgentCardReader(), RegistryReader(), VirtualServerReader(), ToolFileReader())


def read_path(path: Path, namespace: str, progress: Progress | None = None) -> Iterator[Entity | Problem]:
    """The entities of a file, or of all files under a folder in sorted order.

    Raises `SourceError` as `files` does: at once, before anything is read.
    """
    return _read_all(files(path), path if path.is_dir() else path.parent, namespace, progress)


def read_file(
    file: Path,
    root: Path,
    namespace: str,
    asked: Sequence[Reader] | None = None,
) -> Iterator[Entity | Problem]:
    """The entities of one file under a root; none if no reader knows it.

    Who reads many files asks the same readers for all: they share one look at the root.
    """
    if file.is_dir():
        yield Problem(storable(str(file)), "the folder cannot be listed; check that it may be read")
        return
    reader = _reader(file, asked or readers())
    if reader is None:
        return
    if not _is_utf8(str(file.absolute())):
        yield Problem(storable(str(file)), "its name is not UTF-8, so it can have no path in the catalog; rename it")
        return
    yield from reader.read(file, root, namespace.strip("/"))


def _read_all(
    listed: Sequence[Path],
    root: Path,
    namespace: str,
    progress: Progress | None,
) -> Iterator[Entity | Problem]:
    asked = readers(listed)
    for number, file in enumerate(listed, start=1):
        yield from read_file(file, root, namespace, asked)
        if progress is not None:
            progress(number, len(listed))


def _reader(file: Path, asked: Sequence[Reader]) -> Reader | None:
    return next((reader for reader in asked if reader.recognises(file)), None)


def _require_reader(file: Path) -> None:
    if file.is_file() and _reader(file, readers()) is not None:
        return
    if file.is_file() and file.suffix.lower() in values.SUFFIXES:
        try:
            values.load(file)
        except Unreadable as error:  # the better answer to a slip of the pen
            raise SourceError(f"{error.problem(file).where}: {error}") from error
    raise SourceError(
        f"not a tool file, agent card, server.json, SKILL.md or Markdown: {storable(str(file))}. Give a .json or .yaml file of tools, "
        "of servers or of an agent, a SKILL.md, a .md or .txt file, or a folder that holds some of these"
    )


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
