"""How far is the reading of a source?

A run goes on when nobody listens to it. The last ones are remembered, in memory: what a run did is in the catalog.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from repertory.errors import Conflict, NotFound, RepertoryError
from repertory.ingest.report import IngestReport, Progress
from repertory.rest import answers
from repertory.rest.callers import Admin

router = APIRouter(tags=["sources"], responses=answers.problems(403))

KEPT = 100  # runs
HEARTBEAT = 15.0  # seconds of silence after which a listener hears that we are there: proxies cut silent connections

Work = Callable[[Progress], Awaitable[IngestReport]]


@dataclass(slots=True)
class Run:
    """One reading of a source."""

    location: str
    id: str = field(default_factory=lambda: secrets.token_hex(8))
    state: str = "running"
    started_at: str = field(default_factory=lambda: _now())
    ended_at: str | None = None
    progress: dict[str, Any] | None = None
    report: dict[str, Any] | None = None
    problem: dict[str, Any] | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)  # replaced whenever it was set

    def tell(self, **news: Any) -> None:
        """Take news, and wake whoever listens."""
        for name, value in news.items():
            setattr(self, name, value)
        self.changed.set()
        self.changed = asyncio.Event()

    def as_json(self) -> dict[str, Any]:
        """Plain JSON."""
        told = ("id", "location", "state", "started_at", "ended_at", "progress", "report", "problem")
        return {name: getattr(self, name) for name in told}


class Runs:
    """The last runs, newest last."""

    def __init__(self, behind: set[asyncio.Task[None]]) -> None:
        self._runs: OrderedDict[str, Run] = OrderedDict()
        self._behind = behind

    def start(self, location: str, work: Work) -> Run:
        """Begin a run behind the requests."""
        if len(self._runs) >= KEPT:
            ended = next((one for one in self._runs.values() if one.state != "running"), None)
            if ended is None:
                raise Conflict(f"{KEPT} runs are under way. Wait until one has ended.")
            del self._runs[ended.id]
        run = Run(location)
        self._runs[run.id] = run
        task = asyncio.create_task(_work(run, work))
        self._behind.add(task)
        task.add_done_callback(self._behind.discard)
        return run

    def get(self, run_id: str) -> Run:
        """One run."""
        if run_id not in self._runs:
            raise NotFound(f"There is no run {run_id!r}; the last {KEPT} are remembered.")
        return self._runs[run_id]

    def all(self) -> list[Run]:
        """The newest first."""
        return list(reversed(self._runs.values()))


async def _work(run: Run, work: Work) -> None:
    loop = asyncio.get_running_loop()

    def progress(stage: str, done: int, total: int) -> None:
        loop.call_soon_threadsafe(lambda: run.tell(progress={"stage": stage, "done": done, "total": total}))

    try:
        report = asdict(await work(progress))
        run.tell(state="done", ended_at=_now(), report=report)
    except RepertoryError as error:
        run.tell(state="failed", ended_at=_now(), problem={"code": error.code, "message": str(error)})
    except BaseException:
        run.tell(state="failed", ended_at=_now(), problem={"code": RepertoryError.code, "message": "It was ended; the log may say why."})
        raise


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


@router.get("/api/runs", response_model=answers.Runs)
async def runs(request: Request, _: Admin) -> dict[str, Any]:
    """The last runs, the newest first."""
    return {"runs": [run.as_json() for run in request.app.state.runs.all()]}


@router.get("/api/runs/{run_id}", response_model=answers.Run, responses=answers.problems(404))
async def run(run_id: str, request: Request, _: Admin) -> dict[str, Any]:
    """One run."""
    found: Run = request.app.state.runs.get(run_id)
    return found.as_json()


@router.get(
    "/api/runs/{run_id}/events",
    response_class=StreamingResponse,
    responses={
        200: {"description": "Server-sent events: progress, then report or problem.", "content": {"text/event-stream": {}}},
        **answers.problems(404),
    },
)
async def events(run_id: str, request: Request, _: Admin) -> StreamingResponse:
    """How a run goes on, as it does: `progress`, and `report` or `problem` last."""
    return StreamingResponse(
        _events(request.app.state.runs.get(run_id)), media_type="text/event-stream", headers={"Cache-Control": "no-store"}
    )


async def _events(run: Run) -> AsyncIterator[str]:
    shown = None
    while True:
        changed = run.changed
        if run.progress != shown:
            shown = run.progress
            yield _event("progress", shown)
        for name in ("report", "problem"):
            if (told := getattr(run, name)) is not None:
                yield _event(name, told)
                return
        try:
            await asyncio.wait_for(changed.wait(), HEARTBEAT)
        except TimeoutError:
            yield ": still here\n\n"


def _event(name: str, data: Any) -> str:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"
