"""In which order do the candidates stand?

By score; an exact name first of all (C09). Ties go to the better lane score, then to the id, so that equal catalogs give equal answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from repertory.model import Candidate
from repertory.search.fuse import Fused
from repertory.store import Reference


def rank(fused: Fused, references: Mapping[int, Reference], exact: frozenset[int]) -> list[Candidate]:
    """The candidates, best first. A document without a reference is dropped."""
    candidates = [
        Candidate(number, about.document_id, about.entity_id, about.bucket.kind, sum(e.contribution for e in evidence), tuple(evidence))
        for number, evidence in fused.items()
        if (about := references.get(number)) is not None
    ]
    candidates.sort(key=lambda c: (c.number not in exact, -c.score, -max(e.score for e in c.evidence), c.document_id))
    best = max((candidate.score for candidate in candidates), default=0.0)
    return [replace(c, score=best) if c.number in exact else c for c in candidates]
