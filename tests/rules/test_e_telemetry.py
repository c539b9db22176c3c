"""E. Auto and the gateway: what can be watched."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT

PROGRAM = """
import asyncio, json, sys
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
import repertory

reader, spans = InMemoryMetricReader(), InMemorySpanExporter()
metrics.set_meter_provider(MeterProvider([reader]))
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(spans))
trace.set_tracer_provider(provider)

async def main():
    async with repertory.open(sys.argv[1]) as rep:
        await rep.add(sys.argv[2])
        for _ in range(2):
            await rep.search("who mends the zebra crossing")
        try:
            await rep.call("nobody/nothing")
        except repertory.RepertoryError:
            pass

asyncio.run(main())
points = [
    (metric.name, dict(point.attributes), getattr(point, "count", None) or point.value)
    for resource in reader.get_metrics_data().resource_metrics for scope in resource.scope_metrics if scope.scope.name == "repertory"
    for metric in scope.metrics for point in metric.data.data_points
]
told = [(span.name, dict(span.attributes), len(span.events)) for span in spans.get_finished_spans() if span.name.startswith("repertory.")]
print(json.dumps([points, told]))
"""


def test_E12_spans_and_metrics_with_bounded_labels(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("# Crossings\n\nThe crew mends the zebra crossing.\n")
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "catalog"), str(tmp_path / "note.md")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    points, spans = json.loads(done.stdout)
    durations = [labels for name, labels, _ in points if name == "repertory.duration"]
    assert {"work": "index", "outcome": "ok"} in durations
    assert {"work": "call", "outcome": "not_found"} in durations
    searches = [labels for labels in durations if labels["work"] == "search"]
    assert [labels["cached"] for labels in searches] == ["false", "true"]
    assert all(labels["strategy"] == labels["mode"] == "hybrid" for labels in searches)
    tokens = {labels["use"]: count for name, labels, count in points if name == "repertory.embedding.tokens"}
    assert tokens["document"] > 5
    assert 0 < tokens["query"] < 15  # once: what was cached took none (E09)
    assert [name for name, *_ in spans] == ["repertory.index", "repertory.search", "repertory.search", "repertory.call"]
    assert not any(events for *_, events in spans)
    assert "zebra" not in done.stdout
    assert "nobody" not in done.stdout
