"""What does an entry say, to be read by a person?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from repertory.model import Entity, Kind


def content_of(entity: Entity) -> dict[str, Any]:
    """The text of an entry, whole and by its sections; of a tool also what it takes and gives."""
    sections = [{"heading": heading, "text": text} for heading, text in _sections(entity)]
    markdown = "\n\n".join(part for heading, text in _sections(entity) for part in (heading and f"## {heading}", text) if part)
    answer: dict[str, Any] = {"id": entity.id, "name": entity.name, "markdown": markdown, "sections": sections}
    if entity.kind is Kind.TOOL:
        answer |= {
            "signature": signature(entity),
            "input_schema": entity.details.get("input_schema"),
            "output_schema": entity.details.get("output_schema"),
        }
    return answer


def signature(tool: Entity) -> str:
    """A tool as one would call it: `create_event(title, start, location=)`."""
    schema = tool.details.get("input_schema")
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    required = schema.get("required") if isinstance(schema, Mapping) else None
    needed = set(map(str, required)) if isinstance(required, list) else set()
    names = [str(name) for name in properties] if isinstance(properties, Mapping) else []
    return f"{tool.name}({', '.join(sorted((n if n in needed else f'{n}=' for n in names), key=lambda n: n.endswith('=')))})"


def _sections(entity: Entity) -> Iterator[tuple[str, str]]:
    """Heading and text; what stands before the first heading has none."""
    if entity.kind is Kind.DOCUMENT and entity.details.get("sections"):
        for section in entity.details["sections"]:
            yield " > ".join(section["path"]), section["text"]
        return
    yield "", entity.description
    if body := entity.details.get("body"):
        yield "", str(body)
    for word in ("tools", "skills"):
        for offer in entity.details.get(word, ()):
            if isinstance(offer, Mapping):
                yield str(offer.get("name", "")), str(offer.get("description") or "")
