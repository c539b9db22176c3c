"""What does the YAML block at the head of a file say?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from repertory.sources.content import Unreadable
from repertory.sources.values import Parsed, parse_yaml

MAX_LENGTH = 64 * 1024  # characters; more is not a head

_OPEN = re.compile(r"---[ \t]*\n")
_CLOSE = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE)
_FIRST_KEY = re.compile(r"[\w-]+[ \t]*:(?:\s|$)")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """A file cut in two. `head` is None where there is no front matter, or a broken one: then `error` says how."""

    head: Parsed | None
    body: str
    error: Unreadable | None = None


def split(text: str) -> FrontMatter:
    """Cut a text after its front matter. A text that opens with a thematic break has none."""
    opening = _OPEN.match(text)
    if opening is None:
        return FrontMatter(None, text)
    closing = _CLOSE.search(text, opening.end())
    if closing is None:
        if _FIRST_KEY.match(text, opening.end()):
            error = Unreadable("the front matter is never closed; end it with a line of ---", 1)
            return FrontMatter(None, text, error)
        return FrontMatter(None, text)
    body = text[closing.end() + 1 :]
    if closing.start() - opening.end() > MAX_LENGTH:
        error = Unreadable(f"the front matter is longer than {MAX_LENGTH} characters; shorten it", 1)
        return FrontMatter(None, body, error)
    try:
        head = parse_yaml(text[opening.end() : closing.start()], first_line=2)
    except Unreadable as cause:
        return FrontMatter(None, body, Unreadable(f"the front matter {cause}", cause.line))
    if head.value is None:
        return FrontMatter(None, body)
    if not isinstance(head.value, dict):
        return FrontMatter(None, text)
    return FrontMatter(head, body)
