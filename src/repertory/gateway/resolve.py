"""Which entry does an agent mean?

By id, `server/tool`, `server__tool`, or a bare name that only one entry has. Names that are too long for a host are clamped with a hash.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from repertory.errors import InvalidRequest, NotFound
from repertory.model import Entity, Kind, content_digest

CALLABLE = frozenset({Kind.TOOL, Kind.A2A_AGENT})
MAX_NAME = 64  # characters that every host takes for the name of a tool
MAX_CANDIDATES = 8  # that are named when a name may mean several

_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")


def resolve(reference: str, find: Callable[[str], list[Entity]]) -> Entity:
    """The one tool or agent that a reference names. `find` looks entries up that the caller may see, by id, path or name."""
    for spelling in _spellings(reference.strip()):
        found = [entity for entity in find(spelling) if entity.kind in CALLABLE]
        if len(found) == 1:
            return found[0]
        if found:
            candidates = ", ".join(entity.id for entity in found[:MAX_CANDIDATES])
            raise InvalidRequest(f"{reference!r} may be any of {candidates}. Name one by its id.")
    raise NotFound(f"There is no tool or agent {reference!r}, or it may not be used. `search` finds what there is.")


def _spellings(reference: str) -> Iterator[str]:
    yield reference
    for separator in ("__", "."):  # `server__tool`; either name may have the separator itself
        start = reference.find(separator)
        while start > 0:
            yield f"{reference[:start]}/{reference[start + len(separator) :]}"
            start = reference.find(separator, start + 1)


def exposed_name(path: str) -> str:
    """The name of a tool for hosts that know only flat names: `server__tool`, of letters that all take, at most 64 of them."""
    flat = _UNSAFE.sub("_", path.replace("/", "__")).strip("_") or "tool"
    if len(flat) <= MAX_NAME and flat == path.replace("/", "__"):
        return flat
    mark = content_digest(path)[:8]  # what was lost in the name must not make two names one
    return f"{flat[: MAX_NAME - len(mark) - 1]}_{mark}"
