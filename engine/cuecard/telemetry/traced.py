"""An engine whose calls, steps and searches are recorded; otherwise, an engine like any other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from typing import Any

from typing_extensions import override

from cuecard.catalogue.ranker import AsyncRanker
from cuecard.engine import Engine
from cuecard.hooks import Changed, Hooks
from cuecard.model import Call, SearchResult, Step, Turn
from cuecard.pipeline.discovery import Found
from cuecard.pipeline.fit import Room
from cuecard.pipeline.placement import Placed
from cuecard.telemetry.recorder import Recorder


@dataclass(frozen=True)
class TracedHooks(Hooks):
    """The hooks with recording: both engines and conversations go through them."""

    recorder: Recorder = field(kw_only=True, repr=False, compare=False)

    @override
    def call(
        self,
        turn: Turn,
        found: Found,
        previous: Call | None = None,
        kept: int | None = None,
        since: str | None = None,
    ) -> Call:
        """The call."""
        make = partial(super().call, turn, found, previous, kept, since)
        return self.recorder.call(self.agent.spec.agent, self.salt, previous, make)

    @override
    def step(
        self,
        call: Call,
        found: Found,
        last: Placed | None = None,
        changed: Changed | None = None,
        room: Callable[[], Room] | None = None,
    ) -> tuple[Step, Placed]:
        """The step."""
        placed: list[Placed] = []

        def make() -> Step:
            step, where = super(TracedHooks, self).step(call, found, last, changed, room)
            placed.append(where)
            return step

        return self.recorder.step(self.agent.spec.agent, self.agent.protocols, call, make), placed[0]

    @override
    def search(self, query: str, limit: int | None, call: Call | None, found: Found | None) -> SearchResult:
        """The search."""
        with self.recorder.search(self.agent.spec.agent) as told:
            result = super().search(query, limit, call, found)
            told(result)
            return result

    @override
    async def asearch(
        self, query: str, limit: int | None, call: Call | None, found: Found | None, ranker: AsyncRanker
    ) -> SearchResult:
        """The search."""
        with self.recorder.search(self.agent.spec.agent) as told:
            result = await super().asearch(query, limit, call, found, ranker)
            told(result)
            return result


@dataclass(frozen=True)
class TracedEngine(Engine):
    """An engine with recording."""

    recorder: Recorder = field(kw_only=True, repr=False, compare=False)

    @cached_property
    def _hooks(self) -> Hooks:
        plain = super()._hooks
        return TracedHooks(**_values(plain, Hooks), recorder=self.recorder)


def traced(engine: Engine, recorder: Recorder) -> Engine:
    """The same engine, recorded by this recorder only."""
    return TracedEngine(**_values(engine, Engine), recorder=recorder)


def _values(value: object, kind: Any) -> dict[str, Any]:
    return {each.name: getattr(value, each.name) for each in fields(kind)}
