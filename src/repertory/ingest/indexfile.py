"""How does a catalog live in one JSON file?

C06: the tools with their texts and vectors, as other programs write them too. What came from such a file goes out again as it stood there;
vectors of the model in use are taken from the file instead of being made anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from repertory import access
from repertory.embedders.base import Vector
from repertory.model import PUBLIC, Entity, Kind, Principal, Status
from repertory.store import Store
from repertory.text.tokens import words

VERSION = "1.0"  # of the format
BATCH = 500  # vectors in one transaction
EVERYTHING = 2**31  # entries in a list: all of them

_NAMES = {"title": "title", "input_schema": "inputSchema", "output_schema": "outputSchema"}  # ours, and MCP's
_AROUND = frozenset({"server", "index"})  # in a tool's details, but not of the tool


def export(store: Store, model: str | None, dimensions: int) -> dict[str, Any]:
    """Every tool of the catalog, with its vector under this model. Where all came from one file, the file as it was."""
    every = replace(access.everything_for(Principal()), kinds=frozenset({Kind.TOOL}))
    tools, _ = store.list_entities(every, limit=EVERYTHING)
    header = _one_header(tools)
    if header is not None:
        return {**header, "tools": [_kept(entity.details["index"]) for entity in tools]}
    records = store.documents(model or "")
    found = {record.document.entity_id: record for record in records if record.document.bucket.kind is Kind.TOOL}
    entries = [_entry(entity, found[entity.id].document.text, found[entity.id].vector) for entity in tools]
    return {
        "version": VERSION,
        "createdAt": datetime.now(UTC).isoformat(timespec="seconds"),
        "embeddingProvider": model,
        "embeddingDimensions": dimensions,
        "tools": entries,
    }


def given(store: Store, source: str, model: str, dimensions: int) -> Iterator[dict[str, Vector]]:
    """The vectors that a source's file brought for texts that have none yet under this model, in batches, by the texts' digests."""
    batch: dict[str, Vector] = {}
    for digest, entity in store.pending_of(source, model):
        index = entity.details.get("index") or {}
        file, numbers = index.get("file") or {}, index.get("embedding")
        if file.get("embeddingProvider") != model or not numbers or len(numbers) != dimensions:
            continue
        vector = np.asarray(numbers, dtype=np.float32)
        length = float(np.linalg.norm(vector))
        if 0 < length < np.inf:
            batch[digest] = vector / np.float32(length)
        if len(batch) == BATCH:
            yield batch
            batch = {}
    if batch:
        yield batch


def _one_header(tools: list[Entity]) -> Mapping[str, Any] | None:
    """What stands above the tools, if all of them are from the same file."""
    headers = [(entity.details.get("index") or {}).get("file") for entity in tools]
    return headers[0] if headers and headers[0] is not None and all(header == headers[0] for header in headers) else None


def _kept(index: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in index.items() if key != "file"}


def _entry(entity: Entity, text: str, vector: Vector | None) -> dict[str, Any]:
    embedding = None if vector is None else vector.tolist()
    index = entity.details.get("index")
    if index:
        return {**_kept(index), "embedding": embedding}  # another model's numbers mean nothing under this header
    return {
        "tool": _tool(entity),
        "searchableText": text,
        "tokens": words(text),
        "embedding": embedding,
        "serverName": entity.path.removesuffix(entity.name).rstrip("/") or entity.details.get("server"),
    }


def _tool(entity: Entity) -> dict[str, Any]:
    """A tool as MCP writes it, and beside that what only we know of it."""
    tool: dict[str, Any] = {"name": entity.name, "description": entity.description}
    tool |= {_NAMES.get(key, key): value for key, value in entity.details.items() if key not in _AROUND}
    ours = {"tags": list(entity.tags), "metadata": dict(entity.metadata)}
    tool |= {key: value for key, value in ours.items() if value}
    if entity.status is not Status.ACTIVE:
        tool["status"] = entity.status.value
    if not entity.enabled:
        tool["enabled"] = False
    if entity.audience != {PUBLIC}:
        tool["audience"] = sorted(entity.audience)
    if entity.scopes:
        tool["scopes"] = sorted(entity.scopes)
    return tool
