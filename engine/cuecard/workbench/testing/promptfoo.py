"""Prompts in promptfoo: a prompt function and a provider, for a Python file that `promptfooconfig.yaml` names.

That file is one line: `from cuecard.workbench.testing.promptfoo import call_api, prompt`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from cuecard.engine import Engine
from cuecard.errors import CuecardError, InputError, Problem
from cuecard.model import Step, Turn
from cuecard.workbench.price import dollars, find_profile, price_of_calls
from cuecard.workbench.testing.snapshot import section_texts
from cuecard.workbench.testing.turns import MOMENT, turns_of

_Given: TypeAlias = Mapping[str, Any]
"""Plain JSON, as passed by promptfoo."""


def prompt(context: _Given) -> list[dict[str, str]]:
    """A prompt function: the prompt of a turn as chat messages, for any provider of promptfoo.

    Args:
        context: `config.agent` is the agent; `vars.turn` a turn file, `vars.inputs` values that override those of the
            turn.

    Raises:
        CuecardError: when the agent or the turn is wrong; promptfoo shows it.
    """
    step = _step(context.get("config") or {}, context.get("vars") or {})
    # The host's messages in the turn are in `messages`, after the system prompt.
    told = [{"role": each.role, "content": str(each.content)} for each in step.messages if not each.tool_calls]
    messages = told or [{"role": "system", "content": step.system}]
    return [*messages, *({"role": "user", "content": block.text} for block in step.appended if not told)]


def call_api(_prompt: str, options: _Given, context: _Given) -> dict[str, Any]:
    """A provider that calls no model: its output is the prompt of a turn, with its tokens and cost.

    Args:
        _prompt: not used: the turn says what is rendered.
        options: `config.agent` is the agent; `config.model` and `config.price`, US dollars for a million input
            tokens, give a cost.
        context: `vars.turn` is a turn file, `vars.inputs` are values over those of the turn.
    """
    config = options.get("config") or {}
    try:
        step = _step(config, context.get("vars") or {})
        costs = _costs(config, step)
    except CuecardError as error:
        return {"error": str(error)}
    manifest = step.manifest
    texts = section_texts(step)
    return {
        "output": "\n".join(text for _, text in texts),
        "tokenUsage": {"total": manifest.total_tokens, "prompt": manifest.total_tokens, "completion": 0},
        "metadata": {
            "agent": manifest.configuration.agent,
            "sections": {record.id: record.tokens for record, text in texts if text.strip()},
            "active_tools": [*step.active_tools],
            "sha256": manifest.sha256,
        },
        **costs,
    }


def _step(config: _Given, given: _Given) -> Step:
    agent, turn = config.get("agent"), given.get("turn")
    inputs: Any = given.get("inputs") or {}
    if not isinstance(agent, str) or not isinstance(inputs, Mapping) or not isinstance(turn, str | None):
        hint = "write `config: {agent: PATH}` and `vars: {turn: PATH, inputs: {NAME: VALUE}}`"
        raise InputError(Problem("wrong-option", "the agent or the turn is missing or not a string", hint, "promptfoo"))
    # Promptfoo tells a provider, but not a prompt function, where its configuration is; there, paths start here.
    base = Path(config.get("basePath") or ".")
    engine = replace(Engine.open(base / agent), clock=lambda: MOMENT)
    if turn is None:
        chat = engine.conversation()
        chat.user(Turn(inputs=inputs))
        return chat.step([])
    *_, (_name, last) = turns_of(engine, base / turn, inputs)
    if isinstance(last, CuecardError):
        raise last
    return last.step


def _costs(config: _Given, step: Step) -> dict[str, float]:
    """The cost of the first call in US dollars; empty if model or price is unknown."""
    model, price = config.get("model"), config.get("price")
    if model is None or price is None:
        return {}
    if isinstance(price, bool) or not isinstance(price, int | float) or not isinstance(model, str):
        raise InputError(Problem("wrong-option", "`price` is not a number", "write `price: 2.5`", "promptfoo"))
    profile = find_profile(model)
    return {"cost": dollars(price_of_calls(step.manifest, profile).first, profile, price)}
