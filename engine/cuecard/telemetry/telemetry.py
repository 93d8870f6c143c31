"""Telemetry is enabled per engine, by the code that opens it; there is no global switch."""

from __future__ import annotations

from collections.abc import Callable

from opentelemetry.metrics import MeterProvider
from opentelemetry.trace import TracerProvider

from cuecard.engine import Engine
from cuecard.model import Manifest, Step
from cuecard.reload.status import Status
from cuecard.reload.watcher import Watcher
from cuecard.shapes import Either, Findings, Instance, Maybe, Text, Whole
from cuecard.telemetry.facts import Value
from cuecard.telemetry.recorder import Recorder
from cuecard.telemetry.traced import traced

_TRACERS = Maybe([Instance(TracerProvider, hint="such as `opentelemetry.sdk.trace.TracerProvider`")])
_METERS = Maybe([Instance(MeterProvider, hint="such as `opentelemetry.sdk.metrics.MeterProvider`")])
_VERSION = Maybe([Either([Whole(0), Text(least=1)])])
_ENGINE = Instance(Engine, hint="`Engine.open` makes one")
_WATCHER = Instance(Watcher, hint="`cuecard.watch` makes one")
_PROMPT = Either([Instance(Step), Instance(Manifest)])


class Telemetry:
    """Spans and metrics for the engines that it instruments.

    The spans are `cuecard.prepare_call`, `cuecard.prepare_step`, `cuecard.search_tools` and `cuecard.reload`. They hold
    ids, fingerprints and numbers, never text. Every step then builds its manifest. Cache breaks are detected by
    comparing a step with the previous one, as long as that call is in memory.
    """

    def __init__(
        self,
        *,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
        version: int | str | None = None,
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
        found = Findings()
        _TRACERS.take(tracer_provider, "tracer_provider", found)
        _METERS.take(meter_provider, "meter_provider", found)
        _VERSION.take(version, "version", found)
        found.refuse()
        self._recorder = Recorder(tracer_provider, meter_provider, version)

    def instrument(self, engine: Engine) -> Engine:
        """The same engine with its calls, steps and searches recorded, including those of its conversations.

        Pass this method to `cuecard.watch` as `ready` to record every engine of the watcher.

        Raises:
            InputError: when `engine` is not an `Engine`.
        """
        _check(_ENGINE, engine, "engine")
        return traced(engine, self._recorder)

    def follow(self, watcher: Watcher[Engine]) -> Callable[[], None]:
        """Record every change of the files that the watcher serves or refuses. Returns a function that stops it.

        Raises:
            InputError: when `watcher` is not a `Watcher`.
        """
        _check(_WATCHER, watcher, "watcher")

        def changed(engine: Engine, status: Status) -> None:
            self._recorder.reload(engine.name, engine.salt, status)

        return watcher.on_change(changed)

    def attributes(self, prompt: Step | Manifest) -> dict[str, Value]:
        """The attributes that identify the prompt, for the host's own span of its model request.

        Raises:
            InputError: when the argument is neither a `Step` nor a `Manifest`.
        """
        _check(_PROMPT, prompt, "prompt")
        return self._recorder.attributes(prompt.manifest if isinstance(prompt, Step) else prompt)


def _check(shape: Instance | Either, value: object, name: str) -> None:
    found = Findings()
    shape.take(value, name, found)
    found.refuse()
