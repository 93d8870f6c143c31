"""Plays a scenario: starts a fresh server, plays the turns, and checks what has changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pydantic_ai.models import Model

from cuecard.adapters.mcp_client.client import open_server
from cuecard.adapters.pydantic_messages import tool_results
from cuecard.adapters.scripted import check_outcomes, resolve_at, saved_values, scripted_model
from cuecard.cli.run.changes import changes
from cuecard.cli.run.chat import assistant_on
from cuecard.cli.run.events import Began, Changed, Emit, totals
from cuecard.cli.run.turn import Running, Talk, take_turn
from cuecard.config.scenario_file import Scenario
from cuecard.config.values.references import UnresolvedError, value_at
from cuecard.engine import Engine
from cuecard.errors import Problem, SpecError
from cuecard.model import Json
from cuecard.outside.assistant import Assistant
from cuecard.outside.snapshot import read_snapshot


@dataclass(frozen=True, slots=True)
class Stage:
    """The surroundings of a scenario: the assistant, its engine, and the event handler.

    With a `model`, the model decides, and only the user's words come from the scenario.
    """

    assistant: Assistant
    engine: Engine
    emit: Emit
    model: Model | None = None


async def play(stage: Stage, scenario: Scenario, data: Path) -> bool:
    """Play a scenario with the data in this folder; returns whether it passed.

    Raises:
        ToolServerError: when the tool server cannot be started or spoken to.
    """
    look = _look(stage.assistant, data, scenario.file.now)
    content = look()
    problems: tuple[Problem, ...] = ()
    async with open_server(stage.assistant.server(data, scenario.file.now)) as server:
        running = await assistant_on(server, scenario.name, stage.assistant.file, stage.engine)
        stage.emit(Began(scenario.name, scenario.file.title, len(running.engine.tools)))
        talk = Talk(running.engine.conversation())
        for number in range(len(scenario.file.turns)):
            model = stage.model or scripted_model(scenario, number)
            talk, problems = await _attempt(running, scenario, talk, model, stage.emit)
            before, content = content, look()
            stage.emit(Changed(scenario.name, number + 1, tuple(changes(before, content))))
            if problems:
                break
    if not problems and not stage.model:
        problems = _unexpected(scenario, talk, content)
    stage.emit(totals(scenario.name, talk.steps, problems))
    return not problems


async def _attempt(
    running: Running, scenario: Scenario, talk: Talk, model: Model, emit: Emit
) -> tuple[Talk, tuple[Problem, ...]]:
    """Play the next turn of the scenario; returns the deviations from it."""
    number = len(talk.turns)
    try:
        talk = await take_turn(running, talk, scenario.file.turns[number].user, model, emit, scenario.file.now)
    except SpecError as error:
        return talk, error.problems
    if not (stopped := talk.turns[-1].stopped):
        return talk, ()
    message = f"the turn ended without an answer: {stopped}"
    return talk, (scenario.document.problem(("turns", number, "user"), "turn-stopped", message),)


def _look(assistant: Assistant, data: Path, now: datetime) -> Callable[[], Mapping[str, Json]]:
    """Takes snapshots of the server's content; without a command in the assistant file, they are empty."""
    command = assistant.snapshot(data, now)
    return (lambda: read_snapshot(command)) if command else dict


def _unexpected(scenario: Scenario, talk: Talk, content: Mapping[str, Json]) -> tuple[Problem, ...]:
    """The deviations of the server's content from the scenario."""
    results = tool_results(talk.messages)
    try:
        check_outcomes(scenario, results)
        saved = saved_values(scenario, results)
        paths = {path: resolve_at(scenario, ("expect", path), path, saved) for path in scenario.file.expect}
        wanted = {path: resolve_at(scenario, ("expect", path), v, saved) for path, v in scenario.file.expect.items()}
    except SpecError as error:
        return error.problems
    found = {path: _value_or_none(content, place) for path, place in paths.items()}
    return tuple(
        scenario.document.problem(
            ("expect", path), "other-end", f"`{paths[path]}` is {found[path]!r} at the end, not {wanted[path]!r}"
        )
        for path in wanted
        if found[path] != wanted[path]
    )


def _value_or_none(content: Mapping[str, Json], path: str) -> Json:
    try:
        return value_at(content, path)
    except UnresolvedError:
        return None
