"""What comes back for a question?

Events while it is being answered, `Done` last; or the whole as one `Answer`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from repertory.chat.passages import Passage
from repertory.model import Diagnostic, Result
from repertory.text.classify import Classification


class State(StrEnum):
    """Who speaks in an answer."""

    ANSWERED = "answered"  # the model, from passages
    PASSAGES = "passages"  # the passages themselves: there is no model, or it failed
    ABSTAINED = "abstained"  # nobody: it is not in the documents
    SMALL_TALK = "small_talk"  # a greeting or thanks, for which nothing was looked up


@dataclass(frozen=True, slots=True)
class Answer:
    """The whole answer."""

    state: State
    text: str
    passages: tuple[Passage, ...]
    citations: tuple[Passage, ...]  # in the order in which they are cited first
    classification: Classification
    nearest: tuple[Result, ...] = ()  # what comes nearest where the documents do not say it
    model: str | None = None  # that answered
    ending: str | None = None  # stop where the model was done; else length, content_filter or cut
    usage: Mapping[str, int] | None = None
    confidence: float | None = None  # how likely the catalog answers the question at all (F01)
    mode: str = ""  # how it was searched
    diagnostics: tuple[Diagnostic, ...] = ()
    retrieval_ms: float = 0.0
    took_ms: float = 0.0

    @property
    def cited(self) -> bool:
        """Whether the answer says where anything in it comes from."""
        return bool(self.citations)

    def as_json(self, *, whole: bool = True) -> dict[str, Any]:
        """Plain JSON, the same on every surface. Not `whole`: without what earlier events have told."""
        told: dict[str, Any] = {"text": self.text, "passages": [one.as_json() for one in self.passages]} if whole else {}
        return {
            "state": self.state.value,
            **told,
            "cited": self.cited,
            "citations": [{"number": one.number, **one.place()} for one in self.citations],
            "nearest": [nearest_as_json(one) for one in self.nearest],
            "model": self.model,
            "ending": self.ending,
            "usage": dict(self.usage) if self.usage else None,
            "classification": asdict(self.classification),
            "search_mode": self.mode,
            "confidence": None if self.confidence is None else round(self.confidence, 4),
            "diagnostics": [one.as_json() for one in self.diagnostics],
            "retrieval_ms": round(self.retrieval_ms, 2),
            "took_ms": round(self.took_ms, 2),
        }


def nearest_as_json(result: Result) -> dict[str, Any]:
    """A topic that is near a question: what to ask about instead."""
    entity = result.entity
    named = {"id": entity.id, "document_id": result.document_id, "kind": entity.kind.value, "path": entity.path, "name": entity.name}
    return {**named, "anchor": result.anchor, "excerpt": result.excerpt}


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The passages that an answer will rest on."""

    passages: tuple[Passage, ...]
    name = "retrieved"

    def as_json(self) -> dict[str, Any]:
        return {"passages": [one.as_json() for one in self.passages]}


@dataclass(frozen=True, slots=True)
class Delta:
    """The next piece of the text."""

    text: str
    name = "delta"

    def as_json(self) -> dict[str, Any]:
        return {"text": self.text}


@dataclass(frozen=True, slots=True)
class Citation:
    """A passage that the text cites, told once, after the piece that cites it first."""

    passage: Passage
    name = "citation"

    def as_json(self) -> dict[str, Any]:
        return {"number": self.passage.number, **self.passage.place()}


@dataclass(frozen=True, slots=True)
class Done:
    """The end, and what is to be known about the answer besides."""

    answer: Answer
    name = "done"

    def as_json(self) -> dict[str, Any]:
        return self.answer.as_json(whole=False)


Event = Retrieved | Delta | Citation | Done
