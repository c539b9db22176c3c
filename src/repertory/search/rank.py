"""In which order do the candidates stand?

By score; an exact name first of all (C09). Ties go to the better lane score, then to the id, so that equal catalogs give equal answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from operator import attrgetter

from repertory.model import Boost, Candidate, Evidence
from repertory.search.fuse import Fused
from repertory.store import Reference


def rank(
    fused: Fused, references: Mapping[int, Reference], exact: frozenset[int], boosts: Mapping[int, tuple[Boost, ...]]
) -> list[Candidate]:
    """The candidates, best first. A document without a reference is dropped."""
    candidates = order(
        (
            candidate(number, about, tuple(evidence), boosts.get(number, ()))
            for number, evidence in fused.items()
            if (about := references.get(number)) is not None
        ),
        exact,
    )
    if not exact:
        return candidates
    best = max((candidate.score for candidate in candidates), default=0.0)
    return [one._replace(score=best) if one.number in exact else one for one in candidates]


def candidate(number: int, about: Reference, evidence: tuple[Evidence, ...], boosts: tuple[Boost, ...] = ()) -> Candidate:
    """A document with the score that its evidence and its boosts make."""
    score = sum(map(_contribution, evidence))
    if boosts:
        score *= math.prod(boost.factor for boost in boosts)
    return _candidate((number, about.document_id, about.entity_id, about.bucket.kind, score, evidence, boosts, None))


def order(candidates: Iterable[Candidate], exact: frozenset[int] = frozenset()) -> list[Candidate]:
    """Best first. Most scores are different: then they say it all."""
    ordered = sorted(candidates, key=_score, reverse=True)
    if exact or len(set(map(_score, ordered))) < len(ordered):
        ordered.sort(key=lambda c: (c.number not in exact, -c.score, -max(e.score for e in c.evidence), c.document_id))
    return ordered


_score, _contribution = attrgetter("score"), attrgetter("contribution")
_candidate: Callable[[tuple[object, ...]], Candidate] = partial(tuple.__new__, Candidate)  # quicker, as in `fuse`
