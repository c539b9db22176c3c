"""Who works out what follows from entities while others are written?

A second process, for runs that bring thousands: what follows from an entity needs no catalog (`prepare`), and takes as long as writing it.
It gets entities and answers what follows, as pickles over its pipes. It is a process that is started anew, because a fork beside the
threads of the engine can hang and `multiprocessing` would run the main module of whoever uses us again. It ends with its input, so it
outlives nobody. Where it cannot be started, or breaks, its work is done here.
"""

from __future__ import annotations

import io
import pickle
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from types import MappingProxyType
from typing import IO, cast

from repertory.indexes.read import unpack
from repertory.ingest.beside import get, put
from repertory.ingest.difference import Batch
from repertory.ingest.prepare import Prepared, prepare
from repertory.model import Entity

ENOUGH = 2_000  # entities that changed: below that, starting a process takes longer than it saves
DEPTH = 2  # batches that are under way while one is written: one in work, one that waits for it
PATIENCE = 5.0  # seconds for the process to end once its input has
_PROGRAM = "import sys; sys.path[:] = sys.argv[1:]; from repertory.ingest.beside import serve; serve()"
_END = b""


def ahead(batches: Iterable[Batch], *, inspected: bool) -> Iterator[tuple[Batch, list[Prepared]]]:
    """Each batch with what follows from the entities that changed in it."""
    under_way: deque[tuple[Batch, bool]] = deque()  # and whether the helper was given it
    helper: _Helper | None = None
    changed = 0
    try:
        for batch in batches:
            changed += len(batch.changes.put_entities)
            under_way.append((batch, helper is not None and helper.give(batch.changed)))
            if helper is None and changed > ENOUGH:
                helper = _Helper(inspected)
                mine, *others = under_way
                under_way = deque([mine, *((other, helper.give(other.changed)) for other, _ in others)])
            if len(under_way) > DEPTH:
                yield _take(*under_way.popleft(), helper, inspected)
        while under_way:
            yield _take(*under_way.popleft(), helper, inspected)
    finally:
        if helper is not None:
            helper.close()


def _take(batch: Batch, given: bool, helper: _Helper | None, inspected: bool) -> tuple[Batch, list[Prepared]]:
    found = helper.take(batch.changed) if given and helper is not None else None
    return batch, prepare(batch.changed, inspected=inspected) if found is None else found


class _Helper:
    """The other process, as it is seen from here. Once it has failed it is left alone."""

    def __init__(self, inspected: bool) -> None:
        self._process = _start()
        self._given: SimpleQueue[bytes] = SimpleQueue()
        if self._process is not None:
            Thread(target=self._hand_over, args=[self._process], daemon=True).start()
            self._given.put(pickle.dumps(inspected))

    def give(self, entities: list[Entity]) -> bool:
        """Have these worked out; answers whether they will be."""
        packed = io.BytesIO()
        pickler = pickle.Pickler(packed, pickle.HIGHEST_PROTOCOL)
        pickler.dispatch_table = {MappingProxyType: lambda mapping: (dict, (dict(mapping),))}
        try:
            pickler.dump(entities)
        except Exception:  # a program may put anything into its entities
            return False
        self._given.put(packed.getvalue())
        return self._process is not None

    def _hand_over(self, process: subprocess.Popen[bytes]) -> None:
        """In a thread, because who has just been started does not listen yet."""
        with suppress(OSError), cast("IO[bytes]", process.stdin) as pipe:
            while message := self._given.get():
                put(pipe, message)

    def take(self, entities: list[Entity]) -> list[Prepared] | None:
        """What follows from these, which were given before; none where the process failed."""
        if self._process is None:
            return None
        try:
            told, packed = pickle.loads(get(cast("IO[bytes]", self._process.stdout)))  # noqa: S301 - by our own process
        except (OSError, EOFError):
            self.close()
            return None
        readings = unpack(packed)
        found = [Prepared._make((entity, *one)) for entity, one in zip(entities, told, strict=True)]
        return [one._replace(readings=tuple(islice(readings, len(one.documents)))) for one in found]

    def close(self) -> None:
        """End it, and wait until it is gone: nobody else would."""
        process, self._process = self._process, None
        if process is None:
            return
        self._given.put(_END)
        cast("IO[bytes]", process.stdout).close()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _start() -> subprocess.Popen[bytes] | None:
    if getattr(sys, "frozen", False) or not Path(sys.executable or "").name.startswith(("python", "pypy")):
        return None  # the executable is somebody's program, which would be run again
    command = [sys.executable, "-P", "-c", _PROGRAM, *(place for place in sys.path if place)]
    try:
        return subprocess.Popen(  # noqa: S603 - ourselves
            command, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
    except OSError:
        return None
