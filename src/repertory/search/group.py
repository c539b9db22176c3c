"""Which entity does a document speak for?

A file is found through its sections, but answered once: its best document speaks for it, and is the passage that is shown.
"""

from __future__ import annotations

from collections.abc import Sequence

from repertory.model import Bucket, Candidate, Entity, Filter, Kind, Result
from repertory.store import Store

EXCERPT = 280  # characters: two lines on a card


def best_per_entity(candidates: Sequence[Candidate]) -> list[Candidate]:
    """One candidate per entity, in the order of their best documents."""
    best: dict[str, Candidate] = {}
    for candidate in candidates:
        best.setdefault(candidate.entity_id, candidate)
    return list(best.values())


def present(store: Store, chosen: Sequence[Candidate], filter: Filter) -> tuple[Result, ...]:
    """Results with their entities as they are now: what left the catalog, or the caller's sight, since the lanes ran is left out."""
    entities = store.entities_of([candidate.number for candidate in chosen])
    passages = store.passages([candidate.document_id for candidate in chosen if candidate.kind is Kind.DOCUMENT])
    return tuple(
        _result(candidate, entity, passages.get(candidate.document_id))
        for candidate in chosen
        if (entity := entities.get(candidate.entity_id)) is not None and filter.admits(Bucket.of(entity))
    )


def _result(candidate: Candidate, entity: Entity, passage: tuple[str, str] | None) -> Result:
    anchor, text = passage or ("", entity.description)
    body = text.split("\n", 1)[-1] if anchor and text.startswith(anchor) else text
    return Result(entity, candidate.score, candidate.document_id, anchor, _shorten(body), candidate.evidence)


def _shorten(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= EXCERPT else flat[: EXCERPT - 1].rsplit(" ", 1)[0] + "…"
