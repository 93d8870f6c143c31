"""One step of an agent from command-line options, as commands show it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cuecard.agent import build_agent
from cuecard.agent.checks.tool_texts import definitions_in
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.turn_file import TurnFile, to_turn
from cuecard.engine import Engine
from cuecard.errors import InputError, Problem, SpecError, did_you_mean
from cuecard.files.cache import cache_at
from cuecard.files.clock import utc_now
from cuecard.files.content import find_content
from cuecard.files.folder import read_agent, read_imported
from cuecard.files.host_code import helper_loader
from cuecard.files.rankers.choice import SearchWish
from cuecard.files.settings import read_settings
from cuecard.files.tokens import bundled_counter, kept_counter
from cuecard.model import Call, DeliveryWish, Host, Json, Step, ToolResult
from cuecard.model.argument_problems import refuse
from cuecard.pipeline.inputs import wrong_inputs
from cuecard.workbench.played import PlayedTurn, past_results, placing, read_single, told_results


def open_engine(
    agent: Path, delivery: DeliveryWish | None = None, *, allow_code: bool = False, figures: bool = False
) -> Engine:
    """The agent's engine; options override the environment, which overrides the agent file.

    Where a prompt is made, its tokens are counted, since budgets decide what it contains. Only where `figures` are all
    that is shown of it, stored counts do.
    """
    settings, path = read_settings(), find_content(agent)
    made = build_agent(read_agent(path), load=helper_loader(allow_code=allow_code))
    search = SearchWish(None, allow_code, settings.cache_folder).open(made.ranker)
    encoding = made.spec.tokens.encoding
    count = kept_counter(encoding, cache_at(settings.cache_folder)) if figures else bundled_counter(encoding)
    return Engine(made, delivery or settings.delivery or made.spec.delivery, count, utc_now, settings.salt, "", search)


def known_definitions(agent: Path) -> dict[str, str]:
    """The definitions of tools, as JSON by name, that `cuecard tools import` keeps beside their entries."""
    path = find_content(agent)
    imported = read_imported(path, read_agent(path))
    return dict(each for source in imported for each in definitions_in(source).items())


def step_from(engine: Engine, *, discovered: str, values: Sequence[str], turn: Path | None) -> Step:
    """The step that the options describe.

    Raises:
        SpecError: when the turn file is wrong.
        InputError: when an input or a tool name is.
    """
    return call_from(engine, discovered=discovered, values=values, turn=turn)[1]


def call_from(
    engine: Engine, *, discovered: str, values: Sequence[str], turn: Path | None, host: Host | None = None
) -> tuple[Call, Step]:
    """The call that the options describe, and its step, for this kind of host if one is given; errors are those of
    `step_from`.
    """
    played = played_from(engine, discovered=discovered, values=values, turn=turn, host=host)
    return played.call, played.step


def played_from(
    engine: Engine, *, discovered: str, values: Sequence[str], turn: Path | None, host: Host | None = None
) -> PlayedTurn:
    """The same with the results of the turn file."""
    document, file = read_single(turn) if turn else (None, TurnFile())
    inputs = assignments(engine, values)
    with placing(document, elsewhere=inputs):
        given = to_turn(file, {**file.inputs, **inputs})
        call = engine.prepare_call(replace(given, host=host) if host else given)
        past = past_results(engine, file, call)
        step = engine.prepare_step(call, [*past.results, *_as_if_found(engine, discovered)])
    return PlayedTurn(call, step, past, told_results(engine, past.results))


def assignments(engine: Engine, texts: Sequence[str]) -> dict[str, Json]:
    """Inputs from `name=value` texts, each read as the type that the agent file declares.

    Raises:
        InputError: when a text is not an assignment, or its value is none that the input may have.
    """
    inputs = dict(_assignment(engine, text) for text in texts)
    refuse(list(wrong_inputs(inputs, engine.inputs, "--set")))
    return inputs


def _assignment(engine: Engine, text: str) -> tuple[str, Json]:
    name, equals, value = text.partition("=")
    if not equals:
        raise InputError(Problem("wrong-option", f"`--set {text}` has no `=`", "write --set name=value", "--set"))
    spec = engine.inputs.get(name)
    return name, value if spec is None else _convert(name, value, spec.type)


def _convert(name: str, value: str, kind: str) -> Json:
    if kind == "string":
        return value
    try:
        parsed: Any = read_yaml(f"value: {value}", "--set").value["value"]
    except SpecError:
        raise InputError(Problem("wrong-option", f"`{name}` is not a {kind}", "write it as in YAML", "--set")) from None
    return parsed


def _as_if_found(engine: Engine, discovered: str) -> list[ToolResult]:
    names = [name for name in (part.strip() for part in discovered.split(",")) if name]
    unknown = [name for name in names if name not in engine.tools]
    if unknown:
        problems = [(n, did_you_mean(n, engine.tools)) for n in unknown]
        raise InputError(
            Problem("unknown-tool", f"`{n}` is not a tool of this agent", h, "--discovered") for n, h in problems
        )
    return [ToolResult(engine.search_tool, {"tools": names}, "search-1")] if names else []


def unknown_tool(name: str, engine: Engine, where: str) -> Problem:
    """The problem of an unknown tool name."""
    return Problem("unknown-tool", f"`{name}` is not a tool of this agent", did_you_mean(name, engine.tools), where)
