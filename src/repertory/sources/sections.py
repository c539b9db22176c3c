"""How is a Markdown text cut into sections?

By headings (B02): one section each, tiny ones joined with their neighbour under the same parent, long ones split at
blank lines. Code in fences stays whole and has no headings. A line scanner, linear in the text; links and tags are
`inline`'s business.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from repertory.sources.inline import plain, shorten

TINY = 200  # characters: below, a section says too little to be embedded on its own
LONG = 1800  # about 450 tokens: what the usual models read of one text
LONGEST = 6000  # nothing is kept whole beyond this, not even a fence
MAX_HEADING = 200

_FENCES = ("```", "~~~")


class Block(NamedTuple):
    """A paragraph, or a fence with its code."""

    text: str
    is_code: bool = False


@dataclass(slots=True)
class Section:
    """A heading and what stands under it, up to the next one. The text before the first heading has an empty path."""

    path: tuple[str, ...]
    level: int = 0
    title: str = ""  # the heading as written
    blocks: list[Block] = field(default_factory=list)
    size: int = 0  # of the text

    def add(self, *blocks: Block) -> None:
        for block in blocks:
            self.size += len(block.text) + (2 if self.blocks else 0)
            self.blocks.append(block)

    @property
    def heading(self) -> Block:
        """The heading's own line."""
        return Block(f"{'#' * self.level} {self.path[-1]}")


def scan(text: str) -> list[Section]:
    """The sections of a text as its headings cut it."""
    sections = [Section(())]
    above: list[tuple[int, str]] = []
    open_lines: list[str] = []
    fence = ""

    def close(is_code: bool = False) -> None:
        if open_lines:
            sections[-1].add(Block("\n".join(open_lines), is_code))
            open_lines.clear()

    def head(level: int, title: str) -> None:
        while above and above[-1][0] >= level:
            above.pop()
        above.append((level, shorten(plain(title[: 4 * MAX_HEADING]), MAX_HEADING) or title[:MAX_HEADING]))
        sections.append(Section(tuple(name for _, name in above), level, title))

    for line in text.split("\n"):
        bare = line.strip()
        if fence:
            open_lines.append(line)
            if bare.startswith(fence) and not bare.strip(fence[0]):
                close(is_code=True)
                fence = ""
        elif bare.startswith(_FENCES) and (opened := _fence(bare)):
            close()
            fence = opened
            open_lines.append(line)
        elif not bare:
            close()
        elif bare[0] == "#" and (heading := _heading(line)):
            close()
            head(*heading)
        elif len(open_lines) == 1 and (level := _underline(bare, open_lines[0].lstrip())):
            head(level, open_lines.pop().strip())
        elif _is_rule(bare):
            close()
        else:
            open_lines.append(line)
    close(is_code=bool(fence))
    return sections


def chunk(sections: list[Section]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Heading path and text of each section as it is searched."""
    for section in _joined(_spoken(sections)):
        for text in _split(section):
            yield section.path, text


def _spoken(sections: list[Section]) -> Iterator[Section]:
    """Sections with a text, and bare headings that end their branch; others live on in the paths below them."""
    for number, section in enumerate(sections):
        is_parent = number + 1 < len(sections) and sections[number + 1].level > section.level
        if section.blocks or (section.path and not is_parent):
            yield section


def _joined(sections: Iterator[Section]) -> Iterator[Section]:
    """Tiny sections joined with the one before, or else the one after, under the same parent."""
    before: Section | None = None
    for section in sections:
        if before is None:
            before = section
            continue
        fits = before.size + section.size + MAX_HEADING <= LONG
        if not (fits and _are_siblings(before, section) and min(before.size, section.size) < TINY):
            yield before
            before = section
        elif section.size < TINY:
            before.add(section.heading, *section.blocks)
        else:
            joined = Section(section.path, section.level)
            joined.add(before.heading, *before.blocks, section.heading, *section.blocks)
            before = joined
    if before is not None:
        yield before


def _are_siblings(one: Section, other: Section) -> bool:
    return bool(one.path and other.path) and one.level == other.level and one.path[:-1] == other.path[:-1]


def _split(section: Section) -> list[str]:
    """The section's text, in pieces of about LONG characters if it is longer."""
    if section.size <= LONG:
        return ["\n\n".join(block.text for block in section.blocks)]
    texts: list[str] = []
    open_pieces: list[str] = []
    size = 0
    for piece in (piece for block in section.blocks for piece in _pieces(block)):
        if open_pieces and size + len(piece) > LONG:
            texts.append("\n\n".join(open_pieces))
            open_pieces, size = [], 0
        open_pieces.append(piece)
        size += len(piece) + 2
    rest = "\n\n".join(open_pieces)
    if texts and len(rest) < TINY:
        texts[-1] += f"\n\n{rest}"
    else:
        texts.append(rest)
    return texts


def _pieces(block: Block) -> Iterator[str]:
    """A block in one piece; only beyond LONGEST in several, cut at line ends, else at spaces, else anywhere."""
    text = block.text
    if len(text) <= LONGEST:
        yield text
        return
    opening, closing = "", ""
    if block.is_code:
        first, _, text = text.partition("\n")
        marker = _fence(first.strip())
        opening, closing = f"{first[:MAX_HEADING]}\n", f"\n{marker}"
        code, _, last = text.rpartition("\n")
        text = code if last.strip().startswith(marker) else text
    start = 0
    while start < len(text):
        end = min(start + LONGEST, len(text))
        if end < len(text):
            cut = max(text.rfind("\n", start, end), start)
            end = cut if cut > start else max(text.rfind(" ", start, end), start)
            end = end if end > start else start + LONGEST
        yield f"{opening}{text[start:end].strip(chr(10))}{closing}"
        start = end


def _fence(bare: str) -> str:
    """The marker of an opening fence; empty if it is none: ```code``` on one line is a code span."""
    marker = bare[: len(bare) - len(bare.lstrip(bare[0]))]
    return "" if bare[0] == "`" and "`" in bare[len(marker) :] else marker


def _heading(line: str) -> tuple[int, str] | None:
    """Level and title of a line like "## Title ##"."""
    bare = line.lstrip(" ")
    level = len(bare) - len(bare.lstrip("#"))
    if len(line) - len(bare) > 3 or level > 6 or bare[level : level + 1] not in (" ", "\t"):
        return None
    title = bare[level:].strip()
    unmarked = title.rstrip("#")
    if not unmarked or unmarked[-1] in " \t":
        title = unmarked.rstrip()
    return (level, title) if title else None


def _is_rule(bare: str) -> bool:
    """Whether a line is a thematic break, which says nothing."""
    return len(bare) >= 3 and bare[0] in "-*_" and not bare.strip(bare[0])


def _underline(bare: str, above: str) -> int:
    """The level of the heading that this line makes of the one above it, else 0: under a list it is a rule."""
    if len(bare) < 3 or above.startswith(("- ", "* ", "+ ", ">", "|", "<")):
        return 0
    return next((level for level, mark in enumerate("=-", start=1) if not bare.strip(mark)), 0)
