"""What is in the catalog, as somebody may see it?

Lists, single entries, how they are related, and what there is on the whole; nothing here is ranked, and nothing is changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from repertory import access
from repertory.answers import ANSWER_TTL, Answers
from repertory.cache import TimedCache
from repertory.errors import InvalidRequest, NotFound
from repertory.gateway.facade import described, domains, reading
from repertory.graph.derive import PAIRS, is_node
from repertory.graph.draw import MAX_EDGES, Drawing, Format, draw
from repertory.model import Edge, Entity, Filter, Kind, Principal, SearchRequest
from repertory.model.request import MAX_LIMIT
from repertory.offload import offload
from repertory.search import listing
from repertory.search.categories import Category, categories

OVERVIEWS = 256  # that are remembered: one for each set of groups


class Shelf(Answers):
    """An open catalog, to look through."""

    @cached_property
    def _overviews(self) -> TimedCache[tuple[int, Filter], tuple[dict[Kind, int], list[str]]]:
        return TimedCache(size=OVERVIEWS, ttl=ANSWER_TTL)

    async def entries(
        self, filter: Filter = Filter(), principal: Principal = Principal(), *, query: str = "", limit: int = 50, offset: int = 0
    ) -> tuple[list[Entity], int]:
        """Entries in registration order, and how many there are in all; with a query, those that hold it as it is written (A12)."""
        if query.strip():
            found = await offload(lambda: [one for one in self._every(filter, principal) if listing.score(one, query)])
            return found[offset : offset + limit], len(found)
        page, total = await offload(self._store.list_entities, access.narrow(filter, principal), limit=limit, offset=offset)
        return [access.reveal(entity, principal) for entity in page], total

    async def listed(self, query: str, filter: Filter = Filter(), principal: Principal = Principal()) -> list[tuple[Entity, float]]:
        """Entries that hold a query as it is written, best first (A12)."""
        scored = await offload(lambda: [(one, listing.score(one, query)) for one in self._every(filter, principal)])
        return sorted((pair for pair in scored if pair[1]), key=lambda pair: -pair[1])

    def _every(self, filter: Filter, principal: Principal) -> Iterator[Entity]:
        """What is looked for in an entry is looked for in what this principal sees of it."""
        return (access.reveal(entity, principal) for entity in self._store.every_entity(access.narrow(filter, principal)))

    async def tags(self, filter: Filter = Filter(), principal: Principal = Principal()) -> dict[str, int]:
        """The tags of what this principal sees, each with how many entries have it, the commonest first."""
        counts = await offload(self._store.tags, access.narrow(filter, principal))
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    async def show(self, reference: str, principal: Principal = Principal()) -> Entity:
        """One entry by its id, or by a path or a name that only one entry has."""
        found = await offload(self._store.find, reference, access.everything_for(principal))
        if not found:
            hint = "`repertory list` shows what there is."
            if principal.is_admin and (held := await offload(self._store.find, reference, access.held_for(principal))):
                hint = f"{held[0].id} is held back ({held[0].held}): `repertory review` shows why, and lets it in."
            raise NotFound(f"There is no entry {reference!r}. {hint}")
        if len(found) > 1:
            raise InvalidRequest(f"{reference!r} may be any of {', '.join(entity.id for entity in found[:8])}. Name one by its id.")
        return access.reveal(found[0], principal)

    async def usable(self, ids: Sequence[str], principal: Principal = Principal()) -> dict[str, Entity]:
        """Those of these entries that this principal may call now, as they are now."""
        return await offload(self._store.entities, list(ids), access.callable_by(principal)) if ids else {}

    async def describe(self, reference: str, principal: Principal = Principal(), *, whole: bool = False) -> dict[str, Any]:
        """Everything needed to use an entry. A document is read where the reference points (`doc:path#3`), or from its beginning."""
        name, mark, section = reference.partition("#")
        at = int(section) if mark and section.isdecimal() else None
        entity = await self.show(name if at is not None else reference, principal)
        return described(entity, reading(entity, at, whole=whole))

    async def composed(self, reference: str, principal: Principal = Principal()) -> list[tuple[str, Entity, str]]:
        """The tools of a virtual server that this principal may call: the name each goes by there, the tool, its description there."""
        virtual = await self.show(reference, principal)
        tools = [(tool, f"{Kind.TOOL.prefix}:{tool['from']}") for tool in virtual.details.get("tools", ())]
        origins = await offload(self._store.entities, [origin for _, origin in tools], access.callable_by(principal))
        return [(tool["name"], origins[origin], tool.get("description", "")) for tool, origin in tools if origin in origins]

    async def edges(self, entity_id: str, principal: Principal = Principal()) -> list[Edge]:
        """How an entry is related to others, one hop out and in."""
        return await offload(self._store.neighbours, [entity_id], access.everything_for(principal))

    async def graph(
        self, reference: str | None = None, format: Format = Format.MERMAID, *, nodes: bool = False, principal: Principal = Principal()
    ) -> Drawing:
        """One entry and what is around it, or the whole catalog, as this principal sees it, drawn (E03)."""
        if reference:
            centre = (await self.show(reference, principal)).id
            pairs = () if nodes else tuple(PAIRS)
            near = await offload(self._store.edges_of, [centre], access.everything_for(principal), pairs)
            found, alone = [edge for edge in near if nodes or not is_node(edge.target)], [centre]
        else:
            seen = access.narrow(Filter(), principal)
            found, alone = await offload(self._store.all_edges, seen, nodes=nodes, limit=MAX_EDGES + 1), []
        shown = found[:MAX_EDGES]
        return Drawing(format, await offload(draw, shown, format, alone), len(shown), len(found) > len(shown))

    async def categories(self, query: str, principal: Principal = Principal()) -> list[Category]:
        """The best categories for a query, each with its best tools (E11)."""
        answer = await self.search(SearchRequest(query, kinds=frozenset({Kind.TOOL}), limit=MAX_LIMIT), principal)
        ranked = [(result.entity.id, result.score) for result in answer.results]
        edges = await offload(self._store.edges_of, [entity_id for entity_id, _ in ranked], access.everything_for(principal))
        return categories(ranked, edges)

    async def overview(self, principal: Principal = Principal()) -> tuple[dict[Kind, int], list[str]]:
        """How many entries of each kind this principal may find, and what the servers are about: every list of tools says it."""
        seen = access.narrow(Filter(), principal)
        return (await self._overviews.get((self._sync.snapshot.revision, seen), lambda: offload(self._look_over, seen))).value

    def _look_over(self, seen: Filter) -> tuple[dict[Kind, int], list[str]]:
        counts = {kind: self._store.count_entities(replace(seen, kinds=frozenset({kind}))) for kind in Kind}
        servers, _ = self._store.list_entities(replace(seen, kinds=frozenset({Kind.MCP_SERVER, Kind.VIRTUAL_SERVER})), limit=1000)
        return counts, domains(servers)
