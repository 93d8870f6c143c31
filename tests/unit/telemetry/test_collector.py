"""Through OpenTelemetry's real OTLP exporters, to a collector on loopback that reads their protocol buffers."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from typing_extensions import override

from cuecard import Engine, ToolResult, Turn
from cuecard.telemetry import Telemetry
from unit.loopback_server import Handler, serving

ROOT = Path(__file__).parents[3]


@contextmanager
def collector() -> Iterator[tuple[str, dict[str, list[bytes]]]]:
    got: dict[str, list[bytes]] = {}

    class Collector(Handler):
        @override
        def post(self) -> None:
            body = self.body()
            zipped = self.headers.get("Content-Encoding") == "gzip"
            got.setdefault(self.path, []).append(gzip.decompress(body) if zipped else body)
            self.answer(b"", "application/x-protobuf")

    with serving(Collector) as url:
        yield url, got


def test_spans_and_metrics_arrive_at_a_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with collector() as (url, got):
        tracers = TracerProvider()
        tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{url}/v1/traces")))
        meters = MeterProvider([PeriodicExportingMetricReader(OTLPMetricExporter(f"{url}/v1/metrics"))])
        engine = Telemetry(tracer_provider=tracers, meter_provider=meters).instrument(
            Engine.open(ROOT / "prompts" / "cms", delivery="rewrite")
        )
        chat = engine.conversation()
        call = chat.user(Turn())
        chat.step()
        found = engine.search_tools("create a page", call=call)
        chat.step([ToolResult("tool_search", found.to_json(), "c-1")])
        tracers.shutdown()
        meters.shutdown()
    spans = [
        span
        for body in got["/v1/traces"]
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    metrics = {
        metric.name: metric
        for body in got["/v1/metrics"]
        for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    }
    names = {key.key: key.value.string_value for key in spans[-1].attributes}

    assert [span.name.removeprefix("cuecard.") for span in spans] == [
        *("prepare_call", "prepare_step", "search_tools", "prepare_step"),
    ]
    assert names["gen_ai.prompt.name"] == "cms"
    assert [event.name for event in spans[-1].events] == ["cuecard.cache_break"]
    assert metrics["cuecard.cache_breaks"].sum.data_points[0].as_int == 1
    assert metrics["cuecard.prompt.tokens"].histogram.data_points[0].count == 2
