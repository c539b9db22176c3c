"""How is a process started many times without loading everything every time?

`multiprocessing` keeps a process that has imported what is needed and done nothing else: it has one thread, and no catalog open. Each start
is a fork of it: a process of its own, that is killed like any other.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

PRELOADED = ["pytest", "tests.conftest", "tests.faults.indexer", "tests.faults.writer", "repertory.app", "tokenizers"]

_context = multiprocessing.get_context("forkserver")


def start(main: Callable[..., None], *arguments: Any) -> tuple[BaseProcess, Connection]:
    """A process that runs `main(say, *arguments)`, and the end at which is heard what it says."""
    _context.set_forkserver_preload(PRELOADED)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("OPENBLAS_NUM_THREADS", "1")  # its threads start with the import, and who forks must have none
        forkserver.ensure_running()
    hear, say = _context.Pipe(duplex=False)
    process = _context.Process(target=_born, args=(main, say, *arguments), daemon=True)  # it does not outlive a test that fails
    process.start()
    say.close()  # so that the end is heard
    return process, hear


def rest(process: BaseProcess, hear: Connection) -> list[str]:
    """What a process still says until it has ended, or is killed."""
    said = []
    with hear, suppress(EOFError):
        while True:
            said.append(hear.recv())
    process.join()
    return said


def _born(main: Callable[..., None], say: Connection, *arguments: Any) -> None:
    threads = Path(f"/proc/{os.getppid()}/task")
    assert not threads.exists() or len(list(threads.iterdir())) == 1, "A fork beside threads can hang: something preloaded starts one."
    main(say, *arguments)
