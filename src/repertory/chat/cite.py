"""Is every citation one of a passage that was found?

While an answer streams, text that could be a citation is held back until it is one or not; a number that no passage has never gets out.
Code is left as it is: `list[0]` cites nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

_MARKS = re.compile(r"(?P<space>[ \t]{0,3})(?:(?P<open>[\[【])|(?P<tick>`+)|\Z)")
_CITATION = re.compile(r"\[\^?\s*(?P<numbers>[0-9]{1,4}(?:\s*[,;–-]\s*[0-9]{1,4})*)\s*\]|【\s*(?P<one>[0-9]{1,4})[^】\n]{0,60}】")
_BEGUN = re.compile(r"\[\^?[0-9\s,;–-]{0,60}|【[^】\n]{0,70}")  # what may become one with the next piece
_OPEN = re.compile(r"[\[【][\^0-9\s,;–-]{0,60}\Z")  # what would become one where a citation behind it is taken out
_PART = re.compile(r"([0-9]+)(?:\s*[–-]\s*([0-9]+))?")
_FENCED = re.compile(r"^[ \t]{0,3}(`{3,})[^`\n]*$", re.MULTILINE)
_CODE = 300  # characters: an inline piece of code that is not closed by then is none


class Citer:
    """Takes an answer in pieces and gives it back in pieces: texts, and the numbers of passages where they are cited first."""

    def __init__(self, known: Collection[int]) -> None:
        self._known = known
        self._held = ""
        self._fence = ""  # the backticks that will end a block of code
        self._line = True  # whether what comes next opens a line
        self._after = False  # whether a citation was just told
        self._tail = ""  # of what was told
        self.cited: list[int] = []
        self.removed = 0  # citations of nothing

    def take(self, piece: str) -> Iterator[str | int]:
        """What can be told now."""
        self._held += piece
        yield from self._tell(final=False)

    def end(self) -> Iterator[str | int]:
        """What was held back."""
        yield from self._tell(final=True)

    def _tell(self, *, final: bool) -> Iterator[str | int]:
        while self._held:
            before = len(self._held)
            yield from self._block(final) if self._fence else self._prose(final)
            if len(self._held) == before:
                return

    def _block(self, final: bool) -> Iterator[str]:
        """Inside a block of code: whole lines, until one closes it."""
        line, newline, rest = self._held.partition("\n")
        if not newline and not final:
            return
        self._held = rest
        if line.strip().startswith(self._fence) and not line.strip().strip("`"):
            self._fence = ""
        yield self._out(line + newline)

    def _prose(self, final: bool) -> Iterator[str | int]:
        mark = next(_MARKS.finditer(self._held))
        if mark.start():
            yield self._pass(mark.start())
        elif mark["open"]:
            yield from self._bracket(mark, final)
        elif mark["tick"]:
            yield from self._code(mark, final)
        elif final:  # spaces at the end
            yield self._pass(len(self._held))

    def _bracket(self, mark: re.Match[str], final: bool) -> Iterator[str | int]:
        at = mark.start("open")
        if (found := _CITATION.match(self._held, at)) is None:
            if final or not _BEGUN.fullmatch(self._held, at):
                yield self._pass(at + 1)
            return
        numbers = [number for number in _numbers(found["numbers"] or found["one"]) if number in self._known]
        self._held = self._held[found.end() :]
        if not numbers:
            self.removed += 1
            yield self._out("?" if _OPEN.search(self._tail) else "")
        else:
            yield self._out(mark["space"] + "".join(f"[{number}]" for number in numbers))
            self._after = True
            for number in numbers:
                if number not in self.cited:
                    self.cited.append(number)
                    yield number

    def _code(self, mark: re.Match[str], final: bool) -> Iterator[str]:
        ticks = mark["tick"]
        if mark.end() == len(self._held) and not final:
            return  # more of them may come
        if self._line and len(ticks) >= 3:
            if "\n" not in self._held and not final:
                return
            if (opened := _FENCED.match(self._held)) is not None:
                self._fence = opened[1]
                yield self._pass(min(opened.end() + 1, len(self._held)))
                return
        closed = re.compile(rf"(?<!`){ticks}(?!`)").search(self._held, mark.end())
        paragraph = self._held.find("\n\n", mark.end())
        if closed is not None and (paragraph < 0 or closed.start() < paragraph):
            if closed.end() < len(self._held) or final:
                yield self._pass(closed.end())
            return
        if final or paragraph >= 0 or len(self._held) > _CODE:
            yield self._pass(mark.end())

    def _pass(self, length: int) -> str:
        text, self._held = self._held[:length], self._held[length:]
        return self._out(text)

    def _out(self, text: str) -> str:
        """What was cited just before must not become the label of a link: `[1](somewhere)`."""
        link = self._after and text.startswith("(")
        if text:
            self._after, self._line, self._tail = False, text.endswith("\n"), (self._tail + text)[-80:]
        return f" {text}" if link else text


def without_citations(text: str) -> str:
    """A text whose citations mean nothing any more."""
    citer = Citer(())
    return "".join(piece for piece in (*citer.take(text), *citer.end()) if isinstance(piece, str))


def _numbers(text: str) -> Iterator[int]:
    """2 of "2", 1 3 of "1, 3", 1 2 3 of "1-3"; no range is longer than what could be found."""
    for found in _PART.finditer(text):
        first, last = int(found[1]), int(found[2] or found[1])
        yield from range(first, min(last, first + 50) + 1)
