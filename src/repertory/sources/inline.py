"""Which links and tags are in a paragraph of Markdown, and how does it read without its marks?

Every pattern here is linear: none can try the same characters twice, whatever the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote

MAX_TAG = 100  # characters; longer is no tag

_BACKTICKS = re.compile("`+")
_WIKILINK = re.compile(r"\[\[([^\[\]\n]+)\]\]")
_DESTINATION = re.compile(r"\]\([ \t]{0,8}(?:<([^<>\n]*)>|([^\s()<>]+(?:\([^\s()<>]*\)[^\s()<>]*)?))")
_DEFINITION = re.compile(r"^ {0,3}\[[^\[\]\n]+\]:[ \t]{0,8}<?([^\s<>]+)", re.MULTILINE)  # [label]: page.md
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,30}:")
# What may stand in a tag: everything but white space and punctuation, save "_", "-" and "/" (nested tags).
_TAG = re.compile(r"(?<!\S)#([^\s!-,.:-@\[\\\]^`{-~\u2000-\u206f\u3000-\u303f\uff00-\uff0f]+)")
_SHOWN_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\n]*\)")
_HTML = r"</?(?:a|b|br|center|code|details|div|em|h[1-6]|hr|i|img|kbd|p|span|strong|sub|summary|sup|u)\b[^<>\n]{0,500}>"
_MARKS = re.compile(rf"[*~]+|(?<![^\W_])_{{1,3}}|_{{1,3}}(?![^\W_])|{_HTML}|<!--|-->")
_LINE_MARKS = re.compile(r"^[ \t]{0,12}(?:>|[-*+]|\d{1,9}[.)])[ \t]+", re.MULTILINE)


class Target(NamedTuple):
    """What a link points at, as written."""

    page: str
    wiki: bool  # by name anywhere, not by path from here


def without_code(paragraph: str) -> str:
    """The paragraph with its code spans blanked out: a run of backticks up to the next run of the same length."""
    if "`" not in paragraph:
        return paragraph
    runs = list(_BACKTICKS.finditer(paragraph))
    closing: list[int | None] = [None] * len(runs)
    next_of_length: dict[int, int] = {}
    for number in range(len(runs) - 1, -1, -1):
        length = runs[number].end() - runs[number].start()
        closing[number] = next_of_length.get(length)
        next_of_length[length] = number
    kept: list[str] = []
    position = number = 0
    while number < len(runs):
        end = closing[number]
        if end is not None:
            kept += [paragraph[position : runs[number].start()], "``"]  # something stays: "a`b`#c" has no tag
            position = runs[end].end()
            number = end
        number += 1
    kept.append(paragraph[position:])
    return "".join(kept)


def targets(paragraph: str) -> Iterator[Target]:
    """The pages a paragraph links to; code must be out already."""
    if "[" not in paragraph:
        return
    for match in _WIKILINK.finditer(paragraph):
        page = match[1].split("|", 1)[0].rstrip("\\").split("#", 1)[0].strip()  # in tables the bar is escaped
        if page:
            yield Target(page, wiki=True)
    for pattern in (_DESTINATION, _DEFINITION):
        for match in pattern.finditer(paragraph):
            destination = match[match.lastindex or 1] or ""
            page = unquote(destination.split("#", 1)[0].split("?", 1)[0])
            if page and not _SCHEME.match(page) and not page.startswith("//"):
                yield Target(page, wiki=False)


def tags(paragraph: str) -> Iterator[str]:
    """The #tags of a paragraph; code must be out already. A number is an issue or a colour, not a tag."""
    if "#" not in paragraph:
        return
    for match in _TAG.finditer(paragraph):
        tag = match[1].rstrip("-/")
        if tag and len(tag) <= MAX_TAG and not tag.isdigit():
            yield tag


def plain(paragraph: str) -> str:
    """The paragraph as it reads: no marks, link texts instead of links, one line."""
    if paragraph.replace(" ", "").isalnum():  # most headings
        return " ".join(paragraph.split())
    shown = _WIKILINK.sub(lambda match: match[1].rsplit("|", 1)[-1], paragraph)
    shown = _SHOWN_LINK.sub(r"\1", shown)
    parts = _BACKTICKS.split(_LINE_MARKS.sub("", shown))
    parts[::2] = [_MARKS.sub("", part) for part in parts[::2]]  # between backticks "__init__" has no marks
    return " ".join("".join(parts).split())


def shorten(text: str, length: int) -> str:
    """At most so many characters, cut between words where there are any."""
    if len(text) <= length:
        return text
    cut = text[: length - 1]
    return f"{cut[: cut.rfind(' ') if ' ' in cut[length // 2 :] else None].rstrip()}…"
