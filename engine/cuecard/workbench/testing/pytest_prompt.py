"""A prompt in a test, its place, scenarios."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

from cuecard.errors import InputError, Problem, did_you_mean
from cuecard.files.content import AGENT_FILES, find_content
from cuecard.files.roots import is_file, is_there
from cuecard.model import Manifest, Step
from cuecard.workbench.output import require
from cuecard.workbench.run.assistant_file import read_assistant
from cuecard.workbench.run.events import Event, StepEvent
from cuecard.workbench.step import open_engine
from cuecard.workbench.testing.goldens import Golden, complaint, hold
from cuecard.workbench.testing.snapshot import Snapshot, SnapshotSection, section_texts

UPDATE = "pytest --cue-update"


@dataclass(frozen=True, eq=False)
class Prompt:
    """What the model receives in one step: `"Jana" in prompt`, `prompt.tokens < 900`, `prompt == snapshot`.

    Attributes:
        step: the whole step.
        results: the results of the turn's `history` that a template of the agent renders, as the model reads them.
    """

    step: Step
    results: tuple[SnapshotSection, ...] = ()

    @cached_property
    def text(self) -> str:
        """Everything that the engine wrote: system prompt, section messages, appended blocks."""
        return "\n".join(self.sections.values())

    @cached_property
    def sections(self) -> dict[str, str]:
        """The text of each section by id, in order."""
        return {record.id: text for record, text in section_texts(self.step)}

    @property
    def tokens(self) -> int:
        """The number of tokens of the whole prompt."""
        return self.step.manifest.total_tokens

    @property
    def active_tools(self) -> tuple[str, ...]:
        """The tools that may be called."""
        return self.step.active_tools

    @property
    def manifest(self) -> Manifest:
        """What was sent, why, and what was left out."""
        return self.step.manifest

    def __contains__(self, text: str) -> bool:
        return text in self.text

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        sections = ", ".join(self.sections)
        return f"<Prompt of {self.manifest.configuration.agent}: {self.tokens:,} tokens in {sections}>"


class PromptSnapshot:
    """The snapshots of one test: `assert prompt == snapshot`; for a second comparison in a test, use `snapshot` again.

    Args:
        folder: their folder.
        name: the name of the files.
        update: whether to rewrite them.
    """

    def __init__(self, folder: Path, name: str, *, update: bool) -> None:
        self.folder: Path = folder
        self.name: str = name
        self.update: bool = update
        self.used: list[Path] = []
        self.last: Golden | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Prompt):
            self.last = None
            return NotImplemented
        number = f".{len(self.used) + 1}" if self.used else ""
        path = self.folder / f"{self.name}{number}.txt"
        self.used.append(path)
        self.last = hold(path, Snapshot.of(other.step, other.results), update=self.update)
        return self.last.passed

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"<snapshot {self.name}>"

    def explained(self) -> list[str]:
        """The result of the last comparison, for people."""
        if self.last is None:
            return [
                "a snapshot is of a whole prompt",
                "write `assert prompt == snapshot`, with what `render_turn` returns",
            ]
        wrong = complaint(self.last, UPDATE)
        return [wrong.message, *wrong.hint.split("\n")]


_OPTIONS = ("agent", "delivery")


def agent_of(node: pytest.Item) -> Path:
    """The agent of a test: its marker, the setting `cuecard_agent`, or the nearest `agent.yaml` above it.

    Raises:
        InputError: when there is none, or the marker has an option that means nothing.
    """
    marker = node.get_closest_marker("cuecard")
    for key in sorted({*(marker.kwargs if marker else ())}.difference(_OPTIONS)):
        told = f"the marker `cuecard` has no `{key}`"
        raise InputError(Problem("wrong-option", told, did_you_mean(key, _OPTIONS), node.nodeid))
    named = marker.kwargs.get("agent") or next(iter(marker.args), None) if marker else None
    if named:
        return find_file(node, str(named))
    if setting := node.config.getini("cuecard_agent"):
        beside = node.config.rootpath / setting
        return beside if is_there(beside) else find_content(Path(setting))
    for folder in _upward(node):
        for name in AGENT_FILES:
            if is_file(folder / name):
                return folder / name
    hint = "set `cuecard_agent` in the pytest settings, or mark the test: @pytest.mark.cuecard(agent=...)"
    raise InputError(Problem("no-agent", "no agent.yaml in the test's folder or above it", hint, node.nodeid))


def find_file(node: pytest.Item, name: str) -> Path:
    """A file named by a test: next to the test, above it, or shipped with cuecard.

    Raises:
        InputError: when it is not found.
    """
    for folder in _upward(node):
        if is_there(folder / name):
            return folder / name
    shipped = find_content(Path(name))
    if is_there(shipped):
        return shipped
    hint = "paths are relative to the test's folder or one above it"
    raise InputError(Problem("missing-file", f"there is no {name}", hint, node.nodeid))


def _upward(node: pytest.Item) -> Iterator[Path]:
    """The folder of the test and those above it, up to the root that settings give the tests; without settings, pytest
    takes what was typed for the root, such as the current folder.
    """
    here, root = node.path.parent, node.config.rootpath if node.config.inipath else None
    yield here
    while here not in (root, here.parent):
        here = here.parent
        yield here


@dataclass(frozen=True, slots=True)
class ScenarioRun:
    """A played scenario.

    Attributes:
        ok: whether the scenario passed.
        prompts: the prompt of every request to the model, in order.
        events: all events, as printed by `cuecard run --json`.
    """

    ok: bool
    prompts: tuple[Prompt, ...]
    events: tuple[Event, ...]


def play_scenario(node: pytest.Item, data: Path) -> ScenarioRun:
    """Play the scenario of a test's marker, with the data of its tool server in a folder.

    Raises:
        InputError: when the marker does not name an assistant and a scenario, or the extra `run` is missing.
        SpecError: when the assistant or the scenario is wrong.
        ToolServerError: when the tool server cannot be started or reached.
    """
    marker = node.get_closest_marker("cue_scenario")
    if marker is None or len(marker.args) != 2:
        hint = '@pytest.mark.cue_scenario("assistant.yaml", "the-scenario")'
        raise InputError(
            Problem("no-scenario", "the fixture `played` plays the scenario of a marker", hint, node.nodeid)
        )
    require("played", "run", {"pydantic_ai": "pydantic-ai", "mcp": "mcp"})
    from cuecard.workbench.run.play import Stage, play

    found = read_assistant(find_file(node, marker.args[0]))
    (scenario,) = found.chosen((marker.args[1],))
    events: list[Event] = []
    ok = asyncio.run(play(Stage(found, open_engine(found.agent), events.append), scenario, data))
    prompts = tuple(Prompt(event.step) for event in events if isinstance(event, StepEvent))
    return ScenarioRun(ok, prompts, tuple(events))
