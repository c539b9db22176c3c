"""How does a terminal keep a catalog fresh?"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from repertory.app import open_with
from repertory.cli import render
from repertory.ingest.report import IngestReport
from repertory.settings import Settings


def watch(settings: Settings, paths: Sequence[Path], out: Console, err: Console) -> None:
    """Watch until interrupted."""
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_watch(settings, paths, out, err))


async def _watch(settings: Settings, paths: Sequence[Path], out: Console, err: Console) -> None:
    def tell(report: IngestReport) -> None:
        answer = render.clean(asdict(report))
        render.problems(err, answer)
        if report.added or report.changed or report.removed or report.moved:
            out.print(render.report(answer))

    async with open_with(settings) as rep:
        for path in paths:
            tell(await rep.add(path))  # here, because a path that is not there is the caller's mistake
        watching = asyncio.ensure_future(rep.watch(paths, tell))
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, watching.cancel)
        err.print(f"Watching {', '.join(map(str, paths)) or 'every file source'}  [dim](Ctrl-C stops)[/]", highlight=False)
        with contextlib.suppress(asyncio.CancelledError):
            await watching
