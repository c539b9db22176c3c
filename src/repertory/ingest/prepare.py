"""What follows from an entity alone?

Its documents, its edges, how it looks to others and what is wrong with it: nothing of it needs the catalog, so it can be worked out
before, and elsewhere (`ahead`). It holds for this very entity: a mark of the guard, or what a server notes of its tools, makes another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from repertory.graph.derive import owned
from repertory.guard.company import Look, look_of, named_in
from repertory.guard.inspect import inspect
from repertory.indexes.read import Reading, read
from repertory.ingest.project import project
from repertory.model import Document, Entity, Finding, Kind, Link, content_digest


class Prepared(NamedTuple):
    """What follows from one entity."""

    entity: Entity
    links: tuple[Link, ...]  # the edges that it owns
    look: Look | None  # of a tool: how it looks to others
    documents: tuple[tuple[Document, str], ...]  # with their signatures
    named: Mapping[str, str]  # the tools that it says to call
    findings: tuple[Finding, ...]  # none where nobody asked for them
    readings: tuple[Reading, ...] = ()  # of all its documents, or of none

    def is_of(self, entity: Entity) -> bool:
        """Whether this follows from that entity, too: findings are only told, nothing follows from them."""
        return self.entity is entity or self.entity == replace(entity, findings=self.entity.findings)


def prepare(entities: Iterable[Entity], *, inspected: bool = True) -> list[Prepared]:
    """What follows from each of these but the reading of its documents, which only those need that changed."""
    return [_prepared(entity, inspected) for entity in entities]


def prepare_all(entities: Iterable[Entity], *, inspected: bool) -> list[Prepared]:
    """Everything that follows from each of these."""
    prepared = prepare(entities, inspected=inspected)
    readings = read(document.fields for one in prepared for document, _ in one.documents)
    return [one._replace(readings=tuple(next(readings) for _ in one.documents)) for one in prepared]


def _prepared(entity: Entity, inspected: bool) -> Prepared:
    is_tool = entity.kind is Kind.TOOL
    return Prepared(
        entity,
        owned(entity),
        look_of(entity) if is_tool else None,
        tuple((document, signature_of(document)) for document in project(entity)),
        named_in(entity) if is_tool and inspected else {},
        inspect(entity) if inspected else (),
    )


def signature_of(document: Document) -> str:
    """Equal signatures, equal documents: what is stored need not be written again."""
    return content_digest([document.fields, document.text, document.bucket.key, document.tags, document.anchor])
