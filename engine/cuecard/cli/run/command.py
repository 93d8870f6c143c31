"""`cuecard run`: an assistant plays its scenarios, or chats."""

from __future__ import annotations

import asyncio
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from cuecard.config.scenario_file import Scenario
from cuecard.errors import InputError, Problem
from cuecard.model import DeliveryWish

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from cuecard.cli.run.events import Emit
    from cuecard.cli.run.play import Stage


def run(
    assistant: Path,
    *,
    model: str | None = None,
    scenarios: Sequence[str] = (),
    json: bool = False,
    manifests: Path | None = None,
    data: Path | None = None,
    delivery: DeliveryWish | None = None,
    svg: Path | None = None,
    allow_code: bool = False,
) -> int:
    """Play scenarios, or chat; 1 when a scenario did not go as it says, else 0.

    Args:
        assistant: the assistant file, or its folder.
        model: a pydantic-ai model name; `scripted` plays what the scenarios say.
        scenarios: names of scenarios; all when there is none, but a chat with a model on a terminal.
        json: print one JSON object per line.
        manifests: a folder for the manifest of every step.
        data: a folder that keeps the server's data; without it, the data goes when the command ends.
        delivery: overrides the agent file's delivery.
        svg: a file for a picture of what was shown.
        allow_code: whether the function that the agent file names as its ranker may be loaded.

    Raises:
        SpecError: with every problem of the files.
        InputError: when an option is wrong.
        ToolServerError: when the tool server cannot be started or spoken to.
    """
    _check_installed()
    import pydantic_ai

    from cuecard.cli.run.chat import chat
    from cuecard.cli.run.play import Stage
    from cuecard.cli.step import open_engine
    from cuecard.outside.assistant import read_assistant
    from cuecard.outside.settings import read_settings

    pydantic_ai.BANNER_ENABLED = False  # what a command prints is its own affair
    settings, found = read_settings(), read_assistant(assistant)
    chosen = found.chosen(tuple(scenarios))
    decides = _model(model or settings.model or found.file.model)
    engine = open_engine(found.agent, delivery, allow_code=allow_code)
    emit = _emitter(json=json, manifests=manifests or settings.manifests, svg=svg)
    if decides and not scenarios and sys.stdin.isatty():
        with _folder(data) as folder:
            asyncio.run(chat(found, engine, decides, folder, _ask, emit))
        return 0
    if not chosen:
        raise InputError(Problem("no-scenario", "there is no scenario to play", "set `scenarios`", found.name))
    return _play_all(Stage(found, engine, emit, decides), chosen, data)


def _play_all(stage: Stage, scenarios: Sequence[Scenario], data: Path | None) -> int:
    from cuecard.cli.run.events import Finished
    from cuecard.cli.run.play import play

    failed = []
    with _folder(data) as folder:
        places = {scenario.name: folder / scenario.name for scenario in scenarios}
        if used := [place for place in places.values() if place.exists()]:
            hint = "scenarios begin on fresh data: remove it, or name another folder"
            raise InputError(Problem("used-data", f"`{place}` exists already", hint, "--data") for place in used)
        for scenario in scenarios:
            places[scenario.name].mkdir()
            if not asyncio.run(play(stage, scenario, places[scenario.name])):
                failed.append(scenario.name)
    stage.emit(Finished(len(scenarios), tuple(failed)))
    return 1 if failed else 0


def _check_installed() -> None:
    if missing := [name for name in ("pydantic_ai", "mcp") if not find_spec(name)]:
        hint = 'pip install "cuecard[run]"'
        raise InputError(
            Problem("not-installed", f"`cuecard run` needs {name}", hint, "cuecard run") for name in missing
        )


def _model(name: str) -> Model | None:
    """The model of this name; None for the script."""
    if name == "scripted":
        return None
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.models import infer_model

    from cuecard.adapters.pydantic_models import framework_name

    try:
        return infer_model(framework_name(name))
    except (UserError, ImportError, ValueError) as error:
        hint = "a pydantic-ai model name, such as anthropic:claude-opus-4-8, with its package installed and its key set"
        raise InputError(Problem("wrong-model", f"`{name}`: {error}", hint, "--model")) from None


def _emitter(*, json: bool, manifests: Path | None, svg: Path | None) -> Emit:
    from rich.console import Console

    from cuecard.cli.run.lines import manifest_writer, print_line, together
    from cuecard.cli.run.view import View, picture_writer

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
        data.mkdir(parents=True, exist_ok=True)
        yield data.resolve()


def _ask() -> str | None:
    """What the user types; None at the end of it. Ctrl-C ends the typing, not the loop that the server needs."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return input("> ")
    except (EOFError, KeyboardInterrupt):
        print()
        return None
    finally:
        signal.signal(signal.SIGINT, handler)
