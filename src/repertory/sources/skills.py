"""Which skill does a SKILL.md describe?

The Agent Skills format: YAML front matter, then instructions in Markdown. What breaks the format stays out, because an
agent that loads skills by the same rules would not find it either.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from repertory.model import Entity, Kind
from repertory.sources import attributes, frontmatter
from repertory.sources.attributes import Invalid
from repertory.sources.base import Problem
from repertory.sources.content import Unreadable, read_text, storable
from repertory.sources.values import Parsed

FILE_NAME = "SKILL.md"
MAX_NAME = 64
MAX_DESCRIPTION = 1024

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_ALLOWED_TOOL = re.compile(r"[^\s,()]+(?:\([^()]*\))?")  # "Bash(git add:*)" is one
_LIFTED = ("tags", "author", "version")  # metadata that has a place of its own in the entity


class SkillReader:
    """Reads SKILL.md files."""

    def recognises(self, file: Path) -> bool:
        """By its name."""
        return file.name == FILE_NAME

    def read(self, file: Path, root: Path, namespace: str) -> Iterator[Entity | Problem]:
        """The skill, or everything that is wrong with it."""
        try:
            text = read_text(file)
        except Unreadable as error:
            yield error.problem(file)
            return
        yield from skill(text, file.absolute().parent.name, storable(str(file)), str(file.absolute()))


def skill(text: str, folder: str | None, where: str, provenance: str) -> Iterator[Entity | Problem]:
    """The skill of a SKILL.md, or everything that is wrong with it. `folder` is what it must be named after, where it is in one."""
    content = frontmatter.split(text)
    if content.error is not None:
        yield Problem(where, str(content.error), content.error.line)
    elif content.head is None:
        yield Problem(where, "has no front matter; open it with ---, name, description and ---", 1)
    else:
        yield from described(content.head, content.body, folder, where, provenance)


def described(head: Parsed, body: str, folder: str | None, where: str, provenance: str) -> Iterator[Entity | Problem]:
    """The skill that a head and instructions describe, or everything that is wrong with it."""
    violations = list(_violations(head.value, folder))
    try:
        found = None if violations else _skill(head.value, body.strip(), provenance)
    except Invalid as error:
        found = None
        violations.append(error)
    yield from (Problem(where, f"the skill stays out: {violation}", head.line(violation.key)) for violation in violations)
    if found is not None:
        yield found


def _violations(head: Mapping[str, Any], folder: str | None) -> Iterator[Invalid]:
    name, description = head.get("name"), head.get("description")
    if not isinstance(name, str) or not _NAME.fullmatch(name) or len(name) > MAX_NAME:
        rule = f"lower-case letters, digits and single hyphens, at most {MAX_NAME} characters"
        yield Invalid("name", f"name {attributes.shown(name)} must be {rule}")
    elif folder is not None and name != folder:
        yield Invalid("name", f"name {name!r} must be the name of its folder, {folder!r}; rename one of them")
    if not isinstance(description, str) or not description.strip():
        yield Invalid("description", "description is missing; say what the skill does and when to use it")
    elif len(description.strip()) > MAX_DESCRIPTION:
        yield Invalid(
            "description",
            f"description has {len(description.strip())} characters; at most {MAX_DESCRIPTION} are allowed",
        )


def _skill(head: Mapping[str, Any], body: str, provenance: str) -> Entity:
    metadata = attributes.table(head, "metadata")
    details = {
        "author": attributes.text(head, "author") or attributes.text(metadata, "author"),
        "version": attributes.text(head, "version") or attributes.text(metadata, "version"),
        "license": attributes.text(head, "license"),
        "compatibility": attributes.text(head, "compatibility"),
        "allowed_tools": _allowed_tools(head.get("allowed-tools")),
    }
    return Entity(
        kind=Kind.SKILL,
        path=head["name"],
        name=head["name"],
        description=head["description"].strip(),
        tags=attributes.tags(head) or attributes.tags(metadata),
        metadata={key: value for key, value in metadata.items() if key not in _LIFTED},
        details={"body": body, **{key: value for key, value in details.items() if value}},
        provenance=provenance,
    )


def _allowed_tools(value: Any) -> list[str]:
    """A list, or one text with spaces (the standard) or commas (Claude Code)."""
    if value is None:
        return []
    if isinstance(value, str):
        return _ALLOWED_TOOL.findall(value)
    if not isinstance(value, list) or not all(isinstance(tool, str) for tool in value):
        raise Invalid("allowed-tools", "allowed-tools must be a text or a list of texts")
    return [tool.strip() for tool in value if tool.strip()]
