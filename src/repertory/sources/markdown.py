"""What does a Markdown or text file say?

One document per file: its title, tags, links and sections (B01, B02). How a text is cut is told in `sections`, what
stands inside a paragraph in `inline`, which file a link means in `pages`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from repertory.model import Entity, Kind, Link
from repertory.sources import attributes, frontmatter, inline, linkeddata, sections, walk
from repertory.sources.attributes import Invalid
from repertory.sources.base import Problem
from repertory.sources.content import Unreadable, read_text, storable
from repertory.sources.inline import Target
from repertory.sources.pages import SUFFIXES, Pages, document_path
from repertory.sources.sections import Section
from repertory.sources.values import Parsed

MAX_DESCRIPTION = 300  # characters
_DATE_KEYS = ("updated", "modified", "date")  # the latest change first
_OWN_KEYS = ("title", "aliases", "alias", "tags", "tag")  # the rest of the front matter is metadata


class MarkdownReader:
    """Reads Markdown and text files.

    `listed` are the files that links can lead to; without it the root is walked once, when the first link needs it.
    """

    def __init__(self, listed: Sequence[Path] | None = None) -> None:
        self._listed = listed
        self._pages: dict[Path, Pages] = {}

    def recognises(self, file: Path) -> bool:
        """By its suffix."""
        return file.suffix.lower() in SUFFIXES

    def read(self, file: Path, root: Path, namespace: str) -> Iterator[Entity | Problem]:
        """The document. Broken front matter costs what it says, not the file."""
        try:
            text = read_text(file)
        except Unreadable as error:
            yield error.problem(file)
            return
        yield from self.parse(text, file, root, namespace)

    def parse(self, text: str, file: Path, root: Path, namespace: str) -> Iterator[Entity | Problem]:
        """The document that this text would be, were it in this file."""
        content = frontmatter.split(text)
        if content.error is not None:
            yield content.error.problem(file)
        head = content.head or Parsed({}, "")
        lists: dict[str, tuple[str, ...]] = {}
        for key in ("aliases", "alias", "tags", "tag", "related"):
            try:
                lists[key] = tuple(attributes.texts(head.value, key)) if key == "related" else attributes.tags(head.value, key)
            except Invalid as error:
                yield Problem(storable(str(file)), f"the front matter: {error}", head.line(key))
                lists[key] = ()

        outline = sections.scan(content.body)
        paragraphs = [inline.without_code(paragraph) for paragraph in _prose(outline)]
        page = file.relative_to(root).as_posix()
        title = _title(head.value, outline) or file.stem
        aliases = attributes.unique((*lists["aliases"], *lists["alias"]))
        inline_tags = (tag for paragraph in paragraphs for tag in inline.tags(paragraph))
        targets = [target for paragraph in paragraphs for target in inline.targets(paragraph)]
        path = document_path(page, namespace)
        own_id = f"{Kind.DOCUMENT.prefix}:{path}"
        stated, problems = linkeddata.read(outline, text, lambda name: self._entry(name, page, root, namespace))
        yield from (problem.problem(file) for problem in problems)
        links = (
            *self._links((*targets, *_related(lists["related"])), page, root, namespace),
            *(Link(name, "links_to") for name in lists["related"] if linkeddata.is_id(name)),
            *(Link(edge.target, edge.relation) for edge in stated if edge.origin == own_id),
        )
        others = [list(edge) for edge in stated if edge.origin != own_id]
        yield Entity(
            kind=Kind.DOCUMENT,
            path=path,
            name=title,
            description=_description(outline),
            tags=attributes.unique((*lists["tags"], *lists["tag"], *inline_tags)),
            metadata={key: value for key, value in head.value.items() if key not in _OWN_KEYS},
            details={
                "title": title,
                "aliases": list(aliases),
                "sections": [{"path": list(above), "text": said} for above, said in sections.chunk(outline)],
                **({"statements": others} if others else {}),
            },
            links=tuple(dict.fromkeys(links)),
            modified=_modified(head.value, file),
            provenance=str(file.absolute()),
        )

    def _links(self, targets: Iterable[Target], page: str, root: Path, namespace: str) -> tuple[Link, ...]:
        wanted = dict.fromkeys(targets)
        found = (self._listed_in(root).entity_id(target, page, namespace) for target in wanted)
        return tuple(Link(entity_id, "links_to") for entity_id in dict.fromkeys(found) if entity_id is not None)

    def _listed_in(self, root: Path) -> Pages:
        if root not in self._pages:
            self._pages[root] = Pages(root, walk.files(root) if self._listed is None else self._listed)
        return self._pages[root]

    def _entry(self, name: str, page: str, root: Path, namespace: str) -> str | None:
        """The entry that a JSON-LD block means: this file where it names none, else a page."""
        written = name.partition("#")[0]
        if written in ("", page, Path(page).name):
            return f"{Kind.DOCUMENT.prefix}:{document_path(page, namespace)}"
        return self._listed_in(root).entity_id(Target(written, wiki=True), page, namespace)


def _prose(outline: Iterable[Section]) -> Iterator[str]:
    for section in outline:
        yield section.title
        yield from (block.text for block in section.blocks if not block.is_code)


def _title(head: Mapping[str, Any], outline: Iterable[Section]) -> str:
    with contextlib.suppress(Invalid):
        if title := attributes.text(head, "title"):
            return inline.shorten(" ".join(title.split()), sections.MAX_HEADING)
    return next((section.path[-1] for section in outline if section.path), "")


def _description(outline: Iterable[Section]) -> str:
    """The first paragraph that still says something without its marks."""
    for section in outline:
        for block in section.blocks:
            shown = "" if block.is_code else inline.plain(block.text[: 10 * MAX_DESCRIPTION])
            if any(character.isalnum() for character in shown):
                return inline.shorten(shown, MAX_DESCRIPTION)
    return ""


def _related(listed: Iterable[str]) -> Iterator[Target]:
    """The pages under `related`, as [[names]] or as paths."""
    for text in listed:
        if "[[" in text:
            yield from inline.targets(text)
        elif not linkeddata.is_id(text):
            yield Target(text, wiki=True)


def _modified(head: Mapping[str, Any], file: Path) -> datetime | None:
    """The date the author gives, else the file's; without a zone it is taken as UTC."""
    for key in _DATE_KEYS:
        with contextlib.suppress(ValueError, OverflowError):
            date = datetime.fromisoformat(str(head.get(key, "")))
            return date.replace(tzinfo=UTC) if date.tzinfo is None else date.astimezone(UTC)
    with contextlib.suppress(OSError, ValueError, OverflowError):
        return datetime.fromtimestamp(file.stat().st_mtime, UTC)
    return None
