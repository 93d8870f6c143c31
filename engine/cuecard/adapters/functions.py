"""Functions of the host as the tools of an agent: what a loop of one's own needs beside the client of a provider."""

from __future__ import annotations

import inspect
import json
from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping
from copy import copy
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

from pydantic import BaseModel, ValidationError
from pydantic_core import ArgsKwargs

from cuecard.adapters.bodies import Body, Form
from cuecard.adapters.function_tools import AnyFunction, definitions, function_tools, plain_value, search_card
from cuecard.adapters.host import AnyEngine, EngineChoice, EngineDoor, HostTool, ToolErrors, error_text, refused_limit
from cuecard.config.values import fill
from cuecard.conversation import Conversation
from cuecard.engine import Engine
from cuecard.errors import InputError, Problem
from cuecard.model import Call, ConversationState, Json, Step, ToolResult, Turn
from cuecard.model.argument_problems import refuse
from cuecard.model.boundary import taken
from cuecard.template.guards.characters import without_controls

_KEPT = 16
"""Of how many engines those with the functions are kept."""


class Functions:
    """Functions as the tools of an agent, and the engine that knows them.

    A function's name, docstring and annotations become the name, description and schema of its tool, unless the agent's
    files say otherwise. Arguments are checked against the annotations before each call.
    """

    def __init__(
        self,
        engine: AnyEngine,
        functions: Iterable[AnyFunction] | Mapping[str, AnyFunction],
        *,
        handle_tool_errors: ToolErrors = True,
    ) -> None:
        """Take functions, or functions by the names that their tools have.

        Args:
            engine: the prompt engine, or a watcher or `Pins`: `serve` then gives each message its engine.
            functions: the functions.
            handle_tool_errors: what the model reads of an exception of a function: its type, a text, or what a function
                makes of it. With False, `answer` raises it.

        Raises:
            InputError: with everything that is wrong in an argument, each function with it that cannot be a tool.
        """
        problems: list[Problem] = []
        taken(AnyEngine, engine, "engine", problems)
        self._adapters, cards = function_tools(functions, problems)
        self._errors = taken(ToolErrors, handle_tool_errors, "handle_tool_errors", problems)
        refuse(problems)
        self._cards, self._door = cards, EngineDoor(engine)
        self._made: OrderedDict[int, tuple[Engine, Engine]] = OrderedDict()
        self._asked: WeakKeyDictionary[Conversation, tuple[Step, set[str]]] = WeakKeyDictionary()
        self._chosen = EngineChoice(self._with_tools(self._door.current), lambda turn: turn)

    @property
    def engine(self) -> Engine:
        """The engine, which knows the functions as tools."""
        return self._chosen.engine

    @property
    def names(self) -> tuple[str, ...]:
        """The tools that there are, the search tool among them unless every tool is a core tool.

        Pass them as `Turn.tools`, so that no other tool of the agent's files is found.
        """
        search = self.engine.search_tool
        own = (search,) if search in self.engine.tools else ()
        return (*own, *(name for name in self._adapters if name != search))

    def serve(self, *, previous: Call | None = None, call: Call | None = None) -> Functions:
        """The same functions on the engine that serves a message of a conversation, or its next step, as `Pins.serve`.

        Args:
            previous: the conversation's previous call; None for a new conversation.
            call: the running call; None at its start.
        """
        tools = [HostTool(name) for name in self._adapters]
        chosen, served = self._door.choose(previous=previous, call=call, tools=tools), copy(self)
        vars(served).update(_chosen=replace(chosen, engine=self._with_tools(chosen.engine)))
        return served

    def conversation(self, state: ConversationState | None = None) -> Conversation:
        """`Engine.conversation` of that engine."""
        return self.engine.conversation(state)

    def turn(self, turn: Turn | None = None) -> Turn:
        """The turn with these tools, if it names none, and what the manifest records of the choice of the engine."""
        said = self._chosen.turn(turn or Turn())
        return replace(said, tools=self.names) if said.tools is None else said

    def _with_tools(self, engine: Engine) -> Engine:
        """The engine with the functions; the last ones are kept, since each has an index of its own."""
        if kept := self._made.get(id(engine)):
            return kept[1]
        made = engine.with_tools(self._cards)
        if made.agent.searched and engine.search_tool not in self._adapters:
            made = engine.with_tools([search_card(engine), *self._cards])
        self._made[id(engine)] = engine, made
        while len(self._made) > _KEPT:
            self._made.popitem(last=False)
        return made

    def definitions(self, form: Form) -> list[Body]:
        """The tool definitions in a provider's form: `anthropic`, `bedrock`, `chat`, `gemini` or `responses`.

        Raises:
            InputError: when there is no such form.
        """
        return definitions([self.engine.tools[name] for name in self.names], form)

    def answer(
        self,
        chat: Conversation,
        step: Step,
        name: str,
        arguments: str | Mapping[str, Json],
        call_id: str,
        *,
        beside: Collection[str] = (),
    ) -> ToolResult:
        """The result of a tool call, or an error that the model can read.

        Calls that the step refuses and arguments that do not fit become errors for the model, and so do exceptions of
        the function, of which it reads the type alone unless `handle_tool_errors` says otherwise.

        Args:
            chat: the conversation.
            step: the step of the request that the model has answered.
            name: the tool that the model calls.
            arguments: the arguments, as JSON text or already parsed.
            call_id: the id of the call.
            beside: the tools that the model calls in the same answer: where `run.first_tool` is among them, no other is
                too early. Calls that were answered before with this step are known.

        Raises:
            InputError: with everything that is wrong in an argument, or when the function has to be awaited.
        """
        self._check(chat, step)
        named = without_controls(name or "?") or "?"  # the conversation keeps the name, whatever the model has written
        try:
            value = self._call(chat, step, name or "?", arguments, beside)
            if not inspect.isawaitable(value):
                return ToolResult(named, plain_value(value), call_id, arguments=arguments)
        except Exception as error:  # noqa: BLE001 - `_told` raises it again where it is the host's
            return ToolResult(named, self._told(name, error), call_id, is_error=True, arguments=arguments)
        if inspect.iscoroutine(value):
            value.close()  # or Python would warn of it
        hint = "await `functions.aanswer` instead"
        raise InputError(Problem("wrong-argument", f"`{name}` is asynchronous", hint, "name"))

    async def aanswer(
        self,
        chat: Conversation,
        step: Step,
        name: str,
        arguments: str | Mapping[str, Json],
        call_id: str,
        *,
        beside: Collection[str] = (),
    ) -> ToolResult:
        """The same, where some functions are asynchronous; cancellation passes through.

        Raises:
            InputError: with everything that is wrong in an argument.
        """
        self._check(chat, step)
        named = without_controls(name or "?") or "?"  # the conversation keeps the name, whatever the model has written
        try:
            value = self._call(chat, step, name or "?", arguments, beside)
            said = plain_value(await value if inspect.isawaitable(value) else value)
            return ToolResult(named, said, call_id, arguments=arguments)
        except Exception as error:  # noqa: BLE001 - as in `answer`
            return ToolResult(named, self._told(name, error), call_id, is_error=True, arguments=arguments)

    def _check(self, chat: Conversation, step: Step) -> None:
        problems: list[Problem] = []
        taken(Conversation, chat, "chat", problems)
        taken(Step, step, "step", problems)
        refuse(problems)

    def _call(
        self, chat: Conversation, step: Step, name: str, arguments: str | Mapping[str, Json], beside: Collection[str]
    ) -> Any:
        last, asked = self._asked.get(chat) or (step, set[str]())
        asked = {*asked, name} if last is step else {name}
        self._asked[chat] = step, asked  # whose answer holds these calls
        if refusal := step.refusal(name, {*beside, *asked}):
            raise _RefusedError(refusal)
        given = _read(arguments)
        if name in self._adapters:
            return self._adapters[name].validate_python(ArgsKwargs((), given))
        words = self.engine.words
        if name == self.engine.search_tool:
            return self._search(chat, given)
        told = {"tool": words.quoted(name), "search": words.quoted(self.engine.search_tool)}
        raise _RefusedError(fill(step.refusals.inactive, told))

    def _search(self, chat: Conversation, given: Mapping[str, Json]) -> Json:
        try:
            query = _Query.model_validate(given)
        except ValidationError as error:
            raise _RefusedError(_misfits(error)) from error
        try:
            return chat.search_tools(query.query, query.limit).to_json()
        except InputError as error:
            raise _RefusedError(refused_limit(error, query.limit, self.engine.words)) from error

    def _told(self, name: str, error: Exception) -> str:
        """What the model reads of an error.

        Raises:
            Exception: the same one, where it is the host's.
        """
        if isinstance(error, _RefusedError):
            return str(error)
        if isinstance(error, ValidationError) and error.title.startswith(_OF_ARGUMENTS):
            return _misfits(error)
        told = error_text(error, self._errors) if name in self._adapters else None
        if told is None:
            raise error
        return told


class _Query(BaseModel):
    """The arguments of the search tool."""

    query: str
    limit: int | None = None


class _RefusedError(Exception):
    """A call that no function answers; the message is what the model reads."""


_OF_ARGUMENTS = "call["
"""How pydantic entitles what is wrong with the arguments of a function, and nothing that the function itself raises."""


def _read(arguments: str | Mapping[str, Json]) -> dict[str, Json]:
    """The arguments of a call.

    Raises:
        _RefusedError: when the model has written something else than an object.
    """
    try:
        read = json.loads(arguments or "{}") if isinstance(arguments, str) else arguments
        return dict(read)
    except (ValueError, TypeError, RecursionError) as error:
        told = f"JSONDecodeError: {error}" if isinstance(error, json.JSONDecodeError) else "not an object"
        raise _RefusedError(f"arguments: {told}") from error


def _misfits(error: ValidationError) -> str:
    """What is wrong with arguments."""
    wrong = error.errors(include_url=False, include_context=False, include_input=False)
    return "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in wrong)
