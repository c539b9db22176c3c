"""How does the process beside us work out what follows from entities?

It gets entities and answers what follows from them, as pickles over its pipes, as long as there is somebody at the other end (`ahead`). It
imports no more than `prepare` needs: a database here would take as long to load as half its work.
"""

from __future__ import annotations

import gc
import io
import os
import pickle
import signal
import struct
import sys
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import IO, Any

from repertory.indexes.read import pack
from repertory.ingest.prepare import prepare_all
from repertory.model import Entity

SWITCH = 0.0005  # seconds: whoever waits for the pipes must not wait for the one who computes
_ADMITTED = frozenset({"builtins", "collections", "datetime", "decimal", "uuid"})  # whose classes may come in entities, beside our own
_SIZE = struct.Struct("<Q")


def serve() -> None:
    """Answer what follows from the entities that come in, until no more can come."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for whoever started us
    sys.setswitchinterval(SWITCH)
    gc.disable()  # nothing here refers to itself, and looking for it takes a quarter
    given = os.fdopen(os.dup(0), "rb", buffering=0)
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # what anybody prints is no answer
    inspected = pickle.loads(get(given))  # noqa: S301 - by the process that started us
    work: SimpleQueue[bytes] = SimpleQueue()
    done: SimpleQueue[bytes] = SimpleQueue()
    _beside(lambda: work.put(get(given)))
    _beside(lambda: put(answers, done.get()))
    while True:
        done.put(_worked_out(_Entities(io.BytesIO(work.get())).load(), inspected))


def _worked_out(entities: list[Entity], inspected: bool) -> bytes:
    prepared = prepare_all(entities, inspected=inspected)
    told = [(*one[1:-1], ()) for one in prepared]  # they have the entities themselves
    return pickle.dumps((told, pack([reading for one in prepared for reading in one.readings])), pickle.HIGHEST_PROTOCOL)


def _beside(do: Callable[[], object]) -> None:
    """Again and again, in a thread. Where nobody is there any more to talk to, there is nothing left to do."""

    def again() -> None:
        try:
            while True:
                do()
        except (OSError, EOFError):
            os._exit(0)

    Thread(target=again, daemon=True).start()


class _Entities(pickle.Unpickler):
    """Reads entities, and nothing for which a module of others would have to be imported."""

    def find_class(self, module: str, name: str) -> Any:
        if module not in _ADMITTED and module.partition(".")[0] != "repertory":
            raise pickle.UnpicklingError(f"{module} is not ours")
        return super().find_class(module, name)


def put(pipe: IO[bytes], message: bytes) -> None:
    """Write a message."""
    left = memoryview(_SIZE.pack(len(message)) + message)
    while left:
        left = left[pipe.write(left) :]


def get(pipe: IO[bytes]) -> bytes:
    """Read a message. Raises `EOFError` where none can come any more."""
    (size,) = _SIZE.unpack(_exactly(pipe, _SIZE.size))
    return bytes(_exactly(pipe, size))


def _exactly(pipe: IO[bytes], size: int) -> bytearray:
    found = bytearray(size)
    view = memoryview(found)
    while view:
        count = pipe.readinto(view)  # type: ignore[attr-defined]
        if not count:
            raise EOFError
        view = view[count:]
    return found
