"""Scenarios in tests: an assistant plays one with its own tool server and script, and every prompt is recorded."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

import pytest

from cuecard.cli.run.events import Event, StepTaken
from cuecard.cli.run.play import Stage, play
from cuecard.cli.step import open_engine
from cuecard.errors import InputError, Problem
from cuecard.outside.assistant import read_assistant
from cuecard.pytest_plugin.place import find_file
from cuecard.pytest_plugin.prompt import Prompt


@dataclass(frozen=True, slots=True)
class Played:
    """A played scenario.

    Attributes:
        ok: whether the scenario passed.
        prompts: the prompt of every request to the model, in order.
        events: all events, as printed by `cuecard run --json`.
    """

    ok: bool
    prompts: tuple[Prompt, ...]
    events: tuple[Event, ...]


def play_scenario(node: pytest.Item, data: Path) -> Played:
    """Play the scenario of a test's marker, with the data of its tool server in a folder.

    Raises:
        InputError: when the marker does not name an assistant and a scenario.
        SpecError: when the assistant or the scenario is wrong.
        ToolServerError: when the tool server cannot be started or reached.
    """
    marker = node.get_closest_marker("cue_scenario")
    if marker is None or len(marker.args) != 2:
        hint = '@pytest.mark.cue_scenario("assistant.yaml", "the-scenario")'
        raise InputError(
            Problem("no-scenario", "the fixture `played` plays the scenario of a marker", hint, node.nodeid)
        )
    found = read_assistant(find_file(node, marker.args[0]))
    (scenario,) = found.chosen((marker.args[1],))
    events: list[Event] = []
    ok = asyncio.run(play(Stage(found, open_engine(found.agent), events.append), scenario, data))
    prompts = tuple(Prompt(event.step) for event in events if isinstance(event, StepTaken))
    return Played(ok, prompts, tuple(events))
