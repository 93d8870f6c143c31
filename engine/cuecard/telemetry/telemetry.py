"""Telemetry is enabled per engine, by the code that opens it; there is no global switch."""

from __future__ import annotations

from collections.abc import Callable

from opentelemetry.metrics import MeterProvider
from opentelemetry.trace import TracerProvider

from cuecard.engine import Engine
from cuecard.model import Manifest, Step
from cuecard.model.boundary import Count, FilledText, checked
from cuecard.reload.status import Status
from cuecard.reload.watcher import Watcher
from cuecard.telemetry.facts import Value
from cuecard.telemetry.recorder import Recorder
from cuecard.telemetry.traced import traced


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
        self._recorder = Recorder(tracer_provider, meter_provider, version)

    @checked
    def instrument(self, engine: Engine) -> Engine:
        """The same engine with its calls, steps and searches recorded, including those of its conversations.

        Pass this method to `cuecard.watch` as `ready` to record every engine of the watcher.

        Raises:
            InputError: when `engine` is not an `Engine`.
        """
        return traced(engine, self._recorder)

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
