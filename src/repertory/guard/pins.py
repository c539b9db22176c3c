"""What was an entry when it was accepted, and what has changed since?

F06: a *pin* is what a model reads of an entry, as it was when somebody, or first use, accepted it. Versions, counts and dates are not in
it: a new release that says the same is the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from repertory.model import Entity, Kind, content_digest

PINNED = frozenset({Kind.TOOL, Kind.MCP_SERVER, Kind.A2A_AGENT, Kind.SKILL})
MAX_WORDS = 2_000  # of a text that are compared word by word; a longer one is shown as a whole
MAX_CHANGES = 200  # that anybody reads

_TOLD = ("title", "instructions", "input_schema", "output_schema", "annotations", "skills", "url", "remotes", "body")

Content = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Change:
    """One difference. Its parts are in reading order: ("same" | "removed" | "added", text)."""

    where: str
    parts: tuple[tuple[str, str], ...]

    def as_json(self) -> dict[str, Any]:
        """Plain JSON, for whoever draws it."""
        return {"where": self.where, "parts": [{"kind": kind, "text": text} for kind, text in self.parts]}


def content_of(entity: Entity) -> dict[str, Any]:
    """What is pinned of an entry."""
    told = {key: entity.details[key] for key in _TOLD if entity.details.get(key)}
    return {"name": entity.name, "description": entity.description, **told}


def digest_of(content: Content) -> str:
    """Equal contents, equal pins."""
    return content_digest(dict(content))


def body_of(content: Content) -> str:
    """A digest of everything but the name: what was renamed is recognised by it."""
    return content_digest({key: value for key, value in content.items() if key != "name"})


def diff(old: Content, new: Content) -> list[Change]:
    """What changed, text by text."""
    before, after = dict(_leaves(old, "")), dict(_leaves(new, ""))
    places = [place for place in dict.fromkeys((*before, *after)) if before.get(place) != after.get(place)]
    return [Change(place, tuple(_parts(before.get(place, ""), after.get(place, "")))) for place in places[:MAX_CHANGES]]


def _leaves(value: Any, where: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _leaves(inner, f"{where}.{key}" if where else str(key))
    elif isinstance(value, list | tuple) and value and not all(isinstance(item, str | int | float | bool | None) for item in value):
        for position, inner in enumerate(value):
            yield from _leaves(inner, f"{where}.{position}")
    else:
        yield where, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _parts(old: str, new: str) -> Iterator[tuple[str, str]]:
    left, right = _words(old), _words(new)
    if not left or not right or max(len(left), len(right)) > MAX_WORDS:
        yield from ((kind, text) for kind, text in (("removed", old), ("added", new)) if text)
        return
    for tag, a, b, c, d in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag == "equal":
            yield "same", "".join(left[a:b])
        else:
            yield from ((kind, "".join(words)) for kind, words in (("removed", left[a:b]), ("added", right[c:d])) if words)


def _words(text: str) -> list[str]:
    """Words with the blanks after them: joined again they are the text."""
    found: list[str] = []
    start = 0
    for position in range(1, len(text)):
        if text[position - 1].isspace() and not text[position].isspace():
            found.append(text[start:position])
            start = position
    return [*found, text[start:]] if text else found
