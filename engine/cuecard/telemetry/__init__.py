"""Spans and metrics of OpenTelemetry, of what an engine does; nothing else in cuecard imports it."""

from cuecard.errors import InputError, Problem

try:
    import opentelemetry.metrics
    import opentelemetry.trace  # noqa: F401 - only to see whether it is there
except ImportError as _error:
    _PROBLEM = Problem(
        "not-installed",
        "telemetry needs opentelemetry-api, which is not installed",
        'run `pip install "cuecard[otel]"`',
        "cuecard.telemetry",
    )
    raise InputError(_PROBLEM) from _error

from cuecard.telemetry.telemetry import Telemetry

__all__ = ["Telemetry"]
