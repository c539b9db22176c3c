"""What do the three tools of the gateway say?

`search`, `describe` and `call`: a list that never changes with use (E10). Answers are short texts for the model and the same as structured
content for programs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from repertory.gateway import agents
from repertory.gateway.signature import first_sentence, signature
from repertory.model import Entity, Kind, Result, SearchResponse

DEFAULT_LIMIT = 5  # results: what a model reads at once; more on request
MAX_LIMIT = 20
MAX_DESCRIBED = 5  # entries at once
MAX_SUGGESTED = 3  # related entries and next steps that are named
MAX_TEXT = 12_000  # characters of a text that is read at once: some 3,000 tokens
NAMED_DOMAINS = 12  # servers that the description of `search` names

_WORDS = {
    Kind.TOOL: ("tool", "tools"),
    Kind.MCP_SERVER: ("server", "servers"),
    Kind.A2A_AGENT: ("agent", "agents"),
    Kind.SKILL: ("skill", "skills"),
    Kind.VIRTUAL_SERVER: ("virtual server", "virtual servers"),
    Kind.DOCUMENT: ("document", "documents"),
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool says: to the model, and to programs."""

    text: str
    content: Mapping[str, Any]


def found(response: SearchResponse) -> Answer:
    """The answer of `search`: one line for each result."""
    lines = [_line(result) for result in response.results]
    notes = [diagnostic.message for diagnostic in response.diagnostics]
    if not lines:
        notes.insert(0, "Nothing here answers that." if response.abstained else "Nothing was found.")
    suggested = [suggestion.entity.id for suggestion in (*response.next_steps, *response.related)][:MAX_SUGGESTED]
    text = "\n".join([*lines, *(f"({note})" for note in notes), *([f"See also: {', '.join(suggested)}"] if suggested else [])])
    content: dict[str, Any] = {"results": [_structured(result) for result in response.results]}
    if response.abstained:
        content["abstained"] = True
    if notes:
        content["notes"] = notes
    if suggested:
        content["see_also"] = suggested
    return Answer(text, content)


def _line(result: Result) -> str:
    line = signature(result.entity)
    if result.entity.kind is Kind.DOCUMENT:
        where = f" ({result.anchor})" if result.anchor else ""
        line = f"{result.document_id}{where} - {first_sentence(result.excerpt or result.entity.description)}"
    if result.matching_tools:
        line += f" [tools: {', '.join(tool.name for tool in result.matching_tools[:5])}]"
    return f"{line} [stale]" if result.stale else line


def _structured(result: Result) -> dict[str, Any]:
    entity = result.entity
    shown: dict[str, Any] = {"id": result.document_id if entity.kind is Kind.DOCUMENT else entity.id, "score": round(result.score, 2)}
    if result.confidence is not None:
        shown["confidence"] = round(result.confidence, 2)
    if result.stale:
        shown["stale"] = True
    return shown


def summary(counts: Mapping[Kind, int], domains: Sequence[str], operator: str) -> str:
    """The description of `search`: what is behind it, because an agent does not look for what it does not know of."""
    held = [f"{count} {_WORDS[kind][count != 1]}" for kind, count in counts.items() if count]
    behind = f"Behind it: {', '.join(held)}." if held else "The catalog is empty."
    about = f" Among them: {', '.join(domains[:NAMED_DOMAINS])}." if domains else ""
    return (
        "Find tools, agents, skills and documents you can use, by what you want to do. "
        "Search before you say that something cannot be done: most of what you can do is only found here. "
        f"{behind}{about}{' ' + operator.strip() if operator.strip() else ''} "
        "Answers are signatures: then use describe for the full schema or text, and call to run a tool."
    )


def domains(servers: Iterable[Entity]) -> list[str]:
    """What the servers are about: their names, and the tags that most of them share."""
    listed = list(servers)
    tags = Counter(tag for server in listed for tag in server.tags)
    return [*dict.fromkeys([*(tag for tag, count in tags.most_common(4) if count > 1), *sorted(server.name for server in listed)])]


def reading(entity: Entity, at: int | None, *, whole: bool) -> str:
    """The text of a skill or a document: a section with its neighbours, or from the beginning."""
    if entity.kind is Kind.SKILL:
        text = str(entity.details.get("body", ""))
    else:
        sections = entity.details.get("sections") or ()
        chosen = sections if at is None else sections[max(0, at - 1) : at + 2]
        text = "\n\n".join(_section(section) for section in chosen)
    if whole or len(text) <= MAX_TEXT:
        return text
    return f"{text[:MAX_TEXT]}…\n(cut: {len(text)} characters in all; the resource {entity.id} has the rest)"


def _section(section: Mapping[str, Any]) -> str:
    heading = " > ".join(section["path"])
    return f"## {heading}\n\n{section['text']}" if heading else str(section["text"])


def described(entity: Entity, text: str | None = None) -> dict[str, Any]:
    """Everything an agent needs to use an entry."""
    details = entity.details
    shown: dict[str, Any] = {"id": entity.id, "kind": entity.kind.value, "name": entity.name, "description": entity.description}
    wanted: dict[Kind, Mapping[str, str]] = {
        Kind.TOOL: {
            "title": "title",
            "server": "server",
            "input_schema": "inputSchema",
            "output_schema": "outputSchema",
            "annotations": "annotations",
        },
        Kind.MCP_SERVER: {"title": "title", "version": "version", "instructions": "instructions", "tools": "tools"},
        Kind.VIRTUAL_SERVER: {"tools": "tools"},
        Kind.A2A_AGENT: {"url": "url", "version": "version", "capabilities": "capabilities", "skills": "skills"},
        Kind.SKILL: {"allowed_tools": "allowedTools", "license": "license", "compatibility": "compatibility"},
        Kind.DOCUMENT: {},
    }
    shown |= {name: details[key] for key, name in wanted[entity.kind].items() if details.get(key)}
    if entity.kind is Kind.A2A_AGENT:
        shown["inputSchema"] = agents.SCHEMA
    if text:
        shown["text"] = text
    if entity.tags:
        shown["tags"] = list(entity.tags)
    if entity.provenance:
        shown["source"] = entity.provenance
    return shown
