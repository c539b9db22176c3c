"""Which tools of a server answer the query?

A10: a server that was found shows which of its tools matched, and how well.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from repertory.indexes.features import PREFIX
from repertory.model import Entity, Filter, Kind, LiftedTool, MatchingTool, Result
from repertory.store import Store
from repertory.text.fold import fold
from repertory.text.tokens import words

IN_NAME = 0.5
IN_DESCRIPTION = 0.3
SUM, SHARE = 0.7, 0.3  # how much the sum of the matches counts, and the share of the query that they cover


def tool_score(name: str, description: str, query_words: Sequence[str]) -> float:
    """A10: 0 when nothing of the query is in it."""
    held = fold(f"{name} {description}")
    if not any(word in held for word in query_words):  # most tools of a server; taking their texts apart costs a hundred times more
        return 0.0
    named, described = words(name, naming=True), words(description)
    worth = [IN_NAME if _has(named, word) else IN_DESCRIPTION if _has(described, word) else 0.0 for word in query_words]
    matched = sum(value > 0 for value in worth)
    return SUM * min(1.0, sum(worth)) + SHARE * matched / len(query_words) if matched else 0.0


def _has(found: Sequence[str], word: str) -> bool:
    """A04's way of matching: whole, or from a word's beginning."""
    return word in found or (len(word) >= PREFIX and any(one.startswith(word) for one in found))


def matching_tools(entity: Entity, query_words: Sequence[str]) -> tuple[MatchingTool, ...]:
    """The tools of a server that match, best first; none for any other kind."""
    if entity.kind not in (Kind.MCP_SERVER, Kind.VIRTUAL_SERVER):
        return ()
    scored = [_offer(offer, query_words) for offer in entity.details.get("tools", ()) if isinstance(offer, Mapping)]
    return tuple(sorted((tool for tool in scored if tool.score > 0), key=lambda tool: (-tool.score, tool.name)))


def _offer(offer: Mapping[str, Any], query_words: Sequence[str]) -> MatchingTool:
    name, description = str(offer.get("alias") or offer.get("name", "")), str(offer.get("description") or "")
    return MatchingTool(name, description, tool_score(name, description, query_words))


def lift(results: Sequence[Result], store: Store, filter: Filter, limit: int) -> tuple[LiftedTool, ...]:
    """The best matching tools of the servers found that are no results themselves, beside the limit."""
    shown = {result.entity.id for result in results}
    wanted: dict[str, MatchingTool] = {}
    for result in results:
        by_name = {tool.name: tool for tool in result.matching_tools}
        for link in result.entity.links:
            name = link.target.rpartition("/")[2]
            if link.relation == "has_tool" and name in by_name and link.target not in shown:
                wanted.setdefault(link.target, by_name[name])
    best = sorted(wanted, key=lambda entity_id: (-wanted[entity_id].score, entity_id))[: max(3, math.ceil(0.6 * limit))]
    entities = store.entities(best, filter)
    return tuple(LiftedTool(entities[entity_id], wanted[entity_id].score) for entity_id in best if entity_id in entities)
