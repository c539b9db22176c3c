"""How are the real programs started, and stopped again?

Every program gets an environment of its own, so that no setting, colour or width of the person who runs the tests reaches it.
"""

from __future__ import annotations

import contextlib
import json
import os
import pty
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

REPERTORY = Path(sys.executable).parent / "repertory"
PATIENCE = 30.0  # seconds for a program to start on a busy machine
STOPPING = 5.0  # seconds within which a server must have ended


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def answer(self) -> dict[str, Any]:
        """The JSON on stdout; that there is nothing else on it is part of the promise."""
        assert self.code == 0, self.err
        parsed = json.loads(self.out)
        assert isinstance(parsed, dict)
        return parsed


@dataclass(frozen=True, slots=True)
class Served:
    """A serving process."""

    process: subprocess.Popen[bytes]
    catalog: Path
    url: str
    token: str
    log: Path  # what it wrote to stdout and stderr

    @property
    def as_owner(self) -> dict[str, str]:
        """The header that shows the token."""
        return {"Authorization": f"Bearer {self.token}"}

    @property
    def said(self) -> str:
        """What it has written so far."""
        return self.log.read_text("utf-8")


def run(*arguments: str | Path, catalog: Path | None = None, **settings: str) -> Ran:
    """`repertory` with these arguments; settings are names of environment variables."""
    with tempfile.TemporaryDirectory() as elsewhere:  # no repertory.toml here
        return run_in(Path(elsewhere), "", *arguments, catalog=catalog, **settings)


def run_in(directory: Path, typed: str, /, *arguments: str | Path, catalog: Path | None = None, **settings: str) -> Ran:
    """The same in a directory, with somebody who types answers."""
    done = subprocess.run(
        _command(arguments, catalog),
        env=_environment(settings),
        cwd=directory,
        input=typed,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def run_in_terminal(*arguments: str | Path, catalog: Path | None = None, **settings: str) -> Ran:
    """The same with stderr on a terminal, where progress is drawn, and stdout in a pipe."""
    master, terminal = pty.openpty()
    shown = b""
    with (
        tempfile.TemporaryDirectory() as elsewhere,
        tempfile.TemporaryFile() as out,
        subprocess.Popen(
            _command(arguments, catalog),
            env=_environment({"TERM": "xterm", **settings}),
            cwd=elsewhere,
            stdout=out,
            stderr=terminal,
        ) as process,
    ):
        os.close(terminal)
        with contextlib.suppress(OSError):  # how Linux says that nobody has the terminal open any more
            while piece := os.read(master, 4096):
                shown += piece
        os.close(master)
        code = process.wait(PATIENCE)
        out.seek(0)
        return Ran(code, out.read().decode(), shown.decode())


@contextlib.contextmanager
def serving(catalog: Path, *arguments: str, **settings: str) -> Iterator[Served]:
    """`repertory serve` on a free port, from its first answer until the block ends."""
    with (
        tempfile.TemporaryDirectory() as elsewhere,
        tempfile.NamedTemporaryFile() as log,
        subprocess.Popen(
            _command(("serve", "--port", "0", *arguments), catalog),
            env=_environment(settings),
            cwd=elsewhere,
            stdout=log,
            stderr=log,
        ) as process,
    ):
        try:
            note = _announced(process, catalog, Path(log.name))
            yield Served(process, catalog, note["url"], note["token"], Path(log.name))
        finally:
            stop(process)


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a process that may have ended already."""
    process.terminate()
    try:
        process.wait(STOPPING)
    except subprocess.TimeoutExpired:
        process.kill()
        raise


def _announced(process: subprocess.Popen[bytes], catalog: Path, log: Path) -> dict[str, Any]:
    """What the process says in its note, once it answers."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(OSError, ValueError, httpx2.HTTPError):
            note: dict[str, Any] = json.loads((catalog / "owner.json").read_text("utf-8"))
            if note["pid"] == process.pid and note["url"] and httpx2.get(f"{note['url']}/health", trust_env=False).status_code == 200:
                return note
        time.sleep(0.02)
    raise AssertionError(f"The server did not start: {log.read_text('utf-8')}")


def _command(arguments: tuple[str | Path, ...], catalog: Path | None) -> list[str]:
    return [str(REPERTORY), *map(str, arguments), *(("--catalog", str(catalog)) if catalog else ())]


def _environment(settings: dict[str, str]) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}  # the code under test, wherever it lies
    return {**kept, "HOME": tempfile.gettempdir(), "LANG": "C.UTF-8", "COLUMNS": "200", **settings}
