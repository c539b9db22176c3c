"""What can be asked in a conversation?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from repertory.errors import InvalidRequest
from repertory.model import Kind
from repertory.model.request import MAX_LIMIT, MAX_QUERY_LENGTH

MAX_TURNS = 50  # that a request may bring; how many of them are read is `prompt`'s affair
MAX_ANSWER_LENGTH = 100_000  # characters of an earlier answer


class Turn(NamedTuple):
    """What was asked before, and what was answered."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One question to the catalog, with the conversation that it belongs to."""

    question: str
    turns: tuple[Turn, ...] = ()  # the earlier ones, oldest first
    kinds: frozenset[Kind] | None = None
    tags: frozenset[str] = frozenset()
    limit: int | None = None  # passages at most; None: as the kind of question wants (D09)
    summary: str = ""  # what the conversation is about; joins the search at lower weight (E07)
    context: Mapping[str, Any] | Sequence[Any] | str | None = None

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ChatRequest:
        """A request from plain values, as they come over a wire."""
        values = {name: value for name, value in data.items() if value is not None}
        for name, make in _MAKERS.items():
            if name in values:
                values[name] = make(values[name])
        return cls(**values)

    def check(self) -> None:
        """Raise `InvalidRequest` for what cannot be asked."""
        if not self.question.strip():
            raise InvalidRequest("The question is empty. Ask something.")
        if len(self.question) > MAX_QUERY_LENGTH:
            raise InvalidRequest(f"The question has {len(self.question)} characters; at most {MAX_QUERY_LENGTH} are read. Shorten it.")
        if any("\ud800" <= character <= "\udfff" for character in self.question):
            raise InvalidRequest("The question is not valid Unicode. Send it as UTF-8.")
        if self.limit is not None and not 1 <= self.limit <= MAX_LIMIT:
            raise InvalidRequest(f"limit is {self.limit}; it must be between 1 and {MAX_LIMIT}.")
        if len(self.turns) > MAX_TURNS:
            raise InvalidRequest(f"There are {len(self.turns)} turns; at most {MAX_TURNS} are taken. Send the last ones.")
        if any(len(turn.question) > MAX_QUERY_LENGTH or len(turn.answer) > MAX_ANSWER_LENGTH for turn in self.turns):
            raise InvalidRequest(
                f"A turn is too long: {MAX_QUERY_LENGTH} characters of question and {MAX_ANSWER_LENGTH} of answer are taken."
            )


_MAKERS: Mapping[str, Callable[[Any], Any]] = {
    "turns": lambda turns: tuple(Turn(**turn) for turn in turns),
    "kinds": lambda kinds: frozenset(map(Kind, kinds)) or None,
    "tags": frozenset,
}
