"""Does a model that reads query and text together change the order?

B07. It has a say, never the last word: cross-encoders trained on passages help a little on documents and hurt on tools, so their score is
blended with the one that the candidate came with.
"""

from __future__ import annotations

from collections.abc import Sequence

from repertory.errors import RemoteModelError
from repertory.model import Candidate, Diagnostic, Evidence
from repertory.remote.base import Reranker

LANE = "rerank"
HEAD = 10  # B07: how many are read again
SAY = 0.5  # of the new score; as much as all lanes together


async def rerank(
    reranker: Reranker | None,
    query: str,
    ranked: Sequence[Candidate],
    texts: Sequence[str],
    exact: frozenset[int] = frozenset(),
) -> tuple[list[Candidate], Diagnostic | None]:
    """The ranking with its head in a new order. The head are the candidates that have a text; the tail stays as it is, below them."""
    head, tail = ranked[: len(texts)], ranked[len(texts) :]
    if reranker is None or len(head) < 2:
        return list(ranked), None
    try:
        scores = await reranker.rerank(query, texts)
    except RemoteModelError as error:
        return list(ranked), Diagnostic("rerank_failed", f"The order is that of the lanes: {error}")
    return [*blend(head, scores, exact), *tail], None


def blend(head: Sequence[Candidate], scores: Sequence[float], exact: frozenset[int] = frozenset()) -> list[Candidate]:
    """The head by half its old, half its new score; what has the query for its name stays first (C09).

    Scores stay between the head's worst and best, so nothing falls below the tail.
    """
    low, high = min(candidate.score for candidate in head), max(candidate.score for candidate in head)
    places = {index: place for place, index in enumerate(sorted(range(len(head)), key=lambda index: -scores[index]), 1)}
    blended = []
    for index, (candidate, score) in enumerate(zip(head, scores, strict=True)):
        relative = (candidate.score - low) / (high - low) if high > low else 1.0
        share = 1.0 if candidate.number in exact else (1 - SAY) * relative + SAY * score
        new = min(high, low + (high - low) * share)  # `min`: rounding must not lift it above the best
        evidence = Evidence(LANE, places[index], score, new - candidate.score)
        blended.append((candidate.number in exact, share, candidate._replace(score=new, evidence=(*candidate.evidence, evidence))))
    blended.sort(key=lambda one: one[:2], reverse=True)  # stable: ties keep their order
    return [candidate for *_, candidate in blended]
