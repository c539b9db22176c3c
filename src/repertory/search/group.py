"""Which entity does a document speak for?

A file is found through its sections, but answered once: its best document speaks for it, and is the passage that is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from repertory import access
from repertory.model import Bucket, Candidate, Entity, Field, Filter, Kind, Result
from repertory.search.offers import matching_tools
from repertory.store import Store
from repertory.text.query import Query
from repertory.text.tokens import stem, words

EXCERPT = 280  # characters: two lines on a card


def best_per_entity(candidates: Sequence[Candidate]) -> list[Candidate]:
    """One candidate per entity, in the order of their best documents."""
    best: dict[str, Candidate] = {}
    for candidate in candidates:
        best.setdefault(candidate.entity_id, candidate)
    return list(best.values())


def present(
    store: Store, chosen: Sequence[Candidate], filter: Filter, query: Query, broken: frozenset[str], *, explain: bool
) -> tuple[Result, ...]:
    """Results with their entities as they are now: what left the catalog, or the caller's sight, since the lanes ran is left out."""
    entities = store.entities_of([candidate.number for candidate in chosen])
    passages = store.passages([candidate.document_id for candidate in chosen if candidate.kind is Kind.DOCUMENT])
    stale = _stale(store, entities, broken)
    fields = store.fields([candidate.number for candidate in chosen]) if explain else {}
    return tuple(
        Result(
            entity=entity,
            score=candidate.score,
            confidence=candidate.confidence,
            document_id=candidate.document_id,
            anchor=anchor,
            excerpt=_excerpt(anchor, text),
            evidence=candidate.evidence,
            boosts=candidate.boosts,
            matched=_matched(fields.get(candidate.number, {}), query) if explain else None,
            matching_tools=matching_tools(access.offered(entity, filter), query.words),
            stale=entity.id in stale,
        )
        for candidate in chosen
        if (entity := entities.get(candidate.entity_id)) is not None and filter.admits(Bucket.of(entity))
        for anchor, text in (passages.get(candidate.document_id, ("", entity.description)),)
    )


def browsed(store: Store, entities: Sequence[Entity], broken: frozenset[str]) -> tuple[Result, ...]:
    """Entries that nobody searched for (E08): no score says which is better."""
    stale = _stale(store, [entity.id for entity in entities], broken)
    return tuple(
        Result(entity, 0.0, None, entity.id, "", _excerpt("", entity.description), (), stale=entity.id in stale) for entity in entities
    )


def _stale(store: Store, entity_ids: Iterable[str], broken: frozenset[str]) -> set[str]:
    """The entities of broken sources; where none is broken, nobody is asked."""
    return {entity_id for entity_id, source in store.owners(list(entity_ids)).items() if source in broken} if broken else set()


def _matched(fields: Mapping[Field, str], query: Query) -> dict[str, tuple[str, ...]]:
    """F03: which words of the query each field holds, in any of their forms."""
    wanted = {stem(word): word for word in query.words}
    found = {field.value: {stem(word) for word in words(text, naming=True)} for field, text in fields.items()}
    return {field: held for field, terms in found.items() if (held := tuple(word for term, word in wanted.items() if term in terms))}


def _excerpt(anchor: str, text: str) -> str:
    body = text.split("\n", 1)[-1] if anchor and text.startswith(anchor) else text
    flat = " ".join(body.split())
    return flat if len(flat) <= EXCERPT else flat[: EXCERPT - 1].rsplit(" ", 1)[0] + "…"
