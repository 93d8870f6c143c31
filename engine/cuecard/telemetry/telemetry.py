"""Spans and metrics for an engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any

from opentelemetry.metrics import MeterProvider
from opentelemetry.trace import TracerProvider
from typing_extensions import override

from cuecard.adapters.host import HooksAround, instrumented
from cuecard.catalogue.ranker import AsyncRanker
from cuecard.engine import Engine
from cuecard.model import Call, Manifest, SearchResult, Step, Turn
from cuecard.model.boundary import Count, FilledText, checked
from cuecard.pipeline.discovery import Discoveries
from cuecard.pipeline.fit import Room
from cuecard.pipeline.hooks import Hooks, RequestChanges
from cuecard.pipeline.placement import Placement
from cuecard.reload.keeper import Status
from cuecard.reload.watcher import Watcher
from cuecard.telemetry.facts import Value
from cuecard.telemetry.recorder import SpanRecorder


@dataclass(frozen=True)
class TracedHooks(HooksAround):
    """The hooks with recording: both engines and conversations go through them."""

    recorder: SpanRecorder = field(kw_only=True, repr=False, compare=False)

    @override
    def call(
        self,
        turn: Turn,
        found: Discoveries,
        previous: Call | None = None,
        kept: int | None = None,
        since: str | None = None,
    ) -> Call:
        """The call."""
        make = partial(self.inner.call, turn, found, previous, kept, since)
        return self.recorder.call(self.agent.spec.agent, self.salt, previous, make)

    @override
    def step(
        self,
        call: Call,
        found: Discoveries,
        last: Placement | None = None,
        changed: RequestChanges | None = None,
        room: Callable[[], Room] | None = None,
    ) -> tuple[Step, Placement]:
        """The step."""
        placed: list[Placement] = []

        def make() -> Step:
            step, where = self.inner.step(call, found, last, changed, room)
            placed.append(where)
            return step

        return self.recorder.step(self.agent.spec.agent, self.agent.protocols, call, make), placed[0]

    @override
    def search(self, query: str, limit: int | None, call: Call | None, found: Discoveries | None) -> SearchResult:
        """The search."""
        with self.recorder.search(self.agent.spec.agent, call) as told:
            result = self.inner.search(query, limit, call, found)
            told(result)
            return result

    @override
    async def asearch(
        self, query: str, limit: int | None, call: Call | None, found: Discoveries | None, ranker: AsyncRanker
    ) -> SearchResult:
        """The search."""
        with self.recorder.search(self.agent.spec.agent, call) as told:
            result = await self.inner.asearch(query, limit, call, found, ranker)
            told(result)
            return result


def _values(value: object, kind: Any) -> dict[str, Any]:
    return {each.name: getattr(value, each.name) for each in fields(kind)}


class Telemetry:
    """Spans and metrics for the engines that it instruments.

    The spans are `cuecard.prepare_call`, `cuecard.prepare_step`, `cuecard.search_tools` and `cuecard.reload`. They hold
    ids, fingerprints and numbers, never text. Every step then builds its manifest. Cache breaks are detected by
    comparing a step with the previous one, as long as that call is in memory.
    """

    @checked
    def __init__(
        self,
        *,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
        version: Count | FilledText | None = None,
    ) -> None:
        """Record with these providers.

        Args:
            tracer_provider: receives the spans; None for OpenTelemetry's global provider.
            meter_provider: receives the metrics; None for OpenTelemetry's global provider.
            version: the prompt version in spans, such as your release; by default, the start of the configuration's
                fingerprint. Langfuse links prompts by whole numbers.

        Raises:
            InputError: with every argument that is wrong.
        """
        self._recorder = SpanRecorder(tracer_provider, meter_provider, version)

    @checked
    def instrument(self, engine: Engine) -> Engine:
        """The same engine with its calls, steps and searches recorded, including those of its conversations.

        Pass this method to `cuecard.watch` as `ready` to record every engine of the watcher.

        Raises:
            InputError: when `engine` is not an `Engine`.
        """
        return instrumented(engine, "telemetry", self._traced)

    def _traced(self, inner: Hooks) -> Hooks:
        return TracedHooks(**_values(inner, Hooks), inner=inner, recorder=self._recorder)

    @checked
    def follow(self, watcher: Watcher[Engine]) -> Callable[[], None]:
        """Record every change of the files that the watcher serves or refuses. Returns a function that stops it.

        Raises:
            InputError: when `watcher` is not a `Watcher`.
        """

        def changed(engine: Engine, status: Status) -> None:
            self._recorder.reload(engine.name, engine.salt, status)

        return watcher.on_change(changed)

    @checked
    def attributes(self, prompt: Step | Manifest) -> dict[str, Value]:
        """The attributes that identify the prompt, for the host's own span of its model request.

        Raises:
            InputError: when the argument is neither a `Step` nor a `Manifest`.
        """
        return self._recorder.attributes(prompt.manifest if isinstance(prompt, Step) else prompt)
