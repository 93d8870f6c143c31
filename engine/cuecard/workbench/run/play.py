"""A scenario played on a fresh server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pydantic_ai.models import Model

from cuecard.adapters.mcp_client.client import open_server
from cuecard.adapters.pydantic_ai.messages import tool_results
from cuecard.config.scenario_file import Scenario, UnresolvedError, resolved_at
from cuecard.engine import Engine
from cuecard.errors import Problem, SpecError, ToolServerError, visible
from cuecard.files.server_process import TAIL_LINES, ProcessGuard, ServerCommand
from cuecard.model import Json
from cuecard.workbench.run.assistant_file import Assistant
from cuecard.workbench.run.chat import assistant_on
from cuecard.workbench.run.events import ContentChange, ContentChanges, Emit, ScenarioStart, totals
from cuecard.workbench.run.script_model import check_outcomes, resolve_at, saved_values, scripted_model
from cuecard.workbench.run.turn import LiveAgent, Talk, take_turn


def changes(before: Json, after: Json, path: str = "") -> Iterator[ContentChange]:
    """Every difference at its outermost place: an object that was added or removed as a whole is one change."""
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        if before != after:
            yield ContentChange(path, before, after)
        return
    for key in dict.fromkeys([*before, *after]):
        inner = f"{path}.{key}" if path else key
        if key in before and key in after:
            yield from changes(before[key], after[key], inner)
        else:
            yield ContentChange(inner, before.get(key), after.get(key))


def read_snapshot(start: ServerCommand) -> dict[str, Json]:
    """The content as one JSON object.

    Raises:
        ToolServerError: when the command does not start, fails, takes too long, or prints something else.
    """
    try:
        code, said, told = _run(start)
    except subprocess.TimeoutExpired:
        raise _error(start, f"it did not finish within {start.timeout:g} s") from None
    except (OSError, ValueError) as error:
        raise _error(start, f"it cannot be started: {(getattr(error, 'strerror', '') or str(error)).lower()}") from None
    if code:
        raise _error(start, f"it exited with code {code}", told.decode(errors="replace"))
    try:
        content = json.loads(said)
    except ValueError:
        raise _error(start, "it did not print JSON") from None
    if not isinstance(content, dict):
        raise _error(start, "it printed JSON, but not an object")
    return content


def _run(start: ServerCommand) -> tuple[int, bytes, bytes]:
    """The exit code of the command, and what it wrote; whatever it has started ends with it.

    Raises:
        OSError, ValueError: when it does not start.
        TimeoutExpired: when it takes too long.
    """
    env: dict[str, str] = {**os.environ, **start.env}
    if sys.platform == "win32":
        done = subprocess.run(
            [*start.command], cwd=start.folder, env=env, capture_output=True, timeout=start.timeout, check=False
        )
        return done.returncode, done.stdout, done.stderr
    watched = ProcessGuard(start.command, env)
    try:
        process = subprocess.Popen(
            watched.command,
            cwd=start.folder,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=watched.passed,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except BaseException:
        watched.end()
        raise
    with process:
        try:
            watched.begin()
            said, told = process.communicate(timeout=start.timeout)
        finally:
            watched.end()
    return process.returncode, said, told


def _error(start: ServerCommand, cause: str, stderr: str = "") -> ToolServerError:
    said = [f"it said: {visible(line)}" for line in stderr.splitlines() if line.strip()][-TAIL_LINES:]
    lines = [f"it runs: {' '.join(start.command)}", *said, "mend `server.snapshot`"]
    return ToolServerError(Problem("snapshot", f"no snapshot: {cause}", "\n".join(lines), start.name))


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
        stage.emit(ScenarioStart(scenario.name, scenario.file.title, len(running.engine.tools)))
        talk = Talk(running.engine.conversation())
        for number in range(len(scenario.file.turns)):
            model = stage.model or scripted_model(scenario, number)
            talk, problems = await _attempt(running, scenario, talk, model, stage.emit)
            before, content = content, look()
            stage.emit(ContentChanges(scenario.name, number + 1, tuple(changes(before, content))))
            if problems:
                break
    if not problems and not stage.model:
        problems = _unexpected(scenario, talk, content)
    stage.emit(totals(scenario.name, talk.steps, problems))
    return not problems


async def _attempt(
    running: LiveAgent, scenario: Scenario, talk: Talk, model: Model, emit: Emit
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
        return resolved_at(content, path)
    except UnresolvedError:
        return None
