"""Is something written so that only a machine reads it?

What looks like base64, hex, percent signs or escapes is decoded, twice at most, and what comes out is looked at like any other text. A
decoded shell command or order blocks: nobody encodes what may be read. In plain sight, a shell command is worth a warning.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import re
from collections.abc import Iterator
from itertools import islice
from urllib.parse import unquote

import re2

MAX_PAYLOADS = 20  # of one text
NESTED = 2  # a payload inside a payload
READABLE = 0.9  # how much of what was decoded must be printable

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_HEX = re2.compile(r"(?:[0-9a-fA-F]{2}[ :]?){12,}")
_PERCENT = re2.compile(r"(?:%[0-9a-fA-F]{2}|[\w.~-]){0,400}(?:%[0-9a-fA-F]{2}){3,}(?:%[0-9a-fA-F]{2}|[\w.~-]){0,400}")
_ESCAPES = re2.compile(r"(?:\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|&#x?[0-9a-fA-F]{2,5};){6,}")
_ESCAPE = re2.compile(r"\\x([0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})|&#x([0-9a-fA-F]{2,5});|&#([0-9]{2,6});")
_MARKS = re2.compile(r"%[0-9a-fA-F]{2}%|\\x[0-9a-fA-F]{2}\\x|\\u00|&#x?[0-9a-fA-F]{2,5};&#|(?:[0-9a-fA-F]{2}[ :]?){12}")

SHELL = re2.compile(
    r"(?i)\b(?:curl|wget|iwr|invoke-webrequest)\b[^\n|]{0,300}\|\s*(?:sudo\s+)?(?:ba|z|da|k)?sh\b|\b(?:curl|wget)\b[^\n|]{0,300}\|"
    r"\s*(?:python\d?|perl|node)\b|"
    r"/dev/tcp/|\bnc\b[^\n]{0,40}\s-e\b|\bbash -i\b|\bpowershell(?:\.exe)?\b[^\n]{0,60}-e(?:nc|ncodedcommand)?\b|\bbase64\s+(?:-d|"
    r"--decode)\b[^\n]{0,80}\|\s*\w*sh\b|"
    r"\brm\s+-(?:rf|fr)\s+[~/$]|\bmkfifo\b[^\n]{0,80}\bnc\b"
)
RUNS = re2.compile(  # what is a command only where somebody took care to hide it
    r"(?i)\b(?:curl|wget)\b.{0,20}https?://|\bchmod\s+\+x\b|\brm\s+-(?:rf|fr)\b|\b(?:os\.system|subprocess\.|eval|exec|__import__|"
    r"child_process)\b\s*\(?|/bin/(?:ba)?sh\b|"
    r"\bpowershell\b|\bscp\s+\S|\bncat?\s+\S+\s+\d+|\bpython\d?\s+-c\b|>\s*/(?:dev|etc)/|<script\b"
)


def is_possible(text: str) -> bool:
    """Whether a command or an encoding can be in it."""
    return any(map(_is_mixed, _BASE64.findall(text))) or _MARKS.search(text) is not None or SHELL.search(text) is not None


def decoded(text: str, depth: int = 0) -> Iterator[str]:
    """What is encoded in a text, as far as it can be read."""
    for candidate in _candidates(text):
        if _is_readable(candidate):
            yield candidate
            if depth + 1 < NESTED:
                yield from decoded(candidate, depth + 1)


def _is_mixed(token: str) -> bool:
    """Whether a run of letters is no word and no name: encoded text has both cases, and digits soon."""
    return not (token.islower() or token.isupper()) and not token.isalpha()


def _candidates(text: str) -> Iterator[str]:
    for encoded in islice(filter(_is_mixed, _BASE64.findall(text)), MAX_PAYLOADS):
        token = encoded.rstrip("=").replace("-", "+").replace("_", "/")
        with contextlib.suppress(ValueError, binascii.Error):
            yield base64.b64decode(token + "=" * (-len(token) % 4)).decode("utf-8")
    for found in islice(_HEX.finditer(text), MAX_PAYLOADS):
        with contextlib.suppress(ValueError):
            yield bytes.fromhex(found.group().replace(":", "")).decode("utf-8")
    for found in _PERCENT.finditer(text):
        yield unquote(found.group())
    for found in _ESCAPES.finditer(text):
        yield "".join(chr(min(int(x or u or h or d, 10 if d else 16), 0x10FFFF)) for x, u, h, d in _ESCAPE.findall(found.group()))


def _is_readable(text: str) -> bool:
    printable = sum(character.isprintable() or character.isspace() for character in text)
    return len(text) >= 8 and printable >= READABLE * len(text) and sum(c.isascii() for c in text) >= READABLE * len(text)
