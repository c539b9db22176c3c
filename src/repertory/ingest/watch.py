"""When does a file source have to be read again?

When something in it was saved, moved or removed (B11): the system tells, and a burst of changes is one. The first reading comes after the
watch has begun, so that no change falls between them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path

from watchfiles import Change, awatch

from repertory.errors import RepertoryError
from repertory.offload import offload
from repertory.sources.folder import SUFFIXES
from repertory.sources.walk import is_skipped

_log = logging.getLogger(__name__)

DEBOUNCE = 300  # milliseconds: an editor writes a file in several steps, a checkout many files
QUIET = 50  # milliseconds without a change end a burst sooner

Read = Callable[[Path], Awaitable[object]]


class Watcher:
    """Follows files and folders until it is closed, and has each read again when it changes."""

    def __init__(self, read: Read, catalog: Path) -> None:
        self._read = read
        self._catalog = catalog.resolve()  # it may lie in a folder that is watched, and is written by every reading
        self._tasks: dict[Path, asyncio.Task[None]] = {}

    def follow(self, location: Path) -> None:
        """Read a location now, and again whenever it changes. One that is followed already stays so."""
        if location not in self._tasks or self._tasks[location].done():
            self._tasks[location] = asyncio.create_task(self._follow(location))

    async def close(self) -> None:
        """Follow nothing any more."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _follow(self, location: Path) -> None:
        is_folder = await offload(location.is_dir)
        watched = location if is_folder else location.parent  # a saved file is often a new one under the old name
        if not await offload(watched.exists):
            _log.warning("%s is not there any more and is not watched", location)
            return

        def matters(_: Change, name: str) -> bool:
            return self._matters(Path(name), location, is_folder)

        bursts = awatch(watched, watch_filter=matters, debounce=DEBOUNCE, step=QUIET, recursive=is_folder)
        burst = asyncio.ensure_future(anext(bursts))
        try:
            await asyncio.sleep(0)  # the watch begins in the first step of `awatch`
            while True:
                await self._read_again(location)
                await burst
                burst = asyncio.ensure_future(anext(bursts))
        finally:
            burst.cancel()
            await asyncio.gather(burst, return_exceptions=True)
            await bursts.aclose()

    def _matters(self, file: Path, location: Path, is_folder: bool) -> bool:
        if not is_folder:
            return file == location
        if file.is_relative_to(self._catalog) or any(map(is_skipped, file.relative_to(location).parts)):
            return False
        return not file.suffix or file.suffix.lower() in SUFFIXES or file.is_dir()  # without a suffix: perhaps a folder that is gone

    async def _read_again(self, location: Path) -> None:
        try:
            await self._read(location)
        except RepertoryError as error:  # half of a checkout, a folder that is gone: what was read stays
            _log.warning("%s was not read again: %s", location, error)
        except Exception:
            _log.exception("%s was not read again; the next change is another chance", location)
