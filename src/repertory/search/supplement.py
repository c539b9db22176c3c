"""What goes with the results, and what comes after them?

E02: the graph adds to an answer and never changes its order. It speaks only of what is inside the vector window, however large the catalog
is: what no vector brought near is no companion.
"""

from __future__ import annotations

from collections.abc import Sequence

from repertory.graph.follow import Relation, next_steps, related
from repertory.model import Candidate, Filter, Result, Suggestion
from repertory.store import Store

SEEDS = 3  # results that things are related to: what goes with the tenth is far from the question
MOST = 5  # of each: a glance, not a second list


def supplement(
    results: Sequence[Result], ranked: Sequence[Candidate], store: Store, filter: Filter, window: int
) -> tuple[tuple[Suggestion, ...], tuple[Suggestion, ...]]:
    """What is related to the results, and the next steps after them."""
    shown = [result.entity.id for result in results]
    seeds, others = shown[:SEEDS], set(shown[SEEDS:])
    inside = [candidate.entity_id for candidate in ranked[:window] if candidate.entity_id not in others]
    edges = store.edges_of(inside, filter)
    following = next_steps(seeds, inside, edges, MOST)
    steps = {step.entity_id for step in following}
    beside = [one for one in related(seeds, inside, edges, 2 * MOST) if one.entity_id not in steps][:MOST]
    entities = store.entities([one.entity_id for one in (*beside, *following)], filter)

    def suggestions(relations: Sequence[Relation]) -> tuple[Suggestion, ...]:
        return tuple(Suggestion(entities[one.entity_id], one.reason) for one in relations if one.entity_id in entities)

    return suggestions(beside), suggestions(following)
