"""`cuecard run`: plays the scenarios of an assistant, or chats with an assistant or a plain agent."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cuecard.config.scenario_file import Scenario
from cuecard.errors import InputError, Problem
from cuecard.files.roots import is_there
from cuecard.model import DeliveryWish
from cuecard.workbench.output import output_folder, require
from cuecard.workbench.run.chat import asker
from cuecard.workbench.run.sources import ChatOptions

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from cuecard.engine import Engine
    from cuecard.workbench.run.events import Emit
    from cuecard.workbench.run.play import Stage
    from cuecard.workbench.run.turn import Talk


def run(
    path: Path,
    *,
    model: str | None = None,
    scenarios: Sequence[str] = (),
    json: bool = False,
    manifests: Path | None = None,
    data: Path | None = None,
    delivery: DeliveryWish | None = None,
    svg: Path | None = None,
    allow_code: bool = False,
    chat: ChatOptions | None = None,
) -> int:
    """Play scenarios, or chat; returns 1 if a scenario failed or a message got no answer, otherwise 0.

    Args:
        path: an agent file, an assistant file, the folder of one, or the name of a shipped system.
        model: a pydantic-ai model name; `scripted` plays the scenarios' own decisions.
        scenarios: names of scenarios; by default all, or a chat if there is a model and a terminal.
        json: print one JSON object per line.
        manifests: a folder for the manifest of every step.
        data: a folder for the server's data; without it, the data is deleted when the command ends.
        delivery: overrides the agent file's delivery.
        svg: a file for a picture of the output.
        allow_code: whether the function that the agent file names as its ranker may be loaded.
        chat: tools and messages of a chat.

    Raises:
        SpecError: with every problem of the files.
        InputError: when an option is wrong.
        ToolServerError: when the tool server cannot be started or reached.
    """
    import pydantic_ai

    from cuecard.files.settings import read_settings
    from cuecard.workbench.run.assistant_file import find_runnable, read_assistant
    from cuecard.workbench.run.play import Stage
    from cuecard.workbench.step import open_engine

    pydantic_ai.BANNER_ENABLED = False  # the output of a command is its own business
    options = chat or ChatOptions()
    settings, (kind, file) = read_settings(), find_runnable(path)
    if kind == "assistant" or options.sources.of_servers:
        require("cuecard run", "run", {"mcp": "mcp"})
    emit = _emitter(json=json, manifests=manifests or settings.manifests, svg=svg)
    found = read_assistant(file) if kind == "assistant" else None
    if found is None or options.of_agent:
        _refuse_stage_options(scenarios, data)
        engine = open_engine(found.agent if found else file, delivery, allow_code=allow_code)
        return _chat(engine, options, model or settings.model or (found.file.model if found else None), emit)
    chosen = found.chosen(tuple(scenarios))
    decides = _model(model or settings.model or found.file.model)
    engine = open_engine(found.agent, delivery, allow_code=allow_code)
    if options.messages and not decides:
        raise InputError(Problem("no-model", "a chat needs a model", "name one", "--model"))
    if decides and (options.messages or (not scenarios and sys.stdin.isatty())):
        return _chat_with_assistant(Stage(found, engine, emit), decides, options, data)
    if not chosen:
        raise InputError(Problem("no-scenario", "there is no scenario to play", "set `scenarios`", found.name))
    return _play_all(Stage(found, engine, emit, decides), chosen, data)


def _chat(engine: Engine, options: ChatOptions, model: str | None, emit: Emit) -> int:
    from cuecard.workbench.run.assistant import chosen_model
    from cuecard.workbench.run.chat import chat_with

    decides = chosen_model(model)
    return _outcome(asyncio.run(chat_with(engine, options, decides, asker(options.messages), emit)), options)


def _chat_with_assistant(stage: Stage, model: Model, options: ChatOptions, data: Path | None) -> int:
    from cuecard.workbench.run.chat import chat

    with _folder(data) as folder:
        ask = asker(options.messages)
        talk = asyncio.run(chat(stage.assistant, stage.engine, model, folder, ask, stage.emit))
    return _outcome(talk, options)


def _outcome(talk: Talk, options: ChatOptions) -> int:
    """The exit code of a chat: people at a terminal see that a turn got no answer, but a script must be told."""
    unattended = options.messages or not sys.stdin.isatty()
    return 1 if unattended and any(turn.stopped for turn in talk.turns) else 0


def _refuse_stage_options(scenarios: Sequence[str], data: Path | None) -> None:
    hint = "name an assistant file, without `--mcp`, `--mcp-url` and `--tools-module`"
    told = {"--scenario": bool(scenarios), "--data": data is not None}
    if any(told.values()):
        raise InputError(
            Problem("wrong-option", f"`{option}` only applies to an assistant's scenarios", hint, option)
            for option, given in told.items()
            if given
        )


def _play_all(stage: Stage, scenarios: Sequence[Scenario], data: Path | None) -> int:
    from cuecard.workbench.run.events import RunEnd
    from cuecard.workbench.run.play import play

    failed = []
    with _folder(data) as folder:
        places = {scenario.name: folder / scenario.name for scenario in scenarios}
        if used := [place for place in places.values() if is_there(place)]:
            hint = "scenarios start from fresh data: remove it, or name another folder"
            raise InputError(Problem("used-data", f"`{place}` already exists", hint, "--data") for place in used)
        for scenario in scenarios:
            output_folder(places[scenario.name], "--data")
            if not asyncio.run(play(stage, scenario, places[scenario.name])):
                failed.append(scenario.name)
    stage.emit(RunEnd(len(scenarios), tuple(failed)))
    return 1 if failed else 0


def _model(name: str) -> Model | None:
    """The model with this name; None for the script."""
    from cuecard.workbench.run.assistant import chosen_model

    return None if name == "scripted" else chosen_model(name)


def _emitter(*, json: bool, manifests: Path | None, svg: Path | None) -> Emit:
    from rich.console import Console

    from cuecard.workbench.run.lines import manifest_writer, print_line, together
    from cuecard.workbench.run.view import View, picture_writer

    shown: list[Emit] = [print_line if json else View(Console())]
    shown += [manifest_writer(manifests)] if manifests else []
    shown += [picture_writer(svg)] if svg else []
    return together(*shown)


@contextmanager
def _folder(data: Path | None) -> Iterator[Path]:
    if data is None:
        with tempfile.TemporaryDirectory(prefix="cuecard-") as folder:
            yield Path(folder)
    else:
        yield output_folder(data, "--data").resolve()
