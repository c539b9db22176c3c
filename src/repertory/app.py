"""How is everything opened, and closed again?

The composition root: from settings to a working `Repertory`. Surfaces translate to its methods and back; nothing else builds parts.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Hashable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from repertory import access
from repertory import settings as settings_module
from repertory.cache import TimedCache
from repertory.embedders.base import Embedder
from repertory.embedders.choose import make_embedder
from repertory.errors import InvalidRequest, NotFound
from repertory.gateway.call import Gateway
from repertory.gateway.facade import described, domains, reading
from repertory.gateway.upstreams import Report
from repertory.graph.derive import PAIRS, is_node
from repertory.graph.draw import MAX_EDGES, Drawing, Format, draw
from repertory.indexes.edge import EdgeIndex
from repertory.indexes.sync import Sync
from repertory.ingest import indexfile
from repertory.ingest.intake import Intake
from repertory.model import Edge, Entity, Filter, Kind, Principal, SearchRequest, SearchResponse
from repertory.model.request import MAX_LIMIT
from repertory.offload import offload
from repertory.owner import Ownership
from repertory.remote.base import Reranker, Rewriter
from repertory.remote.choose import make_reranker, make_rewriter
from repertory.search.categories import Category, categories
from repertory.search.engine import Engine
from repertory.search.expand import Expansion
from repertory.search.judge import Judge
from repertory.search.plan import Defaults
from repertory.search.spelling import Vocabulary
from repertory.settings import Settings
from repertory.store import Store
from repertory.text.classify import Classification, classify
from repertory.text.query import understand

ANSWER_TTL = 300.0  # seconds (E09)


@contextlib.asynccontextmanager
async def open(catalog: Path | str | None = None, **arguments: Any) -> AsyncIterator[Repertory]:  # noqa: A001 - the public name
    """Open a catalog: `async with repertory.open("my-catalog") as rep: await rep.search("...")`. Arguments are settings by name."""
    settings, _ = settings_module.load({"catalog": catalog, **arguments})
    async with open_with(settings) as repertory:
        yield repertory


@contextlib.asynccontextmanager
async def open_with(settings: Settings) -> AsyncIterator[Repertory]:
    """Open the catalog that the settings name; everything is closed again on the way out."""
    async with contextlib.AsyncExitStack() as stack:
        ownership = await offload(Ownership, settings.catalog)
        stack.callback(ownership.release)
        store = await offload(Store.at, settings.catalog)
        stack.callback(store.close)
        embedder = make_embedder(settings)
        if embedder is not None:
            stack.push_async_callback(embedder.close)
        index = EdgeIndex(settings.catalog / "index", ef_search=settings.ef_search)
        stack.callback(index.close)
        model, dimensions = (embedder.model, embedder.dimensions) if embedder else (None, 0)
        sync = await offload(Sync, store, index, model=model, dimensions=dimensions)
        await offload(sync.open)
        stack.callback(sync.close)
        rewriter, reranker = make_rewriter(settings), make_reranker(settings)
        for remote in (rewriter, reranker):
            if remote is not None:
                stack.push_async_callback(remote.close)
        repertory = Repertory(settings, ownership, store, index, sync, embedder, rewriter, reranker)
        stack.push_async_callback(repertory.quiet)
        stack.push_async_callback(repertory.gateway.close)
        yield repertory


class Repertory(Intake):
    """An open catalog: what `Intake` writes, searched and shown."""

    def __init__(
        self,
        settings: Settings,
        ownership: Ownership,
        store: Store,
        index: EdgeIndex,
        sync: Sync,
        embedder: Embedder | None,
        rewriter: Rewriter | None = None,
        reranker: Reranker | None = None,
    ) -> None:
        super().__init__(settings, store, sync, embedder)
        self.ownership = ownership
        self.gateway = Gateway(store, settings.catalog / "logs", settings.call_timeout)
        defaults = Defaults(settings.preset, settings.strategy, settings.fusion, settings.lane_weights, settings.min_confidence)
        expansion = Expansion(store, embedder.model) if settings.expansion and embedder else None
        answers: TimedCache[Hashable, SearchResponse] = TimedCache(size=settings.answer_cache, ttl=ANSWER_TTL)
        self._engine = Engine(
            store,
            index,
            sync,
            embedder,
            Judge(index, embedder.model if embedder else None),
            Vocabulary(store),
            expansion,
            answers,
            rewriter,
            reranker,
            defaults,
            settings.log_queries,
        )

    async def search(self, request: SearchRequest | str, principal: Principal = Principal()) -> SearchResponse:
        """Find what answers a request."""
        asked = SearchRequest(request) if isinstance(request, str) else request
        return await self._engine.search(asked, principal)

    async def categories(self, query: str, principal: Principal = Principal()) -> list[Category]:
        """The best categories for a query, each with its best tools (E11)."""
        answer = await self.search(SearchRequest(query, kinds=frozenset({Kind.TOOL}), limit=MAX_LIMIT), principal)
        ranked = [(result.entity.id, result.score) for result in answer.results]
        edges = await offload(self._store.edges_of, [entity_id for entity_id, _ in ranked], access.everything_for(principal))
        return categories(ranked, edges)

    def classify(self, query: str) -> Classification:
        """What kind of query this is, and how one would search for it (D09)."""
        return classify(query, understand(query, self._sync.snapshot.short_names).anchors)

    async def export(self) -> dict[str, Any]:
        """Every tool with its text and vector, as one JSON value (C06)."""
        model, dimensions = (self._embedder.model, self._embedder.dimensions) if self._embedder else (None, 0)
        return await offload(indexfile.export, self._store, model, dimensions)

    async def entries(
        self, filter: Filter = Filter(), principal: Principal = Principal(), *, limit: int = 50, offset: int = 0
    ) -> tuple[list[Entity], int]:
        """Entries in registration order, and how many there are in all."""
        found, total = await offload(self._store.list_entities, access.narrow(filter, principal), limit=limit, offset=offset)
        return [access.reveal(entity, principal) for entity in found], total

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

    async def call(
        self,
        reference: str,
        arguments: Mapping[str, Any] = MappingProxyType({}),
        principal: Principal = Principal(),
        report: Report | None = None,
        extra: Mapping[str, Any] = MappingProxyType({}),
    ) -> dict[str, Any]:
        """Use a tool: what its server answers, unchanged."""
        return await self.gateway.call(reference, arguments, principal, report, extra)

    async def usable(self, ids: Sequence[str], principal: Principal = Principal()) -> dict[str, Entity]:
        """Those of these entries that this principal may call now, as they are now."""
        return await offload(self._store.entities, list(ids), access.callable_by(principal))

    async def describe(self, reference: str, principal: Principal = Principal(), *, whole: bool = False) -> dict[str, Any]:
        """Everything needed to use an entry. A document is read where the reference points (`doc:path#3`), or from its beginning."""
        name, mark, section = reference.partition("#")
        at = int(section) if mark and section.isdecimal() else None
        entity = await self.show(name if at is not None else reference, principal)
        return described(entity, reading(entity, at, whole=whole))

    async def overview(self, principal: Principal = Principal()) -> tuple[dict[Kind, int], list[str]]:
        """How many entries of each kind this principal may find, and what the servers are about."""
        seen = access.narrow(Filter(), principal)
        counts = {kind: await offload(self._store.count_entities, replace(seen, kinds=frozenset({kind}))) for kind in Kind}
        servers, _ = await self.entries(Filter(kinds=frozenset({Kind.MCP_SERVER, Kind.VIRTUAL_SERVER})), principal, limit=1000)
        return counts, domains(servers)

    def status(self) -> dict[str, Any]:
        """What the catalog holds, in numbers."""
        snapshot = self._sync.snapshot
        kinds: dict[str, int] = {}
        for bucket, count in snapshot.counts.items():
            kinds[bucket.kind.value] = kinds.get(bucket.kind.value, 0) + count
        return {
            "revision": snapshot.revision,
            "documents": sum(kinds.values()),
            "by_kind": kinds,
            "held": sum(count for bucket, count in snapshot.counts.items() if bucket.held),
            "model": self._embedder.model if self._embedder else None,
        }
