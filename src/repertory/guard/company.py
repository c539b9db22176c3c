"""How does a tool stand to the tools of others?

One that looks like another server's tool may be called in its place; one that speaks of another server's tool may steer it; one that
copies a description wants its rank. All of it happens honestly too (a server installed twice), so it is told, and holds nothing back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from repertory.guard.lookalikes import skeleton
from repertory.model import Entity, Finding, Level, content_digest

MAX_WORDS = 80  # of a description that are compared
FEW = 5  # words below which two descriptions are alike by accident
ALIKE = 0.6  # of the words of both that are the same
MAX_NAMED = 20  # names in one description that are looked up

_WORD = re.compile(r"[^\W_]+")
_NAME = re.compile(
    r"[A-Za-z][a-z0-9]*(?:[_-][A-Za-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+"
)  # names that are no words: query_database, queryDatabase
_CALLS = re.compile(
    r"(?i)\b(?:call|calls|calling|use|uses|using|invoke|invokes|invoking|run|runs|running|execute|executes|before|after|instead of|"
    r"replaces|via|with|through)\W+(?:\w+\W+){0,2}$"
)


class Look(NamedTuple):
    """What can be compared of a tool."""

    entity_id: str
    server: str
    name: str  # what it looks like
    likeness: str  # a digest of what it says; empty where that is too little
    words: str  # what it says


def look_of(entity: Entity) -> Look:
    """What a tool looks like to others."""
    words = sorted(set(_WORD.findall(entity.description.lower())[:MAX_WORDS]))
    likeness = content_digest(" ".join(words)) if len(words) >= FEW else ""
    return Look(entity.id, server_of(entity), skeleton(entity.name), likeness, " ".join(words))


def server_of(entity: Entity) -> str:
    """The server that a tool belongs to."""
    return str(entity.details.get("server") or entity.path.removesuffix(entity.name).rstrip("/"))


def named_in(entity: Entity) -> dict[str, str]:
    """The names of tools that a tool says to call, by what they look like."""
    found: dict[str, str] = {}
    for match in _NAME.finditer(entity.description) if "_" in entity.description or not entity.description.islower() else ():
        if len(found) < MAX_NAMED and _CALLS.search(entity.description[max(0, match.start() - 40) : match.start()].rstrip("`'\"") + " "):
            found[skeleton(match.group())] = match.group()
    return found


@dataclass(slots=True)
class Company:
    """The tools among which others are looked at."""

    by_name: dict[str, list[Look]] = field(default_factory=dict)
    by_likeness: dict[str, list[Look]] = field(default_factory=dict)
    kin: set[tuple[str, str]] = field(default_factory=set)  # servers, and the names of their tools

    def expect(self, looks: Iterable[Look]) -> None:
        """These are about to come: a tool may speak of a sibling that is listed after it."""
        self.kin.update((look.server, look.name) for look in looks)

    def meet(self, looks: Iterable[Look]) -> None:
        """Let these be known."""
        for look in looks:
            self.kin.add((look.server, look.name))
            self.by_name.setdefault(look.name, []).append(look)
            if look.likeness:
                self.by_likeness.setdefault(look.likeness, []).append(look)

    def check(self, own: Look, named: Mapping[str, str]) -> Iterator[Finding]:
        """What is odd among these about a tool that looks so and says to call those."""
        twins = _others(self.by_name, own.name, own)
        shadowed = next((other for other in twins if _alike(own, other)), None)
        if shadowed:
            yield Finding(Level.WARN, "shadow", "name", f"the same name and nearly the same words as {shadowed.entity_id}")
        elif own.likeness and (copied := _others(self.by_likeness, own.likeness, own)):
            yield Finding(Level.NOTE, "copied", "description", f"the same words as {copied[0].entity_id}")
        for name, written in named.items():
            known = self.by_name.get(name, ())
            if known and name != own.name and (own.server, name) not in self.kin:
                yield Finding(Level.WARN, "names-other-tool", "description", f"{written}, which is {known[0].entity_id}")


def _others(index: Mapping[str, Sequence[Look]], key: str, own: Look) -> list[Look]:
    return [other for other in index.get(key, ()) if other.server != own.server and other.entity_id != own.entity_id]


def _alike(one: Look, other: Look) -> bool:
    ours, theirs = set(one.words.split()), set(other.words.split())
    return min(len(ours), len(theirs)) >= FEW and len(ours & theirs) >= ALIKE * len(ours | theirs)
