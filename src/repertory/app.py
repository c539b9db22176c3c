"""How is everything opened, and closed again?

The composition root: from settings to a working `Repertory`. Surfaces translate to its methods and back; nothing else builds parts.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import shutil
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

from repertory import access
from repertory import settings as settings_module
from repertory.access import Callers, Denial, Denials
from repertory.access.tokens import Issuer
from repertory.bundle import CATALOG, Manifest, Order, begin, finish
from repertory.chat.answer import Answer, Done
from repertory.chat.answer import Event as ChatEvent
from repertory.chat.ask import Chat
from repertory.chat.request import ChatRequest
from repertory.embedders.base import Embedder
from repertory.embedders.choose import make_embedder
from repertory.errors import Conflict, IndexUnavailable
from repertory.gateway.call import Gateway
from repertory.gateway.credentials import Vault
from repertory.gateway.history import History, Who
from repertory.gateway.identity import Identities
from repertory.gateway.session import Report
from repertory.indexes.base import Index
from repertory.indexes.choose import make_index
from repertory.indexes.sync import Sync
from repertory.ingest import change, indexfile
from repertory.ingest.change import Change
from repertory.ingest.register import Registry
from repertory.model import Kind, Principal, SearchRequest, SearchResponse
from repertory.offload import offload
from repertory.owner import Ownership
from repertory.remote.base import ChatModel, Reranker, Rewriter
from repertory.remote.choose import make_chat_model, make_reranker, make_rewriter
from repertory.search.usage import terms_of
from repertory.search.withheld import OTHER_KIND, withheld
from repertory.settings import Settings
from repertory.shelf import Shelf
from repertory.store import Call, Event, Store, copy_store, open_store
from repertory.text.classify import Classification, classify
from repertory.text.query import understand

_log = logging.getLogger(__name__)

TIDY = 60.0  # seconds between two times of tidying up


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
        store = await offload(open_store, settings)
        stack.callback(store.close)
        embedder = await offload(make_embedder, settings)
        rewriter, reranker, chat_model = make_rewriter(settings), make_reranker(settings), make_chat_model(settings)
        for part in (embedder, rewriter, reranker, chat_model):
            if part is not None:
                stack.push_async_callback(part.close)
        under_way = await offload(change.under_way, store, embedder, settings)
        if under_way is not None:
            stack.push_async_callback(under_way.old.close)
        known = await offload(change.recall, store)
        index = await offload(make_index, settings, store, known.folder)
        stack.callback(index.close)
        answering = under_way.old if under_way else embedder
        model, dimensions = (answering.model, answering.dimensions) if answering else (None, 0)
        sync = await offload(Sync, store, index, model=model, dimensions=dimensions)
        repertory = Repertory(settings, ownership, store, index, sync, embedder, under_way, rewriter, reranker, chat_model)
        stack.push_async_callback(repertory.callers.close)
        stack.push_async_callback(repertory.close)
        stack.push_async_callback(repertory.gateway.close)
        settled = embedder.model if under_way is None and embedder else None
        await offload(repertory.begin, known, settled)
        stack.enter_context(store.hearing(repertory.hear))
        yield repertory


class Repertory(Shelf, Registry):
    """An open catalog: what `Intake` and `Registry` write, `Answers` finds and `Shelf` shows."""

    def __init__(
        self,
        settings: Settings,
        ownership: Ownership,
        store: Store,
        index: Index,
        sync: Sync,
        embedder: Embedder | None,
        under_way: Change | None = None,
        rewriter: Rewriter | None = None,
        reranker: Reranker | None = None,
        chat_model: ChatModel | None = None,
    ) -> None:
        vault = Vault(settings.catalog, settings.credentials)
        identities = Identities(vault)
        super().__init__(settings, store, index, sync, embedder, under_way, rewriter, reranker, identities.of(Principal().name))
        self.ownership = ownership
        self.callers = Callers(store, Issuer.of(settings), settings.access)
        self._denials = Denials(store)
        self.history = History(store, self._usage, days=settings.calls_days)
        logs, within = settings.catalog / "logs", settings.call_timeout
        self.gateway = Gateway(store, logs, within, vault, identities, self.history, lambda: sync.snapshot.revision)
        self._chat = Chat(self.search, self.classify, chat_model, settings.chat_context)

    def hear(self) -> None:
        """Another process that shares the catalog may have written: what it wrote is found here, too, and a key that it ended is none."""
        self._turns.follow()
        self.callers.refresh()

    async def search(
        self, request: SearchRequest | str, principal: Principal = Principal(), session: str = "", *, noted: bool = False
    ) -> SearchResponse:
        """Find what answers a request. `session` tells callers of one name apart; `noted` searches are in the history, in numbers."""
        asked = SearchRequest(request) if isinstance(request, str) else request
        answer = await super().search(asked, principal)
        if self._usage is not None:  # F07
            words = understand(answer.rewritten or asked.query, self._sync.snapshot.short_names).words
            corrected = answer.corrected or {}
            terms = terms_of(corrected.get(word, word) for word in words)
            shown = {one.entity.id for one in answer.results} | {one.entity.id for one in answer.tools}
            self.history.searched(Who(principal.name, session), terms, shown)
        if noted:
            kept_out = withheld(self._sync.snapshot.counts, access.filter_for(asked, principal))
            hidden = sum(count for reason, count in kept_out.items() if reason != OTHER_KIND)
            self.history.note(principal.name, "search", answer.took_ms, "ok", len(answer.results), hidden)
        return answer

    def ask(self, request: ChatRequest | str, principal: Principal = Principal()) -> AsyncGenerator[ChatEvent, None]:
        """Answer a question from the catalog while it is being answered: passages, text, citations, and `Done` last (D07)."""
        return self._chat.ask(ChatRequest(request) if isinstance(request, str) else request, principal)

    async def answer(self, request: ChatRequest | str, principal: Principal = Principal()) -> Answer:
        """The same, when it is done."""
        async with contextlib.aclosing(self.ask(request, principal)) as events:
            return next(event.answer for event in [event async for event in events] if isinstance(event, Done))

    def classify(self, query: str) -> Classification:
        """What kind of query this is, and how one would search for it (D09)."""
        return classify(query, understand(query, self._sync.snapshot.short_names).anchors)

    async def export(self) -> dict[str, Any]:
        """Every tool with its text and vector, as one JSON value (C06)."""
        embedder = self._engine.embedder  # whose vectors are complete
        model, dimensions = (embedder.model, embedder.dimensions) if embedder else (None, 0)
        return await offload(indexfile.export, self._store, model, dimensions)

    async def bundle(self, directory: Path | str, *, with_keys: bool = False, wheels: bool = True, by: Principal = Principal()) -> Manifest:
        """Write the catalog, and all that answers for it, into a directory that can be served anywhere (D08).

        Searches go on meanwhile; writers wait only while the catalog is copied. API keys and the audit log stay unless they are wanted.
        """
        if self._change is not None:
            raise Conflict(f"{self._change.note().message} Export when the change of models is done.")
        target = await offload(lambda: Path(directory).expanduser().absolute())
        part = await offload(begin, target)
        try:
            order = await self._write(self._copy_catalog, part / CATALOG, with_keys, wheels)
            manifest = await offload(finish, part, target, order)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise
        await self.record(by, "catalog.export", str(target), {"keys": with_keys})
        return manifest

    def _copy_catalog(self, target: Path, with_keys: bool, wheels: bool) -> Order:
        self._sync.catch_up()
        if self._sync.behind:
            raise IndexUnavailable(f"{self._sync.behind} Export when it answers.")
        self._sync.checkpoint()
        copy_store(self._store, target, with_keys=with_keys)
        self._engine.index.copy(target / change.recall(self._store).folder)
        every = access.everything_for(Principal())
        counts = {kind.prefix: self._store.count_entities(replace(every, kinds=frozenset({kind}))) for kind in Kind}
        return Order(
            settings=self.settings,
            revision=self._sync.snapshot.revision,
            entries={kind: count for kind, count in counts.items() if count},
            documents=sum(self._sync.snapshot.counts.values()),
            model=self._sync.model or None,
            live=[source.name for source in self._store.sources() if source.live],
            required=self.callers.policy == "required",
            keys=with_keys,
            wheels=wheels,
        )

    async def audit(self, *, limit: int = 100, before: int | None = None, who: str | None = None, target: str | None = None) -> list[Event]:
        """Who did what, the newest first."""
        return await offload(self._store.events, limit=limit, before=before, who=who, target=target)

    async def calls(self, *, limit: int = 100, before: int | None = None, who: str | None = None, tool: str | None = None) -> list[Call]:
        """Who used what, the newest first."""
        await offload(self.history.flush)
        return await offload(self._store.calls, limit=limit, before=before, who=who, tool=tool)

    async def record(self, by: Principal, action: str, target: str, detail: Mapping[str, Any] | None = None) -> None:
        """Note what somebody did; where it is a change of entries, `Changes.events` notes it in the same transaction."""
        await offload(self._store.record, by.name, action, target, detail)

    async def denied(self, who: str, action: str, target: str) -> None:
        """Note an attempt that was denied."""
        await offload(self._denials.note, Denial(who, action, target))

    async def tidy(self) -> None:
        """Write what was only counted so far, and forget what is older than the settings keep."""
        await self.callers.note_use()
        await offload(self._denials.flush)
        await offload(self.history.flush)
        await offload(self.history.forget)
        await offload(self._store.forget_events, datetime.now(UTC) - timedelta(days=self.settings.audit_days))

    async def close(self) -> None:
        """Write what was only noted so far, and let go of everything."""
        await offload(self.history.flush)
        await super().close()

    async def keep_tidy(self) -> None:
        """Tidy up again and again: a serving process runs this behind the requests."""
        while True:
            await asyncio.sleep(TIDY)
            try:
                await self.tidy()
            except Exception:
                _log.exception("Tidying up failed; it is tried again")

    async def freshness(self) -> dict[str, Any]:
        """How far the index follows the truth, and what is still to be done."""
        return {
            **self.status(),
            "revision": await offload(self._store.revision),
            "indexed_revision": self._sync.revision,
            "waiting": await self.waiting(),
            "by_status": await offload(self._store.statuses),
            "sources_broken": len(self._sync.snapshot.broken),
        }

    async def unready(self) -> list[str]:
        """Why requests cannot be answered as they should be; empty where they can."""
        try:
            revision = await offload(self._store.revision)
        except Exception as error:  # whatever the database says: that it does not answer is the news
            return [f"the database does not answer ({type(error).__name__})"]
        if self._sync.behind:
            return [self._sync.behind]
        indexed = self._sync.revision
        behind = indexed < revision and not self._writing.locked() and not self._store.shared  # else another one may be about it
        return [f"the index is at revision {indexed} of {revision}"] if behind else []

    async def call(
        self,
        reference: str,
        arguments: Mapping[str, Any] = MappingProxyType({}),
        principal: Principal = Principal(),
        report: Report | None = None,
        extra: Mapping[str, Any] = MappingProxyType({}),
        session: str = "",
    ) -> dict[str, Any]:
        """Use a tool: what its server answers, unchanged."""
        return await self.gateway.call(reference, arguments, principal, report, extra, session)

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
            "model": self._engine.embedder.model if self._engine.embedder else None,
            "changing": self._change.as_json() if self._change else None,
        }
