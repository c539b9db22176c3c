"""What do the words in a tool's name say?

The verb tells which step a tool is (E03: discover, inspect, act), the rest what it is about: `list_orders` discovers orders.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache

from repertory.text.fold import fold
from repertory.text.tokens import spaced


class Step(IntEnum):
    """Where in its work an agent uses a tool."""

    DISCOVER = 1
    INSPECT = 2
    ACT = 3


_VERBS = {
    Step.DISCOVER: "browse discover enumerate explore find list locate lookup query scan search suggest",
    Step.INSPECT: "analyze analyse check compare count describe download examine explain fetch get inspect load preview read retrieve show "
    "status summarize validate verify view watch",
    Step.ACT: "acknowledge add append apply approve archive assign attach cancel clear clone close complete copy create delete deploy "
    "disable edit enable execute export generate import insert install invite invoke merge modify move notify patch pause pay publish "
    "push put reject remove rename reopen replace reply reset resolve restart restore resume revoke run save send set share start stop "
    "submit sync trigger update upload upsert write",
}
# Things as often as deeds: verbs only where the name opens with one and has no other (`book_room`, but not `book_list` or `list_orders`).
_NOUNS_TOO = {
    Step.INSPECT: "quote track",
    Step.ACT: "book charge commit issue mark order place post print refund report request schedule",
}
VERBS = {verb: step for step, verbs in _VERBS.items() for verb in verbs.split()}
_OPENING = {verb: step for step, verbs in _NOUNS_TOO.items() for verb in verbs.split()}


@lru_cache(maxsize=65536)
def parts(name: str) -> tuple[str, ...]:
    """The words of an identifier, folded: "getOrder" and "get-order" are both (get, order)."""
    return tuple(fold(spaced(name.replace("/", " "))).split())


def step_of(name: str) -> Step | None:
    """The step of the verb in a name; None where there is none that we know."""
    words = parts(name)
    position = _verb(words)
    return None if position is None else VERBS.get(words[position]) or _OPENING[words[position]]


def noun_of(name: str) -> str:
    """What a tool is about, in the singular: "list_pull_requests" is about a "pull_request"; empty where its name is all verb."""
    words = parts(name)
    position = _verb(words)
    return singular("_".join(words if position is None else words[position + 1 :] or words[:position]))


def _verb(words: tuple[str, ...]) -> int | None:
    found = next((position for position, word in enumerate(words) if word in VERBS), None)
    return 0 if found is None and words and words[0] in _OPENING else found


def singular(name: str) -> str:
    """ "order_ids" is about the same thing as "order_id"."""
    if name.endswith("ies") and len(name) > 4:
        return f"{name[:-3]}y"
    return name[:-1] if name.endswith("s") and len(name) > 2 and not name.endswith(("ss", "us", "is")) else name
