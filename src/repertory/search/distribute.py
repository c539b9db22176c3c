"""How does every kind get its share of an answer?

A08: no kind takes more than 60 % of the places while another kind waits. Who was passed over fills what is left.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from repertory.model import Candidate

SHARE = 0.6


def distribute(ranked: Sequence[Candidate], limit: int) -> list[Candidate]:
    """At most `limit` of a ranking, best first."""
    most = math.ceil(SHARE * limit)
    waiting = Counter(candidate.kind for candidate in ranked)
    taken: Counter[str] = Counter()
    chosen: list[int] = []
    passed: list[int] = []
    for place, candidate in enumerate(ranked):
        waiting[candidate.kind] -= 1
        others = any(count for kind, count in waiting.items() if kind is not candidate.kind)
        if taken[candidate.kind] >= most and others:
            passed.append(place)
        elif len(chosen) < limit:
            taken[candidate.kind] += 1
            chosen.append(place)
    chosen += passed[: limit - len(chosen)]
    return [ranked[place] for place in sorted(chosen)]
