"""Functions of the host as the tools of an agent: what a loop of one's own needs beside the client of a provider."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ArgsKwargs

from cuecard.adapters.bodies import Body, Form
from cuecard.adapters.function_tools import AnyFunction, definitions, function_tools, plain_value, search_card
from cuecard.catalogue.search import wrong_limit
from cuecard.config.values import fill
from cuecard.conversation import Conversation
from cuecard.engine import Engine
from cuecard.errors import InputError, Problem
from cuecard.model import Json, Step, ToolResult
from cuecard.model.argument_problems import refuse
from cuecard.model.boundary import taken
from cuecard.template.guards.characters import without_controls


class Functions:
    """Functions as the tools of an agent, and the engine that knows them.

    A function's name, docstring and annotations become the name, description and schema of its tool, unless the agent's
    files say otherwise. Arguments are checked against the annotations before each call.

    Attributes:
        engine: the engine, which knows the functions as tools.
        names: the tools that there are, the search tool among them unless every tool is a core tool. Pass them as
            `Turn.tools`, so that no other tool of the agent's files is found.
    """

    def __init__(self, engine: Engine, functions: Iterable[AnyFunction] | Mapping[str, AnyFunction]) -> None:
        """Take functions, or functions by the names that their tools have.

        Raises:
            InputError: with everything that is wrong in an argument, each function with it that cannot be a tool.
        """
        problems: list[Problem] = []
        taken(Engine, engine, "engine", problems)
        self._adapters, cards = function_tools(functions, problems)
        refuse(problems)
        self.engine, search = engine.with_tools(cards), engine.search_tool
        if self.engine.agent.searched and search not in self._adapters:
            self.engine = engine.with_tools([search_card(engine), *cards])
        own = (search,) if search in self.engine.tools else ()
        self.names = (*own, *(name for name in self._adapters if name != search))

    def definitions(self, form: Form) -> list[Body]:
        """The tool definitions in a provider's form: `anthropic`, `bedrock`, `chat`, `gemini` or `responses`.

        Raises:
            InputError: when there is no such form.
        """
        return definitions([self.engine.tools[name] for name in self.names], form)

    def answer(
        self, chat: Conversation, step: Step, name: str, arguments: str | Mapping[str, Json], call_id: str
    ) -> ToolResult:
        """The result of a tool call, or an error that the model can read.

        Calls of inactive tools, arguments that do not fit and exceptions of the function all become errors for the
        model, so they never end the loop.

        Args:
            chat: the conversation.
            step: the step of the request that the model has answered.
            name: the tool that the model calls.
            arguments: the arguments, as JSON text or already parsed.
            call_id: the id of the call.

        Raises:
            InputError: with everything that is wrong in an argument, or when the function has to be awaited.
        """
        self._check(chat, step)
        named = without_controls(name or "?") or "?"  # the conversation keeps the name, whatever the model has written
        try:
            said = plain_value(_ready(self._call(chat, step, name, arguments)))
            return ToolResult(named, said, call_id, arguments=arguments)
        except _AwaitedError:
            hint = "await `functions.aanswer` instead"
            raise InputError(Problem("wrong-argument", f"`{name}` is asynchronous", hint, "name")) from None
        except Exception as error:  # noqa: BLE001 - whatever a tool raises, the model has to hear of
            return ToolResult(named, _told(error), call_id, is_error=True, arguments=arguments)

    async def aanswer(
        self, chat: Conversation, step: Step, name: str, arguments: str | Mapping[str, Json], call_id: str
    ) -> ToolResult:
        """The same, where some functions are asynchronous; cancellation passes through.

        Raises:
            InputError: with everything that is wrong in an argument.
        """
        self._check(chat, step)
        named = without_controls(name or "?") or "?"  # the conversation keeps the name, whatever the model has written
        try:
            value = self._call(chat, step, name, arguments)
            said = plain_value(await value if inspect.isawaitable(value) else value)
            return ToolResult(named, said, call_id, arguments=arguments)
        except Exception as error:  # noqa: BLE001 - as in `answer`
            return ToolResult(named, _told(error), call_id, is_error=True, arguments=arguments)

    def _check(self, chat: Conversation, step: Step) -> None:
        problems: list[Problem] = []
        taken(Conversation, chat, "chat", problems)
        taken(Step, step, "step", problems)
        refuse(problems)

    def _call(self, chat: Conversation, step: Step, name: str, arguments: str | Mapping[str, Json]) -> Any:
        if refusal := step.refusal(name):
            raise _RefusedError(refusal)
        given = json.loads(arguments or "{}") if isinstance(arguments, str) else dict(arguments)
        if name in self._adapters:
            return self._adapters[name].validate_python(ArgsKwargs((), given))
        words = self.engine.words
        if name == self.engine.search_tool:
            return self._search(chat, _Query.model_validate(given))
        told = {"tool": words.quoted(name), "search": words.quoted(self.engine.search_tool)}
        raise _RefusedError(fill(words.tools.inactive, told))

    def _search(self, chat: Conversation, query: _Query) -> Json:
        try:
            return chat.search_tools(query.query, query.limit).to_json()
        except InputError as error:
            raise _RefusedError(wrong_limit(query.limit or 0, self.engine.words)) from error


class _Query(BaseModel):
    """The arguments of the search tool."""

    query: str
    limit: int | None = None


class _AwaitedError(Exception):
    """A function that has to be awaited."""


class _RefusedError(Exception):
    """A call that no function answers; the message is what the model reads."""


def _told(error: Exception) -> str:
    """What the model hears of an error."""
    if isinstance(error, _RefusedError):
        return str(error)
    if isinstance(error, ValidationError):
        wrong = error.errors(include_url=False, include_context=False, include_input=False)
        return "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in wrong)
    return f"{type(error).__name__}: {error}"


def _ready(value: Any) -> Any:
    """The value, unless it has to be awaited; a coroutine is closed then, or Python would warn of it."""
    if not inspect.isawaitable(value):
        return value
    if inspect.iscoroutine(value):
        value.close()
    raise _AwaitedError
