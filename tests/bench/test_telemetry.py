"""What telemetry costs, side by side in one run: an engine that is not instrumented, and one that is."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from bench.test_step import microseconds
from cuecard import Engine, ToolResult, Turn
from cuecard.telemetry import Telemetry

pytestmark = pytest.mark.bench

CMS = Path(__file__).parents[2] / "prompts" / "cms"
NOW = datetime(2026, 11, 22, tzinfo=UTC)


def test_telemetry_against_an_engine_without() -> None:
    plain = Engine.open(CMS)
    tracers = TracerProvider()
    tracers.add_span_processor(SimpleSpanProcessor(InMemorySpanExporter()))
    meters = MeterProvider([InMemoryMetricReader()])
    silent = Telemetry().instrument(plain)  # no provider is set: OpenTelemetry's own that does nothing
    recorded = Telemetry(tracer_provider=tracers, meter_provider=meters).instrument(plain)
    found = [ToolResult("tool_search", {"tools": ["cms_createPage"]}, "call-1")]

    def step(engine: Engine) -> float:
        call = engine.prepare_call(Turn(now=NOW))
        return microseconds(lambda: engine.prepare_step(call, found))

    def read(engine: Engine) -> float:
        call = engine.prepare_call(Turn(now=NOW))
        return microseconds(lambda: engine.prepare_step(call, found).manifest)

    rows = {
        "prepare_step, off": step(plain),
        "prepare_step and its manifest, off": read(plain),
        "prepare_step, on, no provider": step(silent),
        "prepare_step, on, recorded": step(recorded),
    }
    base = rows["prepare_step, off"]
    print()
    for name, value in rows.items():
        print(f"  {name:40s} {value:8.0f} us  {value / base:5.2f}x")

    assert type(plain)._hooks is Engine._hooks  # off is the code that always ran, and no other
    assert rows["prepare_step, on, recorded"] < 3 * rows["prepare_step and its manifest, off"]
