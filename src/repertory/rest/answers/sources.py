"""How are sources and runs answered?"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from repertory.store import SourceState


class Source(BaseModel):
    name: str
    location: str
    live: bool = Field(description="A running server, asked again from time to time.")
    state: SourceState
    error: str
    attempted: str | None
    succeeded: str | None
    problems: int
    entries: int


class Sources(BaseModel):
    sources: list[Source]


class RunProgress(BaseModel):
    stage: str
    done: int
    total: int


class RunProblem(BaseModel):
    code: str
    message: str


class Run(BaseModel):
    id: str
    location: str
    state: Literal["running", "done", "failed"]
    started_at: str
    ended_at: str | None
    progress: RunProgress | None
    report: dict[str, Any] | None = Field(description="Entries added, changed, removed, unchanged; problems of files.")
    problem: RunProblem | None


class Runs(BaseModel):
    runs: list[Run]


class Started(BaseModel):
    run: Run
