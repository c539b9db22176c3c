"""What is one searchable unit?

An entity is found through its documents: a tool has one, a Markdown file one per chunk. A `Document` carries its text by field (the
lexical lanes weigh fields differently) and the one text that is embedded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from repertory.model.entity import content_digest
from repertory.model.filter import Bucket


class Field(StrEnum):
    """The parts of a document that the lexical lanes tell apart (A04, B03)."""

    PATH = "path"
    NAME = "name"
    TITLE = "title"
    HEADINGS = "headings"
    DESCRIPTION = "description"
    TAGS = "tags"
    METADATA = "metadata"
    PARAMETERS = "parameters"
    TOOLS = "tools"  # names and descriptions of what a server or an agent offers, one per line
    BODY = "body"


@dataclass(frozen=True, slots=True)
class Document:
    """One searchable unit of an entity."""

    id: str  # the entity's id, with "#n" for chunks
    entity_id: str
    bucket: Bucket
    tags: tuple[str, ...]
    fields: Mapping[Field, str]
    text: str  # what is embedded (A02, B02)
    anchor: str = ""  # where in the entity: a heading path

    @property
    def digest(self) -> str:
        """Identifies the embedded text; embeddings are kept by it."""
        return content_digest(self.text)
