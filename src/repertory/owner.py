"""Which process owns a catalog directory?

One at a time. The owner holds a lock that the system releases when the process dies, and leaves a note saying who it is; an owner that
serves adds its address and a token, so that a second `repertory` command can ask it instead.
"""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from repertory.errors import CatalogBusy, CatalogError


@dataclass(frozen=True, slots=True)
class Owner:
    """The note an owner leaves."""

    pid: int
    url: str | None = None
    token: str | None = None  # whoever can read the note may act as the owner


class Ownership:
    """Holds a catalog directory until released."""

    def __init__(self, directory: Path) -> None:
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CatalogError(f"The catalog directory {directory} cannot be made: {error.strerror}.") from error
        self._note = directory / "owner.json"
        self._lock = FileLock(directory / "owner.lock", thread_local=False)  # opened and closed on different threads
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise CatalogBusy(_busy(directory, owner_of(directory))) from None
        self._write(Owner(os.getpid()))

    def announce(self, url: str) -> str:
        """Tell other commands where this owner serves; answers the token that they will show."""
        token = secrets.token_urlsafe(32)
        self._write(Owner(os.getpid(), url, token))
        return token

    def release(self) -> None:
        """Let another process have the directory."""
        self._note.unlink(missing_ok=True)
        self._lock.release()

    def _write(self, owner: Owner) -> None:
        partial = self._note.with_suffix(".partial")
        partial.unlink(missing_ok=True)
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(asdict(owner), file)
        partial.replace(self._note)


def owner_of(directory: Path) -> Owner | None:
    """The note of the owner, if there is a readable one. It may be stale: the lock decides, not the note."""
    try:
        return Owner(**json.loads((directory / "owner.json").read_text()))
    except (OSError, ValueError, TypeError):
        return None


def _busy(directory: Path, owner: Owner | None) -> str:
    who = f"process {owner.pid}" if owner else "another process"
    where = f", which serves it at {owner.url}" if owner and owner.url else ""
    return f"The catalog {directory} is in use by {who}{where}. Wait until it is done, stop it, or choose another catalog with --catalog."
