"""The events of a run: display, JSON lines and manifest files are all derived from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cuecard.errors import Problem
from cuecard.model import Json, Manifest, Step


@dataclass(frozen=True, slots=True)
class ScenarioStart:
    """A scenario or a chat (without a title) begins; `tools` is the size of the catalogue."""

    scenario: str
    title: str
    tools: int


@dataclass(frozen=True, slots=True)
class UserMessage:
    """The user has written something."""

    scenario: str
    turn: int
    user: str


@dataclass(frozen=True, slots=True)
class CallEvent:
    """A tool call that the model decided on, and its result."""

    tool: str
    arguments: Json
    result: Json
    is_error: bool


@dataclass(frozen=True, slots=True)
class StepEvent:
    """One request to the model and its decision.

    Attributes:
        scenario: the scenario it belongs to.
        turn: counted from 1.
        number: the number of the request within the turn, counted from 1.
        step: what the model received.
        before: the manifest of the previous request, which may be in an earlier turn.
        everything: the tokens that the prompt would have with all protocols.
        thought: the model's thought.
        calls: its tool calls.
    """

    scenario: str
    turn: int
    number: int
    step: Step
    before: Manifest | None
    everything: int
    thought: str
    calls: tuple[CallEvent, ...]

    @property
    def manifest(self) -> Manifest:
        """The record of the prompt."""
        return self.step.manifest

    @property
    def tokens_more(self) -> int:
        """The increase in tokens since the previous step; 0 for the first."""
        return self.manifest.total_tokens - self.before.total_tokens if self.before else 0

    @property
    def discovered(self) -> tuple[str, ...]:
        """Tools that this step has and the previous one did not."""
        known = self.before.active_tools if self.before else ()
        return tuple(d.tool for d in self.manifest.discovered if d.tool not in known)

    @property
    def entered(self) -> tuple[str, ...]:
        """Sections that this prompt has and the previous one did not."""
        known = {section.id for section in self.before.sections} if self.before else set()
        return tuple(section.id for section in self.manifest.sections if section.id not in known)

    @property
    def changed(self) -> tuple[str, ...]:
        """Sections whose text differs from the previous step."""
        known = {section.id: section.sha256 for section in self.before.sections} if self.before else {}
        sections = self.manifest.sections
        return tuple(section.id for section in sections if known.get(section.id, section.sha256) != section.sha256)


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """A turn is over; without an answer, `stopped` says why."""

    scenario: str
    turn: int
    answer: str
    stopped: str = ""


@dataclass(frozen=True, slots=True)
class ContentChange:
    """A difference in the server's content: the old and the new value at `path`; None for nothing."""

    path: str
    before: Json
    after: Json


@dataclass(frozen=True, slots=True)
class ContentChanges:
    """What a turn changed in the server's content."""

    scenario: str
    turn: int
    changes: tuple[ContentChange, ...]


@dataclass(frozen=True, slots=True)
class ScenarioEnd:
    """The totals of a scenario: the tokens of prompts as `sent`, and if they always contained `everything`.

    `problems` are the deviations from the scenario.
    """

    scenario: str
    requests: int
    first: int
    last: int
    sent: int
    everything: int
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class RunEnd:
    """All scenarios have been played; `failed` names those that failed."""

    scenarios: int
    failed: tuple[str, ...] = ()


Event: TypeAlias = ScenarioStart | UserMessage | StepEvent | TurnEnd | ContentChanges | ScenarioEnd | RunEnd

Emit: TypeAlias = Callable[[Event], None]
"""Handles an event."""


def totals(scenario: str, steps: Sequence[StepEvent], problems: tuple[Problem, ...] = ()) -> ScenarioEnd:
    """The totals of these steps."""
    tokens = [step.manifest.total_tokens for step in steps] or [0]
    everything = sum(step.everything for step in steps)
    return ScenarioEnd(scenario, len(steps), tokens[0], tokens[-1], sum(tokens), everything, problems)
