"""Which parts of a query name one thing exactly?

D03: an *anchor* is an identifier (D40, PII-2024-0042, 75.1725, "30 CFR 75.1725", v1.2.3, snake_case, dotted.names), a quoted phrase, or a
rare proper noun. Which nouns are rare only the catalog can say: `proper_nouns` gives candidates, and the caller asks how often they occur.
"""

from __future__ import annotations

import re
from functools import lru_cache

from repertory.text.fold import fold

BOOST = 1.5  # D04: for a document that contains an anchor, once per anchor
MOST = 3  # anchors that count: more would drown every other sign
RARE = 0.02  # of the documents: a capitalised word in no more of them is a name
FEW = 3  # documents: in a small catalog too

_QUOTED = re.compile(r"\"([^\"]{2,80})\"|“([^”]{2,80})”|`([^`]{2,80})`")
_IDENTIFIER = re.compile(
    r"""(?<![\w.])(?:
      \d+\s+[A-Z]{2,}\s+\d+(?:\.\d+)*          # 30 CFR 75.1725
    | [A-Za-z]{1,12}(?:-[A-Za-z0-9]+)*-?\d[\w]*(?:[.\-]\w+)*   # D40, E0308, ENG-201, PII-2024-0042, v1.2.3
    | \d+(?:\.\d+)+                            # 75.1725
    | [A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+   # snake_case
    | [A-Za-z_]{2,}\w*(?:\.[A-Za-z_]{2,}\w*)+  # dotted.names
    | [a-z]+(?:[A-Z][a-z0-9]+)+                # camelCase
    )(?!\w)""",
    re.VERBOSE,
)
_PROPER = re.compile(r"(?<!\w)[A-Z][^\W\d_]{3,}(?!\w)")
_AROUND = " \t\n.,;:!?()[]{}<>'"
SHORT_QUERY = 3  # words: in a longer one the first word is a capital because it opens a sentence


def quoted(text: str) -> tuple[str, ...]:
    """The phrases in quotation marks, folded."""
    return tuple(" ".join(fold(next(filter(None, found.groups()))).split()) for found in _QUOTED.finditer(text))


def identifiers(text: str) -> tuple[str, ...]:
    """The identifiers outside quotation marks, folded, each once."""
    return tuple(dict.fromkeys(" ".join(fold(found.group()).split()) for found in _IDENTIFIER.finditer(_QUOTED.sub(" ", text))))


def only_identifier(text: str) -> str | None:
    """The identifier that a query is, when it is nothing else (D05)."""
    bare = text.strip(_AROUND)
    return fold(" ".join(bare.split())) if _IDENTIFIER.fullmatch(bare) else None


def proper_nouns(text: str) -> tuple[str, ...]:
    """Words that may be names: capitalised, but not because a sentence begins; or all there is. Folded."""
    count = len(text.split())
    if count == 1:
        return (fold(text.strip(_AROUND)),)
    found = (match for match in _PROPER.finditer(text) if count <= SHORT_QUERY or text[: match.start()].strip(_AROUND))
    return tuple(dict.fromkeys(fold(match.group()) for match in found))


def is_rare(frequency: int, documents: int) -> bool:
    """Whether a word that so many documents have is a name in a catalog of so many."""
    return 0 < frequency <= max(FEW, RARE * documents)


def contains(folded: str, anchor: str) -> bool:
    """Whether a folded text has an anchor as a whole token: D40 is neither in "D400" nor in "D40.1"."""
    return anchor in folded and _whole(anchor).search(folded) is not None


@lru_cache(maxsize=1024)
def _whole(anchor: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?<!\w[.\-]){re.escape(anchor)}(?!\w)(?![.\-]\w)")
