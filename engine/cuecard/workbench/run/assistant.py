"""The runnable assistant and its model."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, TypeAlias

from pydantic_ai import Agent, Tool, ToolOutput
from pydantic_ai.exceptions import ToolFailed, UserError
from pydantic_ai.models import Model, infer_model

from cuecard.adapters.host import OnCall, OnStep
from cuecard.adapters.pydantic_ai import Cuecard
from cuecard.adapters.pydantic_ai.models import framework_name
from cuecard.config.words_spec import Words
from cuecard.conversation import Conversation
from cuecard.engine import Engine
from cuecard.errors import InputError, Problem
from cuecard.model import Json, RunLimits, ToolResult, Turn
from cuecard.pipeline.results import told_result
from cuecard.pipeline.run import NO_LIMITS

CallTool: TypeAlias = Callable[[str, Mapping[str, Json]], Awaitable[ToolResult]]
"""Calls a tool: its name, its arguments. What the tool refuses is a result with `is_error`."""

FINAL_ANSWER, ACKNOWLEDGE = "final_answer", "acknowledge"
"""The tool that ends a turn, and the tool that says what is about to happen. The search tool is the third."""


def make_assistant(
    engine: Engine,
    model: Model | str,
    tools: Iterable[str],
    call_tool: CallTool,
    *,
    conversation: Conversation | None = None,
    limits: RunLimits = NO_LIMITS,
    on_call: OnCall | None = None,
    on_step: OnStep | None = None,
) -> Agent[Turn, str]:
    """An agent that takes the turn of each run as its `deps`, and answers with the text for the user.

    Args:
        engine: knows the tools: their descriptions, input schemas and instructions.
        model: a pydantic-ai model, or its name.
        tools: the names of the server's tools, all of them in the engine's catalogue.
        call_tool: calls them.
        conversation: the conversation that the runs belong to; without one, each run begins its own.
        limits: those of its runs, which pydantic-ai has to know; the turns have them, too.
        on_call: told of the prepared call.
        on_step: called with every step.

    Raises:
        InputError: with every name in `tools` that the engine does not know, and all else that `Cuecard` refuses.
    """
    words, tools, retries = engine.words.tools, _known(tools, engine), limits.retries
    said = _said(engine, ACKNOWLEDGE) or words.acknowledge
    own = [Tool(acknowledge, description=said)] if ACKNOWLEDGE in engine.tools else []
    answer = ToolOutput(_answer(words), name=FINAL_ANSWER, description=_said(engine, FINAL_ANSWER))
    answers = [answer, str] if FINAL_ANSWER in engine.tools else str
    return Agent(
        model,
        deps_type=Turn,
        # A model that answers in plain text has answered: only a tool call carries the turn on.
        output_type=answers,
        tools=[*own, *(_server_tool(engine, name, call_tool) for name in tools)],
        retries=2 if retries is None else retries,
        capabilities=[
            Cuecard(
                engine=engine,
                turn=lambda ctx: ctx.deps,
                handle_tool_errors=True,
                conversation=conversation,
                on_call=on_call,
                on_step=on_step,
            )
        ],
    )


def _known(tools: Iterable[str], engine: Engine) -> tuple[str, ...]:
    names = tuple(tools)
    hint = "pass the server's tool descriptions to the engine: `engine.with_tools(cards)`"
    problems = [
        Problem("unknown-tool", f"`{name}` is not a tool of this agent", hint, f"tools[{place}]")
        for place, name in enumerate(names)
        if name not in engine.tools
    ]
    if problems:
        raise InputError(problems)
    return names


def acknowledge(message: str) -> dict[str, Json]:
    """Tell the user in one sentence what is about to happen."""
    return {"acknowledged": message}


def _answer(words: Words) -> Callable[[str], str]:
    """The tool that ends a turn: the framework shows its docstring behind what a tool file says of it."""

    def final_answer(answer: str) -> str:
        return answer

    final_answer.__doc__ = words.final_answer
    return final_answer


def _said(engine: Engine, name: str) -> str | None:
    card = engine.tools.get(name)
    return (card.description if card else "") or None


def _server_tool(engine: Engine, name: str, call_tool: CallTool) -> Tool[Turn]:
    card = engine.tools[name]

    async def call(**arguments: Any) -> Json:
        answer = await call_tool(name, arguments)
        told, _ = told_result(engine.agent, answer.result)  # nobody knows here whether the model sees pictures
        if answer.is_error:
            raise ToolFailed(_as_text(told))
        return told

    return Tool.from_schema(call, card.name, card.description, dict(card.input_schema))


def _as_text(result: Json) -> str:
    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)


_EXTRA = re.compile(r"pydantic-ai-slim\[([\w-]+)\]")
_VARIABLE = re.compile(r"`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)`")
_EXAMPLE = "such as `anthropic:claude-opus-4-8`"


def chosen_model(name: str | None, option: str = "--model") -> Model:
    """The pydantic-ai model with this name.

    Args:
        name: `provider:model`; the provider may be left out for models that the models file knows.
        option: its name in errors.

    Raises:
        InputError: when the name is empty, there is no such model, a package is missing, or its key is not set.
    """
    if not name:
        hint = f"name one, {_EXAMPLE}, or set CUECARD_MODEL; `--model test` works without any service"
        raise InputError(Problem("no-model", "a chat needs a model", hint, option))
    if name == "scripted":
        hint = f"an agent file has no script: name a model, {_EXAMPLE}"
        raise InputError(
            Problem("wrong-model", "`scripted` only plays the scenarios of an assistant file", hint, option)
        )
    try:
        return infer_model(framework_name(name))
    except ImportError as error:
        extra = _EXTRA.search(str(error))
        hint = f'pip install "pydantic-ai-slim[{extra[1]}]"' if extra else "install the package of this provider"
        raise InputError(
            Problem("not-installed", f"`{name}`: the package of this provider is not installed", hint, option)
        ) from None
    except UserError as error:
        raise InputError(_refused(name, str(error), option)) from None
    except Exception as error:  # the providers' packages raise their own errors
        message = f"`{name}` cannot be used: {type(error).__name__}: {error}"
        raise InputError(
            Problem("wrong-model", message, "see the documentation of the provider's package", option)
        ) from error


def _refused(name: str, told: str, option: str) -> Problem:
    said = told.partition(" To try Pydantic AI")[0].rstrip(".")
    variable = _VARIABLE.search(said)
    if variable:
        message = f"`{name}` needs the environment variable {variable[1]}"
        return Problem("no-key", message, f"set {variable[1]} and run the command again", option)
    if said.startswith("Unknown model"):
        meant = re.search(r"Did you mean '([^']+)'", said)
        hint = f"did you mean `{meant[1]}`?" if meant else f"write `provider:model` as in pydantic-ai, {_EXAMPLE}"
        return Problem("wrong-model", f"`{name}`: there is no such model", hint, option)
    return Problem("wrong-model", f"`{name}` cannot be used: {said}", "see the provider's documentation", option)
