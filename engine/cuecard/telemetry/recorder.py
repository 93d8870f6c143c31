"""Makes spans, counts metrics."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import TypeVar

from opentelemetry.metrics import MeterProvider, get_meter
from opentelemetry.trace import Span, StatusCode, TracerProvider, get_tracer

from cuecard.model import Call, Manifest, SearchResult, Step
from cuecard.pipeline.comparison import compare_manifests
from cuecard.reload.keeper import Status
from cuecard.telemetry import facts


class LastSteps:
    """Manifests by call, for as long as the call is in use. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: dict[int, tuple[weakref.ref[Call], Manifest | None, int]] = {}

    def get(self, call: Call | None) -> tuple[Manifest | None, int]:
        """The manifest of the call's last step, None where nobody knows it here, and how many steps it has had here."""
        if call is None:
            return None, 0
        with self._lock:
            reference, manifest, steps = self._known.get(id(call), (None, None, 0))
        return (manifest, steps) if reference is not None and reference() is call else (None, 0)

    def put(self, call: Call, manifest: Manifest | None, steps: int) -> None:
        """Record the manifest of the call's last step, and how many it has had."""
        if manifest is None:
            return
        key = id(call)
        reference = weakref.ref(call, lambda gone: self._forget(key, gone))
        with self._lock:
            self._known[key] = (reference, manifest, steps)

    def __len__(self) -> int:
        return len(self._known)

    def _forget(self, key: int, gone: weakref.ref[Call]) -> None:
        # No lock: the collector may call this while the lock is held by the same thread.
        if (known := self._known.get(key)) and known[0] is gone:
            self._known.pop(key, None)


Result = TypeVar("Result")

NAME = "cuecard"
"""The instrumentation's name."""


class SpanRecorder:
    """The recorder of one `Telemetry`, for any number of engines and threads."""

    def __init__(self, tracers: TracerProvider | None, meters: MeterProvider | None, version: int | str | None) -> None:
        """Use these OpenTelemetry providers (None: the global ones), and this version for prompts."""
        self._tracer = get_tracer(NAME, tracer_provider=tracers, schema_url=facts.SCHEMA)
        meter = get_meter(NAME, meter_provider=meters, schema_url=facts.SCHEMA)
        self._version, self._last = version, LastSteps()
        self._breaks = meter.create_counter(
            "cuecard.cache_breaks", "{break}", "prompts that did not begin with the previous prompt"
        )
        self._dropped = meter.create_counter(
            "cuecard.instructions.dropped", "{tool}", "tools whose instructions were left out"
        )
        self._tokens = meter.create_histogram("cuecard.prompt.tokens", "{token}", "tokens of a prompt")
        self._reloads = meter.create_counter("cuecard.reloads", "{reload}", "file changes, served or refused")

    def call(self, agent: str, salt: str, previous: Call | None, make: Callable[[], Call]) -> Call:
        """A call, under a span."""
        with self._span("cuecard.prepare_call", agent) as span:
            call = make()
            prompt = facts.of_prompt(call.configuration, self._version, salt)
            span.set_attributes({**prompt, **facts.of_call(call)})
        self._last.put(call, self._last.get(previous)[0], 0)
        return call

    def step(self, agent: str, tools: Mapping[str, object], call: Call, make: Callable[[], Step]) -> Step:
        """A step, under a span, compared with the previous step."""
        with self._span("cuecard.prepare_step", agent) as span:
            step = make()
            manifest, (before, steps) = step.manifest, self._last.get(call)
            where = {**facts.of_conversation(call), "cuecard.step": steps}
            prompt = facts.of_prompt(manifest.configuration, self._version)
            span.set_attributes({**prompt, **where, **facts.of_step(manifest)})
            self._count(span, before, manifest, tools)
        self._last.put(step.call or call, manifest, steps + 1)
        return step

    @contextmanager
    def search(self, agent: str, call: Call | None) -> Iterator[Callable[[SearchResult], None]]:
        """A span around a search of a call; pass the result to the function that it yields."""
        with self._span("cuecard.search_tools", agent) as span:
            span.set_attributes(facts.of_conversation(call) if call else {})
            yield lambda result: span.set_attributes(facts.of_search(result))

    def reload(self, agent: str, salt: str, status: Status) -> None:
        """A span for a completed change of the files."""
        with self._span("cuecard.reload", agent) as span:
            span.set_attributes(facts.of_reload(status, salt))
            if status.refused:
                span.set_status(StatusCode.ERROR)
        self._reloads.add(1, {"gen_ai.prompt.name": agent, "cuecard.reload.outcome": facts.outcome(status)})

    def attributes(self, manifest: Manifest) -> dict[str, facts.Value]:
        """The attributes that identify the prompt."""
        return facts.of_prompt(manifest.configuration, self._version)

    def _count(self, span: Span, before: Manifest | None, after: Manifest, tools: Mapping[str, object]) -> None:
        named = {"gen_ai.prompt.name": after.configuration.agent, "cuecard.delivery": after.delivery.name}
        self._tokens.record(after.total_tokens, named)
        if dropped := facts.dropped(before, after, tools):
            self._dropped.add(dropped, named)
            span.set_attribute("cuecard.instructions.dropped", dropped)
        broken = compare_manifests(before, after).first_break if before and before.salt == after.salt else None
        if broken:
            told = facts.of_break(broken)
            span.add_event("cuecard.cache_break", told)
            cause = "cuecard.cache_break.cause"
            self._breaks.add(1, {**named, cause: str(told[cause])})

    @contextmanager
    def _span(self, name: str, agent: str) -> Iterator[Span]:
        """A span that records the type of an error, never its message."""
        named = facts.of_agent(agent)
        with self._tracer.start_as_current_span(
            name, attributes=named, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield span
            except BaseException as error:
                span.set_attributes(facts.of_error(error))
                span.set_status(StatusCode.ERROR)
                raise
