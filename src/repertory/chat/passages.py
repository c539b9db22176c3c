"""Which passages does an answer rest on?

What a search found, each with what stands around it: the chunks of its file after and before it, and what opens the section above, as far
as the budget of tokens reaches. Everything is read from the entries as the search showed them, so access needs no second look (A18).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from repertory.model import Entity, Kind, Result

SMALLEST = 40  # tokens: less of a passage says nothing
REACH = 3  # chunks after and before: what is farther away is about something else
SHARE = 2  # no passage takes more than half of the budget by itself
BYTES = 4  # of UTF-8 per token: about right for English, and on the safe side for scripts whose letters take three


@dataclass(frozen=True, slots=True)
class Passage:
    """A numbered passage: where it stands, and what is read of it."""

    number: int  # by which it is cited, from 1
    id: str  # of the entry
    document_id: str  # of the passage: the entry's id, with "#n" for a section
    kind: Kind
    path: str
    name: str
    anchor: str  # its heading path
    found: str  # what was found
    text: str  # the same with what stands around it
    excerpt: str
    score: float
    confidence: float | None

    def as_json(self) -> dict[str, Any]:
        """Plain JSON, the same on every surface."""
        shown = {"number": self.number, **self.place(), "text": self.text, "excerpt": self.excerpt, "score": round(self.score, 4)}
        return {**shown, "confidence": None if self.confidence is None else round(self.confidence, 4)}

    def place(self) -> dict[str, Any]:
        """Where it stands."""
        return {
            "id": self.id,
            "document_id": self.document_id,
            "kind": self.kind.value,
            "path": self.path,
            "name": self.name,
            "anchor": self.anchor,
        }


class _Section(NamedTuple):
    path: tuple[str, ...]
    text: str


@dataclass(slots=True)
class _Draft:
    result: Result
    sections: Sequence[_Section]
    at: int
    text: str  # of the section that was found, cut where it is too long
    around: set[int] = field(default_factory=set)


def gather(results: Iterable[Result], budget: int) -> tuple[Passage, ...]:
    """The passages of results within a budget of tokens: first every one by itself, the best first, then what is around each."""
    drafts: list[_Draft] = []
    left = budget
    for result in results:
        if left < SMALLEST:
            break
        sections = _sections(result.entity)
        at = min(_position(result.document_id), len(sections) - 1)
        text = _cut(sections[at].text, min(left, budget // SHARE))
        drafts.append(_Draft(result, sections, at, text))
        left -= tokens(text)
    for steps in range(1, REACH + 1):
        for draft in drafts:
            for position in _around(draft.sections, draft.at, steps) - draft.around:
                if (cost := tokens(draft.sections[position].text)) <= left:
                    draft.around.add(position)
                    left -= cost
    return tuple(_passage(number, draft) for number, draft in enumerate(drafts, 1))


def tokens(text: str) -> int:
    """About how many tokens a text has; models differ, and none is at hand to ask."""
    return len(text.encode("utf-8", "replace")) // BYTES + 1


def _passage(number: int, draft: _Draft) -> Passage:
    result, entity = draft.result, draft.result.entity
    return Passage(
        number=number,
        id=entity.id,
        document_id=result.document_id,
        kind=entity.kind,
        path=entity.path,
        name=entity.name,
        anchor=result.anchor,
        found=draft.text,
        text=_joined(draft),
        excerpt=result.excerpt,
        score=result.score,
        confidence=result.confidence,
    )


def _joined(draft: _Draft) -> str:
    """The chunks in the order of their file; where others lie between, dots say so."""
    parts: list[str] = []
    before: int | None = None
    for position in sorted({draft.at, *draft.around}):
        section = draft.sections[position]
        if before is not None and position > before + 1:
            parts.append("…")
        if section.path != draft.sections[draft.at].path:
            parts.append(f"## {' > '.join(section.path)}")
        parts.append(draft.text if position == draft.at else section.text)
        before = position
    return "\n\n".join(part for part in parts if part)


def _around(sections: Sequence[_Section], at: int, steps: int) -> set[int]:
    """What is so many steps away; and with the first step what opens the section above."""
    path = sections[at].path
    parent = next((one for one in range(at - 1, -1, -1) if path and sections[one].path == path[:-1]), None) if steps == 1 else None
    return {one for one in (at + steps, at - steps, parent) if one is not None and 0 <= one < len(sections)}


def _position(document_id: str) -> int:
    _, mark, number = document_id.rpartition("#")
    return int(number) if mark and number.isdecimal() else 0


def _cut(text: str, budget: int) -> str:
    if tokens(text) <= budget:
        return text
    kept = text.encode("utf-8", "replace")[: (budget - 1) * BYTES].decode("utf-8", "ignore")
    return f"{kept.rsplit(maxsplit=1)[0] if kept.split() else kept} …"


def _sections(entity: Entity) -> list[_Section]:
    """What an entry says, in chunks; every kind but a file has one."""
    told = entity.details.get("sections") if entity.kind is Kind.DOCUMENT else None
    if told:
        return [_Section(tuple(map(str, section["path"])), str(section["text"])) for section in told]
    said = [entity.description, *_MORE[entity.kind](entity.details)]
    return [_Section((), "\n".join(part for part in said if part))]


def _offered(word: str) -> Callable[[Mapping[str, Any]], Iterable[str]]:
    def lines(details: Mapping[str, Any]) -> Iterable[str]:
        offers = (offer for offer in details.get(word, ()) if isinstance(offer, Mapping))
        return [f"- {offer.get('alias') or offer.get('name', '')}: {offer.get('description') or ''}" for offer in offers]

    return lines


def _parameters(details: Mapping[str, Any]) -> Iterable[str]:
    schema = details.get("input_schema")
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping):
        return []
    return [f"- {name}: {about.get('description', '') if isinstance(about, Mapping) else ''}" for name, about in properties.items()]


_MORE: Mapping[Kind, Callable[[Mapping[str, Any]], Iterable[str]]] = {
    Kind.TOOL: _parameters,
    Kind.MCP_SERVER: _offered("tools"),
    Kind.VIRTUAL_SERVER: _offered("tools"),
    Kind.A2A_AGENT: _offered("skills"),
    Kind.SKILL: lambda details: [str(details.get("body") or "")],
    Kind.DOCUMENT: lambda _: [],
}
