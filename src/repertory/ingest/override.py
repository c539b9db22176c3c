"""What becomes of an entry when an administrator has decided about it?

A decision stands over what the source says, and survives the next reading of the source; without it the source's own value is back. A tool
follows its server: what is disabled, narrowed or deprecated above is so below, unless the tool was decided about itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from repertory.model import Entity, Kind, Status
from repertory.sources.toolfile import PART_OF, with_tools

_MAKERS: Mapping[str, Callable[[Any], Any]] = {  # what can be decided, from plain JSON
    "status": Status,
    "enabled": bool,
    "audience": frozenset,
    "scopes": frozenset,
    "tags": tuple,
}


def decide(brought: Iterable[Entity], overrides: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[Entity, Entity]]:
    """Each entity as it is to be and as its source brought it, by id, in their order."""
    before = {entity.id: entity for entity in brought}
    after = {entity_id: _with(entity, overrides.get(entity_id, {})) for entity_id, entity in before.items()}
    tools: dict[str, list[str]] = defaultdict(list)
    for entity in before.values():
        if entity.kind is Kind.TOOL:
            for link in entity.links:
                if link.relation == PART_OF and link.target in before:
                    tools[link.target].append(entity.id)
    for server, members in tools.items():
        for tool in members:
            after[tool] = _below(after[tool], before[tool], before[server], after[server], overrides.get(tool, {}))
        if any(after[one] != before[one] for one in (server, *members)):
            after[server] = with_tools(after[server], [after[tool] for tool in members])
    return {entity_id: (after[entity_id], entity) for entity_id, entity in before.items()}


def _with(entity: Entity, changes: Mapping[str, Any]) -> Entity:
    return replace(entity, **{name: _MAKERS[name](value) for name, value in changes.items()}) if changes else entity


def _below(tool: Entity, own: Entity, was: Entity, server: Entity, decided: Mapping[str, Any]) -> Entity:
    """The tool under its server. What it had from the server it has from the server as it is now."""
    return replace(
        tool,
        enabled=tool.enabled and server.enabled,
        status=server.status if "status" not in decided and own.status is was.status else tool.status,
        audience=server.audience if "audience" not in decided and own.audience == was.audience else tool.audience,
        scopes=server.scopes | (tool.scopes if "scopes" in decided else own.scopes - was.scopes),
    )
