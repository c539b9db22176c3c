"""What text is in a file?

Bytes become text with plain line ends; what a format makes of the text is its reader's business.
"""

from __future__ import annotations

import codecs
import re
from pathlib import Path

from repertory.sources.base import Problem

MAX_BYTES = 10 * 1024 * 1024  # a note or a tool file written by people is far smaller; more is data
_HEAD_BYTES = 64 * 1024  # the keys of a file that is too large to parse on suspicion stand at its beginning

# UTF-32 first: its little-endian mark opens with the mark of UTF-16.
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# Databases refuse NUL and UTF-8 has no lone surrogates, but JSON escapes can spell both.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class Unreadable(Exception):
    """Ends the reading of one file or entry inside a reader; outside it is a `Problem`."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line

    def problem(self, file: Path) -> Problem:
        """The same, as ingest wants to hear it."""
        return Problem(storable(str(file)), str(self), self.line)


def storable(text: str) -> str:
    """Text without the characters that cannot be stored; these become U+FFFD."""
    return _UNSTORABLE.sub("\ufffd", text)


def read_text(file: Path, limit: int = MAX_BYTES) -> str:
    """The whole text, line ends as "\\n". Raises `Unreadable` for what is too large, binary, or not there."""
    try:
        with file.open("rb") as stream:
            data = stream.read(limit + 1)
    except OSError as error:
        reason = error.strerror or str(error)
        raise Unreadable(f"cannot be read: {reason}; check that it is there and may be read") from error
    if len(data) > limit:
        raise Unreadable(f"is larger than {limit // 1024**2} MB, the most that is read from one file; split it")
    return decode(data).replace("\r\n", "\n").replace("\r", "\n")


def glimpse(file: Path) -> str:
    """The ASCII of a file, or of the beginning of a large one: enough to see its keys before it is parsed."""
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError:
        return ""
    if len(data) > MAX_BYTES:
        data = data[:_HEAD_BYTES]
    return data.replace(b"\x00", b"").decode("latin-1")  # UTF-16 shows its ASCII without the NULs


def decode(data: bytes) -> str:
    """Text from bytes: by byte order mark, else UTF-8, else the Windows code page that old files are mostly in."""
    encoding = next((name for mark, name in _MARKS.items() if data.startswith(mark)), None)
    if encoding is not None:
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError as error:
            raise Unreadable(f"opens as {encoding} but is not: {error.reason}; save it as UTF-8") from error
    else:
        text = _decode_unmarked(data)
    if "\x00" in text:
        raise Unreadable("is binary (it contains NUL), not text; remove it or save it as UTF-8 text")
    return text


def _decode_unmarked(data: bytes) -> str:
    for encoding in ("utf-8", "cp1252"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")  # every byte is a character: never fails
