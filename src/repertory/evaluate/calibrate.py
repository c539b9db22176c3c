"""How is confidence learned, and how far can it be trusted?

Every labelled set is asked its own questions and, so that abstaining can be learned too, questions that no catalog serves. The real
pipeline answers; what it says of its candidates becomes `Signs`. Two logistic regressions then learn from them. Every set counts the same,
and in every set the off-topic questions together as much as its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from repertory.app import Repertory, open_with
from repertory.embedders.choose import make_embedder
from repertory.errors import SettingsError, SourceError
from repertory.evaluate.measure import Progress
from repertory.evaluate.sets import LabelledQuery, LabelledSet
from repertory.indexes.base import BM25, VECTOR
from repertory.model import Fusion, Result, SearchRequest, SearchResponse, Strategy
from repertory.model.request import MAX_LIMIT, MAX_QUERY_LENGTH
from repertory.search.confidence import FIRST, LEAST_SHARE, Answered, Calibration, Chosen, Signs, floor, read
from repertory.settings import Settings
from repertory.text.tokens import compact

PROBES = 32  # enough for a steady mean: 16 and 48 lead to the same figures within a point
BINS = 10
QUERIES = 300  # of a set to learn from, evenly spread: more teach little more
EVERY = 1_000_000  # of a set to judge by: all
_RIDGE = 1e-6  # only so that a set without a single error has a solution
_STEPS = 60

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class OffTopic:
    """Questions that nothing serves: to find noise floors with, to learn from, and to judge by."""

    probes: tuple[str, ...]
    learn: tuple[str, ...]
    check: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the signs of its first ten results, and which of them are relevant. Off-topic: none can be."""

    off_topic: bool
    signs: tuple[Signs, ...]
    relevant: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Sample:
    """What one set was asked."""

    set: str
    model: str  # the embedding model that answered
    asked: tuple[Asked, ...]


@dataclass(frozen=True, slots=True)
class Abstention:
    """How often the answers of a set abstain."""

    set: str
    answerable: int
    lost: float  # of the answerable: the share that abstains
    off_topic: int
    refused: float  # of the off-topic: the share that abstains


def off_topic(file: Path) -> OffTopic:
    """Read {"query", "split": "learn" or "check"} lines; the probes are spread over the learn split and no longer part of it."""
    try:
        rows = [json.loads(line) for line in file.read_text("utf-8").splitlines() if line.strip()]
        learn, check = (tuple(str(row["query"]) for row in rows if row["split"] == split) for split in ("learn", "check"))
    except OSError as error:
        raise SourceError(f"{file} cannot be read: {error.strerror}.") from None
    except (ValueError, KeyError, TypeError):
        raise SourceError(f'{file}: every line must be {{"query": "...", "split": "learn" or "check"}}.') from None
    probes = learn[:: max(1, len(learn) // PROBES)][:PROBES]
    rest = tuple(query for query in learn if query not in probes)
    if not rest or not check:
        raise SourceError(f"{file} has too few questions: more than {PROBES} to learn from and some to check with are needed.")
    return OffTopic(probes, rest, check)


async def sample(
    labelled: LabelledSet, off: Sequence[str], probes: Sequence[str], most: int, cache: Path, settings: Settings, progress: Progress
) -> Sample:
    """Ask a set at most so many of its questions, evenly spread, and all of the off-topic ones."""
    answerable = [query for query in labelled.queries if query.grades]
    own = answerable[:: max(1, len(answerable) // most)]
    queries = [*own, *(LabelledQuery(text, text, {}, frozenset()) for text in off)]
    async with open_with(settings.model_copy(update={"catalog": cache / labelled.name})) as rep:
        if (model := rep.status()["model"]) is None:
            raise SettingsError("Confidence is learned from cosines, and no embedding model is configured.")
        await rep.put(labelled.name, labelled.entities, progress)
        noise = floor([_best((await _answer(rep, probe)).results, VECTOR) for probe in probes])
        asked = []
        for done, query in enumerate(queries, 1):
            asked.append(await _ask(rep, query, noise))
            progress("Asking", done, len(queries))
    return Sample(labelled.name, model, tuple(asked))


async def _ask(rep: Repertory, query: LabelledQuery, noise: float) -> Asked:
    response = await _answer(rep, query.text)
    kept = [result for result in response.results if result.entity.path not in query.exclude]
    signs = read(
        [result.score for result in kept],
        cosine=_best(kept, VECTOR),
        bm25=_best(kept, BM25),
        idf_total=response.idf,
        terms=response.terms,
        floor=noise,
        named=bool(kept) and compact(query.text) in {compact(kept[0].entity.name), compact(kept[0].entity.path)},
    )
    first = kept[:FIRST]
    return Asked(not query.grades, tuple(signs[:FIRST]), tuple(result.entity.path in query.grades for result in first))


async def _answer(rep: Repertory, text: str) -> SearchResponse:
    """Whatever there is, however unlikely."""
    return await rep.search(
        SearchRequest(text[:MAX_QUERY_LENGTH], strategy=Strategy.HYBRID, fusion=Fusion.ADAPTIVE, limit=MAX_LIMIT, min_confidence=0.0)
    )


def _best(results: Iterable[Result], lane: str) -> float:
    return max((evidence.score for result in results for evidence in result.evidence if evidence.lane == lane), default=0.0)


async def save_vectors(probes: Sequence[str], settings: Settings, file: Path) -> None:
    """The vectors of the probes, in the form of search/probes.npy: whoever uses the calibration need not embed them."""
    if (embedder := make_embedder(settings)) is None:
        raise SettingsError("There is no embedding model to embed the probes with.")
    vectors = [(await embedder.embed_query(probe)).vectors[0] for probe in probes]
    await embedder.close()
    np.save(file, np.array(vectors, dtype=np.float16))


def learn(samples: Sequence[Sample], threshold: float) -> Calibration:
    """The calibration that makes what was seen most likely."""
    rows: list[tuple[list[float], float, float]] = []  # signs, truth, weight
    for one in samples:
        found = [asked for asked in one.asked if asked.signs and not asked.signs[0].named]
        for group in ([asked for asked in found if asked.off_topic], [asked for asked in found if not asked.off_topic]):
            rows += [(_answered_row(asked.signs[0]), float(not asked.off_topic), 1 / len(group)) for asked in group]
    answered = Answered(*_logistic(rows))
    rows = []
    for one in samples:
        pairs = [pair for asked in one.asked if not asked.off_topic for pair in zip(asked.signs, asked.relevant, strict=True)]
        rows += [([1.0, float(np.log(max(signs.share, LEAST_SHARE)))], float(truth), 1 / len(pairs)) for signs, truth in pairs]
    return Calibration(answered, Chosen(*_logistic(rows)), threshold, samples[0].model)


def _answered_row(signs: Signs) -> list[float]:
    return [1.0, signs.cosine, signs.floor, signs.coverage, float(np.log1p(signs.terms))]


def _logistic(rows: Sequence[tuple[list[float], float, float]]) -> list[float]:
    """Weighted logistic regression by Newton's steps, halved where a whole one would climb."""
    signs, truth, weight = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    weight = weight / weight.sum()
    ridge = _RIDGE * np.eye(signs.shape[1])

    def loss(at: Floats) -> float:
        odds = signs @ at
        return float(weight @ (np.logaddexp(0, odds) - truth * odds) + at @ ridge @ at / 2)

    found = np.zeros(signs.shape[1])
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-np.clip(signs @ found, -50, 50)))
        slope = signs.T @ (weight * (chance - truth)) + ridge @ found
        bend = (signs * (weight * chance * (1 - chance))[:, None]).T @ signs + ridge
        step = np.linalg.solve(bend, slope)
        while loss(found - step) > loss(found) and np.abs(step).max() > 1e-9:
            step = step / 2
        found = found - step
    return [float(value) for value in found]


def held_out(samples: Sequence[Sample], threshold: float) -> tuple[float, list[Abstention]]:
    """Cross-validation by set: each is judged by what the others taught. The Brier score, and the abstentions."""
    scores, rates = [], []
    for one in samples:
        calibration = learn([other for other in samples if other is not one], threshold)
        scores.append(brier([one], calibration))
        rates.append(abstention(one, calibration))
    return float(np.mean(scores)), rates


def brier(samples: Sequence[Sample], calibration: Calibration) -> float:
    """The mean over the sets of (confidence - truth)², over first-ten results of all questions."""
    return float(np.mean([np.mean((chances - truths) ** 2) for chances, truths in (_pairs([one], calibration) for one in samples)]))


def reliability(samples: Sequence[Sample], calibration: Calibration) -> list[tuple[float, float, int]]:
    """For each tenth of the scale that has results: mean confidence, share of relevant ones, how many."""
    chances, truths = _pairs(samples, calibration)
    places = np.minimum((chances * BINS).astype(int), BINS - 1)
    bins = [places == number for number in range(BINS)]
    return [(float(chances[inside].mean()), float(truths[inside].mean()), int(inside.sum())) for inside in bins if inside.any()]


def _pairs(samples: Sequence[Sample], calibration: Calibration) -> tuple[Floats, Floats]:
    pairs = [pair for one in samples for asked in one.asked for pair in zip(asked.signs, asked.relevant, strict=True)]
    return np.array([calibration.confidence(signs) for signs, _ in pairs]), np.array([float(truth) for _, truth in pairs])


def abstention(one: Sample, calibration: Calibration) -> Abstention:
    """How often a set's answers abstain. No result at all is also none."""
    silent = {
        off: [not asked.signs or calibration.abstains(asked.signs[0]) for asked in one.asked if asked.off_topic is off]
        for off in (False, True)
    }
    return Abstention(one.set, len(silent[False]), _share(silent[False]), len(silent[True]), _share(silent[True]))


def overall(rates: Sequence[Abstention]) -> float:
    """Of all answerable questions together: the share that abstains."""
    return sum(rate.lost * rate.answerable for rate in rates) / max(1, sum(rate.answerable for rate in rates))


def _share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags) if flags else 0.0
