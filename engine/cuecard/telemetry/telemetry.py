"""Telemetry is turned on for an engine, by whoever made it; there is no switch for all."""

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
    """Spans and metrics of engines that are instrumented by it.

    Spans are `cuecard.prepare_call`, `cuecard.prepare_step`, `cuecard.search_tools` and `cuecard.reload`. They tell
    ids, fingerprints and numbers, and never a text. A step makes its manifest then. What a step breaks of the cache is
    seen by holding it against the one before, as long as that call is in memory.
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
            tracer_provider: where spans go; None for OpenTelemetry's global one.
            meter_provider: where metrics go; likewise.
            version: the version that spans give prompts, such as that of your release; the start of the configuration's
                fingerprint when left out. Langfuse links prompts by whole numbers.

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
        """The same engine, recorded: its calls, steps and searches, also in its conversations.

        Pass the method to `cuecard.watch` as `ready`, and every engine of the watcher is recorded.

        Raises:
            InputError: when it is no engine.
        """
        _check(_ENGINE, engine, "engine")
        return traced(engine, self._recorder)

    def follow(self, watcher: Watcher[Engine]) -> Callable[[], None]:
        """Record every change of the files that the watcher serves or refuses. Returns a function that stops it.

        Raises:
            InputError: when it is no watcher.
        """
        _check(_WATCHER, watcher, "watcher")

        def changed(engine: Engine, status: Status) -> None:
            self._recorder.reload(engine.name, engine.salt, status)

        return watcher.on_change(changed)

    def attributes(self, prompt: Step | Manifest) -> dict[str, Value]:
        """Which prompt it is, for the span that a host makes of its own request to the model.

        Raises:
            InputError: when it is neither a step nor a manifest.
        """
        _check(_PROMPT, prompt, "prompt")
        return self._recorder.attributes(prompt.manifest if isinstance(prompt, Step) else prompt)


def _check(shape: Instance | Either, value: object, name: str) -> None:
    found = Findings()
    shape.take(value, name, found)
    found.refuse()
