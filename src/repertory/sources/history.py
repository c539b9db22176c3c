"""What happened in a git repository?

One entity per commit: its message, when, by whom, and what it changed. The `git` program is asked, without a shell. A repository may be
hostile: nothing that its configuration names is run, nothing is fetched, and names of files come apart at NUL alone.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from repertory.errors import SourceError
from repertory.model import Entity, Kind
from repertory.sources import attributes
from repertory.sources.content import storable

COMMITS = 1_000  # the newest, if nothing else is said: what happened lately is what people ask for
TIMEOUT = 120.0  # seconds; a thousand commits take less than one, in the largest repositories ten
MAX_OUTPUT = 64 * 1024 * 1024  # bytes; a thousand commits have some 200 kB
MAX_FILES = 100  # of a commit that are listed; one that touches more is a move or an import
MAX_TAGS = 10  # the same, for folders

_FIELDS = ("sha", "author", "authored", "committed", "message")
_FORMAT = "%H%x00%an%x00%aI%x00%cI%x00%B"
_NUMSTAT = re.compile(r"(\d+|-)\t(\d+|-)\t(.*)", re.DOTALL)  # "-": binary
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_QUIET = ("-c", f"core.hooksPath={os.devnull}", "-c", "core.fsmonitor=false", "-c", "protocol.allow=never")
_PLAIN = ("--no-ext-diff", "--no-textconv", "--no-renames", "--no-show-signature", "--no-color", "--submodule=short", "--encoding=UTF-8")


def top_of(path: Path) -> Path:
    """The top folder of the repository that a path is in. Raises `SourceError` where there is none."""
    if not path.is_dir():
        raise SourceError(f"no such folder: {storable(str(path))}. A history is read from a folder with a git repository.")
    bare = _git(path, ["rev-parse", "--is-bare-repository"]).strip() == b"true"
    told = _git(path, ["rev-parse", "--absolute-git-dir" if bare else "--show-toplevel"])
    return Path(os.fsdecode(told.removesuffix(b"\n"))).resolve()


def read_history(top: Path, commits: int = COMMITS) -> Iterator[Entity]:
    """The newest commits of a repository, the newest first. Raises `SourceError` at once where git cannot read them."""
    command = ["log", "-z", f"--max-count={commits}", f"--format=tformat:{_FORMAT}", "--numstat", *_PLAIN, "HEAD", "--"]
    return _commits(_git(top, command).decode("utf-8", "replace").split("\0"), top)


def _commits(pieces: Sequence[str], top: Path) -> Iterator[Entity]:
    position = 0
    while position < len(pieces):
        head = dict(zip(_FIELDS, pieces[position : position + len(_FIELDS)], strict=False))
        head["sha"] = head["sha"].strip("\n")
        if not _SHA.fullmatch(head["sha"]):
            if not any(piece.strip("\n") for piece in pieces[position:]):
                return
            raise SourceError(f"git told the history of {storable(str(top))} in a way that is not understood. Check its version.")
        position += len(_FIELDS)
        files: list[dict[str, Any]] = []
        while position < len(pieces) and (changed := _NUMSTAT.fullmatch(pieces[position].removeprefix("\n"))):
            files.append(_file(*changed.groups()))
            position += 1
        while position < len(pieces) and not pieces[position].strip("\n"):
            position += 1
        yield _entity(head, files, top)


def _file(added: str, deleted: str, path: str) -> dict[str, Any]:
    counts = {} if added == "-" else {"added": int(added), "deleted": int(deleted)}
    return {"path": storable(path), **counts}


def _entity(head: dict[str, str], files: list[dict[str, Any]], top: Path) -> Entity:
    sha = head["sha"]
    subject, _, body = storable(head["message"]).strip().partition("\n")
    readable = "".join(character if character.isprintable() else " " for character in subject)
    name = readable[: attributes.MAX_NAME].strip() or sha[:12]
    shown = files[:MAX_FILES]
    more = [f"and {len(files) - len(shown)} more files"] if len(files) > len(shown) else []
    text = "\n".join([body.strip(), f"{storable(head['author'])}, {head['authored'][:10]}", *map(_summary, shown), *more]).strip()
    folders = attributes.unique(file["path"].partition("/")[0] for file in files if "/" in file["path"])
    return Entity(
        kind=Kind.DOCUMENT,
        path=f"{storable(top.name.removesuffix('.git') or 'root')}@{sha[:12]}",
        name=name,
        tags=folders[:MAX_TAGS],
        details={
            "sections": [{"path": [name], "text": text}],
            "commit": {"sha": sha, "author": storable(head["author"]), "authored": head["authored"], "changed": len(files), "files": shown},
        },
        modified=_moment(head["committed"]),
        provenance=storable(str(top)),
    )


def _summary(file: dict[str, Any]) -> str:
    """A line as `git log --stat` has it, in words that a search can use."""
    counts = f"+{file['added']} -{file['deleted']}" if "added" in file else "binary"
    return f"{file['path']} ({counts})"


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:  # git stores whatever somebody has written into a commit
        return None


def _git(folder: Path, arguments: list[str]) -> bytes:
    """What git prints, bounded in size and time."""
    command = ["git", "--no-pager", "--no-optional-locks", "--literal-pathspecs", *_QUIET, *arguments]
    with tempfile.TemporaryFile() as complaints:
        try:
            process = subprocess.Popen(  # noqa: S603  no shell, and arguments of our own
                command, cwd=folder, env=_environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=complaints
            )
        except FileNotFoundError as error:
            raise SourceError("Reading a history needs the program git, which is not installed.") from error
        timer = threading.Timer(TIMEOUT, process.kill)
        timer.start()
        try:
            with process:
                told = process.stdout.read(MAX_OUTPUT + 1) if process.stdout else b""
                if len(told) > MAX_OUTPUT:
                    process.kill()
        finally:
            timer.cancel()
        if len(told) > MAX_OUTPUT:
            raise SourceError(f"The history in {storable(str(folder))} is larger than {MAX_OUTPUT // 1024**2} MB. Read fewer commits.")
        if process.returncode:
            complaints.seek(0)
            lines = complaints.read(4096).decode("utf-8", "replace").strip().splitlines()
            why = storable(lines[0]) if lines else f"it ended with {process.returncode}, or took more than {TIMEOUT:g} s"
            raise SourceError(f"git cannot read a history in {storable(str(folder))}: {why}")
        return told


def _environment() -> dict[str, str]:
    """Ours without what would point git elsewhere; nothing is asked, fetched or replaced."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {
        **kept,
        "LC_ALL": "C",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_ALLOW_PROTOCOL": "none",
    }
