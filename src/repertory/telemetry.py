"""What can be watched while it runs (E12)?

Spans and durations of searches, indexing runs and calls, and the tokens that embedding took, through OpenTelemetry's API: whoever runs
Repertory with its SDK (`opentelemetry-instrument repertory serve`) sees them, everybody else pays nothing. Labels are words of a closed
set: never a query, a name, an address or an error's text.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from repertory.errors import RepertoryError

if TYPE_CHECKING:
    from opentelemetry.metrics import Counter, Histogram
    from opentelemetry.trace import Tracer

Work = Literal["search", "index", "call"]
Labels = dict[str, str]


class _Instruments(NamedTuple):
    tracer: Tracer
    durations: Histogram
    tokens: Counter


@contextmanager
def measured(work: Work) -> Iterator[Labels]:
    """Measure a piece of work; what is put into the labels on the way is told with it."""
    labels: Labels = {}
    if not _is_watched():
        yield labels
        return
    tools = _instruments()
    started = time.perf_counter()
    # Exceptions are told by their code alone: their messages show what people typed.
    with tools.tracer.start_as_current_span(f"repertory.{work}", record_exception=False, set_status_on_exception=False) as span:
        try:
            yield labels
        except BaseException as error:
            labels["outcome"] = error.code if isinstance(error, RepertoryError) else "failed"
            raise
        finally:
            labels.setdefault("outcome", "ok")
            span.set_attributes({f"repertory.{name}": value for name, value in labels.items()})
            tools.durations.record(time.perf_counter() - started, {"work": work, **labels})


def count_tokens(tokens: int, use: Literal["query", "document"]) -> None:
    """Tell how many tokens an embedder has read."""
    if tokens and _is_watched():
        _instruments().tokens.add(tokens, {"use": use})


def _is_watched() -> bool:
    return "opentelemetry.sdk" in sys.modules  # its API alone does nothing, and takes a tenth of a second to load


@cache
def _instruments() -> _Instruments:
    from opentelemetry import metrics, trace

    meter = metrics.get_meter("repertory")
    return _Instruments(
        trace.get_tracer("repertory"),
        meter.create_histogram("repertory.duration", "s", "How long searches, indexing runs and calls take"),
        meter.create_counter("repertory.embedding.tokens", "{token}", "How many tokens the embedder has read"),
    )
