"""Which agent does an A2A card describe?

Cards of A2A 1.0 (`supportedInterfaces`) and of 0.3 (`url`).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from repertory.model import Entity, Kind
from repertory.sources import attributes
from repertory.sources.attributes import Invalid
from repertory.sources.base import Problem
from repertory.sources.content import Unreadable, glimpse, storable
from repertory.sources.values import JSON_SUFFIX, Loading, Parsed

KEPT = {  # of a card as it stands there, and what we call it
    "protocolVersion": "protocol_version",
    "supportedInterfaces": "interfaces",
    "defaultInputModes": "input_modes",
    "defaultOutputModes": "output_modes",
    "documentationUrl": "documentation_url",
    "iconUrl": "icon_url",
    "securitySchemes": "security_schemes",
    "securityRequirements": "security",
    "security": "security",  # 0.3's word
}
_CARD_KEYS = frozenset({"name", "skills", "capabilities"})


class AgentCardReader:
    """Reads agent cards."""

    def __init__(self) -> None:
        self._loading = Loading()

    def recognises(self, file: Path) -> bool:
        """A JSON object with name, skills and capabilities. One that cannot be parsed counts if it has these words."""
        if file.suffix.lower() != JSON_SUFFIX:
            return False
        head = glimpse(file)
        if '"skills"' not in head or '"capabilities"' not in head:
            return False
        try:
            card = self._loading.look(file).value
        except Unreadable:
            return True
        return is_card(card)

    def read(self, file: Path, root: Path, namespace: str) -> Iterator[Entity | Problem]:
        """The agent, and a problem for each of its skills that is wrong."""
        try:
            parsed = self._loading.take(file)
        except Unreadable as error:
            yield error.problem(file)
            return
        yield from agent(parsed, storable(str(file)), str(file.absolute()))


def is_card(value: Any) -> bool:
    """Whether a value is an agent card."""
    return isinstance(value, dict) and value.keys() >= _CARD_KEYS and isinstance(value["skills"], list)


def agent(parsed: Parsed, where: str, provenance: str) -> Iterator[Entity | Problem]:
    """The agent of a card, and a problem for each of its skills that is wrong."""
    card = parsed.value
    if not isinstance(card, dict):
        yield Problem(where, "is not an agent card: expected an object with name, skills and capabilities")
        return
    skills: list[dict[str, Any]] = []
    for number, skill in enumerate(card.get("skills") or ()):
        try:
            skills.append(_skill(skill))
        except Invalid as error:
            yield Problem(where, f"skills[{number}]: {error}", parsed.line("skills", number, error.key))
    try:
        yield _agent(card, skills, provenance)
    except Invalid as error:
        yield Problem(where, f"the agent: {error}", parsed.line(error.key))


def slug(name: str) -> str:
    """A name as one word of a path: lower case with hyphens, in whatever script it is."""
    folded = unicodedata.normalize("NFKC", name).lower()
    words = "".join(character if unicodedata.category(character)[0] in "LMN" else " " for character in folded).split()
    return "-".join(words)


def _agent(card: Mapping[str, Any], skills: list[dict[str, Any]], provenance: str) -> Entity:
    name = attributes.name(card)
    path = slug(name)
    if not path:
        raise Invalid("name", f"its name has no letter or digit ({name!r}); give it one")
    capabilities = card.get("capabilities")
    if not isinstance(capabilities, dict | list | None):
        raise Invalid("capabilities", "capabilities must be an object")
    details = {
        "version": attributes.text(card, "version"),
        "provider": attributes.table(card, "provider"),
        "url": _url(card),
        "capabilities": capabilities,
        **{ours: card[theirs] for theirs, ours in KEPT.items() if card.get(theirs)},
    }
    return Entity(
        kind=Kind.A2A_AGENT,
        path=path,
        name=name,
        description=attributes.text(card, "description"),
        tags=attributes.unique(tag for skill in skills for tag in skill.get("tags", ())),
        details={**{key: value for key, value in details.items() if value}, "skills": skills},
        provenance=provenance,
    )


def _skill(skill: Any) -> dict[str, Any]:
    """What is said of a skill, without its id and modes (A02)."""
    if not isinstance(skill, dict):
        raise Invalid("", f"it is not an object but {type(skill).__name__}")
    told = {
        "name": attributes.name(skill),
        "description": attributes.text(skill, "description"),
        "tags": list(attributes.tags(skill)),
        "examples": _examples(skill),
    }
    return {key: value for key, value in told.items() if value}


def _examples(skill: Mapping[str, Any]) -> list[str]:
    examples = skill.get("examples")
    if examples is None:
        return []
    if not isinstance(examples, list) or not all(isinstance(example, str) for example in examples):
        raise Invalid("examples", "examples must be a list of texts")
    return examples


def _url(card: Mapping[str, Any]) -> str:
    """The address that the agent prefers: the first interface of 1.0, the `url` of 0.3."""
    interfaces = card.get("supportedInterfaces")
    first = interfaces[0] if isinstance(interfaces, list) and interfaces else None
    return attributes.text(first if isinstance(first, dict) else card, "url")
