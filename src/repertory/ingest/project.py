"""How does an entity become documents?

One document per entity, except a Markdown file: one per section, and a server with tools that not everybody sees who sees the server: one
more for those who see them (A18). Which words land in which field decides what the lexical lanes weigh;
`text` is what the embedder reads (A02, B02). Paths, schemas, skill ids and scopes are never in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from repertory.model import HARMLESS, READ_ONLY, Bucket, Document, Entity, Field, Kind, bucket_of, content_digest, offers_of
from repertory.text.flatten import flatten
from repertory.text.tokens import spaced

VERSION = 4  # raise it when the same entity gives other documents or edges: every entry is then read in anew


def project(entity: Entity) -> list[Document]:
    """The documents through which an entity is found."""
    return _PROJECTIONS[entity.kind](entity)


def _server(entity: Entity) -> list[Document]:
    groups: dict[Bucket, list[Mapping[str, Any]]] = {Bucket.of(entity): []}
    for offer in offers_of(entity):
        groups.setdefault(bucket_of(entity, offer), []).append(offer)
    offered = _offers(groups.pop(Bucket.of(entity)))
    text = [entity.name, entity.description, _tagged("Tags", entity.tags), flatten(entity.metadata), offered]
    return [
        _document(entity, text, {Field.TITLE: entity.details.get("title", ""), Field.TOOLS: offered}),
        *(_guarded(entity, bucket, groups[bucket]) for bucket in sorted(groups, key=lambda bucket: bucket.key)),
    ]


def _guarded(entity: Entity, bucket: Bucket, offers: Iterable[Mapping[str, Any]]) -> Document:
    """What a server offers to some. The id holds the bucket, not its place among others: one more must not rename the rest."""
    offered = _offers(offers)
    document = _document(
        entity, [entity.name, offered], {Field.TOOLS: offered}, description="", suffix=f"#{content_digest(bucket.key)[:8]}"
    )
    return replace(document, bucket=bucket)


def _tool(entity: Entity) -> list[Document]:
    title = entity.details.get("title", "")
    parameters = _parameters(entity.details.get("input_schema") or {})
    server = str(entity.details.get("server") or "")
    text = [
        f"{spaced(server)}: {spaced(entity.name)}" if server else spaced(entity.name),
        title,
        entity.description,
        parameters,
    ]
    return [_document(entity, text, {Field.TITLE: title, Field.PARAMETERS: parameters})]


def _agent(entity: Entity) -> list[Document]:
    offered = _offers(entity.details.get("skills", ()))
    capabilities = entity.details.get("capabilities", {})
    able = [name for name, value in capabilities.items() if value] if isinstance(capabilities, Mapping) else list(capabilities)
    text = [
        entity.name,
        entity.description,
        _tagged("Tags", entity.tags),
        _tagged("Capabilities", able),
        flatten(entity.metadata),
        offered,
    ]
    return [_document(entity, text, {Field.TOOLS: offered})]


def _skill(entity: Entity) -> list[Document]:
    known = [str(entity.details[key]) for key in ("author", "version") if entity.details.get(key)]
    text = [entity.name, entity.description, _tagged("Tags", entity.tags), *known, flatten(entity.metadata)]
    return [_document(entity, text, {Field.BODY: str(entity.details.get("body", ""))})]


def _file(entity: Entity) -> list[Document]:
    aliases = " ".join(entity.details.get("aliases", ()))
    documents = []
    for position, section in enumerate(entity.details.get("sections") or [{"path": [], "text": entity.description}]):
        headings = " > ".join(section["path"])
        text = [entity.name if entity.name not in section["path"] else "", headings, section["text"]]
        fields = {
            Field.HEADINGS: headings,
            Field.TAGS: f"{' '.join(entity.tags)} {aliases}".strip(),
            Field.BODY: section["text"],
        }
        documents.append(_document(entity, text, fields, description="", suffix=f"#{position}", anchor=headings))
    return documents


def _document(
    entity: Entity,
    text: Iterable[str],
    fields: Mapping[Field, str],
    *,
    description: str | None = None,
    suffix: str = "",
    anchor: str = "",
) -> Document:
    every = {
        Field.PATH: entity.path,
        Field.NAME: entity.name,
        Field.DESCRIPTION: entity.description if description is None else description,
        Field.TAGS: " ".join(entity.tags),
        Field.METADATA: flatten(entity.metadata),
        **fields,
    }
    return Document(
        id=entity.id + suffix,
        entity_id=entity.id,
        bucket=Bucket.of(entity),
        tags=(*entity.tags, *_effects(entity)),
        fields={field: value for field, value in every.items() if value},
        text="\n".join(part.strip() for part in text if part and part.strip()),
        anchor=anchor,
    )


def _effects(entity: Entity) -> tuple[str, ...]:
    """What a tool says of its effects, as tags of ours, by which a search can be narrowed. What is only read has none."""
    if entity.kind in (Kind.DOCUMENT, Kind.SKILL):
        return READ_ONLY, HARMLESS
    hints = entity.details.get("annotations")
    if entity.kind is not Kind.TOOL or not isinstance(hints, Mapping):
        return ()
    if hints.get("readOnlyHint") is True:
        return READ_ONLY, HARMLESS
    return (HARMLESS,) if hints.get("destructiveHint") is False else ()  # MCP: a tool that does not say so may destroy


def _tagged(label: str, values: Iterable[str]) -> str:
    listed = ", ".join(values)
    return f"{label}: {listed}" if listed else ""


def _offers(offers: Iterable[Mapping[str, Any]]) -> str:
    """One line per tool or skill, under the name by which it is offered: the keyword lane counts lines (A04)."""
    named = [
        (offer.get("alias") or offer.get("name", ""), offer.get("description") or "") for offer in offers if isinstance(offer, Mapping)
    ]
    return "\n".join(" ".join(f"{name}: {description}".split()) for name, description in named)


def _parameters(schema: Mapping[str, Any]) -> str:
    """Names and descriptions of a tool's top-level parameters, one per line."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return ""
    lines = []
    for name, about in properties.items():
        description = about.get("description", "") if isinstance(about, Mapping) else ""
        lines.append(f"{spaced(str(name))}: {description}" if description else spaced(str(name)))
    return "\n".join(lines)


_PROJECTIONS: dict[Kind, Callable[[Entity], list[Document]]] = {
    Kind.MCP_SERVER: _server,
    Kind.VIRTUAL_SERVER: _server,
    Kind.TOOL: _tool,
    Kind.A2A_AGENT: _agent,
    Kind.SKILL: _skill,
    Kind.DOCUMENT: _file,
}
