"""What does a query say?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from repertory.text.anchors import identifiers, only_identifier, proper_nouns, quoted
from repertory.text.tokens import compact, query_words

Names = frozenset[str] | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Query:
    """A query, understood."""

    text: str
    words: tuple[str, ...]  # what the lexical lanes look for
    name: str  # compact, to be compared with the names of entries (C09)
    anchors: tuple[str, ...] = ()  # identifiers and quoted phrases (D03)
    nouns: tuple[str, ...] = ()  # anchors too where the catalog rarely has them
    identifier: str | None = None  # when the query is nothing else (D05)
    context: str = ""  # what it is asked about (E07)
    context_words: tuple[str, ...] = ()
    original: str = ""  # what was asked, where `text` is a rewrite or a correction of it
    hypothesis: str = ""  # what an answer might say

    @property
    def texts(self) -> tuple[str, ...]:
        """What the embedder reads: the better one counts (E06). A hypothesis stands for the query."""
        if self.hypothesis:
            return (self.hypothesis,)
        return (self.original, self.text) if self.original else (self.text,)


@lru_cache(maxsize=512)  # a search asks twice, and people repeat themselves: some 2 MB, 30 where all are as long as they may be
def understand(text: str, names: Names, context: str = "", original: str = "") -> Query:
    """Take a query apart. `names` are the short names that the catalog knows (A01). Without a query, the context is one."""
    text, context = (text.strip(), context) if text.strip() else (context, "")
    words = tuple(query_words(text, names))
    return Query(
        text=text,
        words=words,
        name=compact(text),
        anchors=(*identifiers(text), *quoted(text)),
        nouns=proper_nouns(text),
        identifier=only_identifier(text),
        context=context,
        context_words=tuple(word for word in query_words(context, names) if word not in words) if context else (),
        original=original,
    )
