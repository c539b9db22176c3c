"""How is a question answered?"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from repertory.chat.answer import State
from repertory.model import Kind
from repertory.rest.answers.base import Open
from repertory.rest.answers.search import Diagnostic


class Place(Open):
    id: str
    document_id: str = Field(description="Of the passage: the entry's id, with #n for a section.")
    kind: Kind
    path: str
    name: str
    anchor: str = Field(description="Its heading path.")


class Citation(Place):
    number: int = Field(description="As it stands in the text: [1].")


class Passage(Citation):
    text: str = Field(description="What the model read of it.")
    excerpt: str
    score: float
    confidence: float | None


class ChatAnswer(BaseModel):
    state: State
    text: str
    passages: list[Passage] = Field(description="What was retrieved, numbered from 1.")
    cited: bool = Field(description="Whether the text says where anything in it comes from.")
    citations: list[Citation] = Field(description="What the text cites, each one of the passages.")
    nearest: list[Place] = Field(description="What comes nearest where the documents do not say it.")
    model: str | None
    ending: str | None = Field(description="stop where the model was done; else length, content_filter or cut.")
    usage: dict[str, int] | None
    classification: dict[str, Any]
    search_mode: str
    confidence: float | None
    diagnostics: list[Diagnostic]
    retrieval_ms: float
    took_ms: float
