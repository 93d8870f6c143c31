"""OpenAI Agents SDK: an agent gets its prompt, its tools of the moment, and the search tool.

    card = Cuecard(Engine.open("prompts/cms/agent.yaml"))
    agent = Agent("cms", model="gpt-5.4", tools=card.tools([cms_createPage]))
    result = await Runner.run(agent, "Hello", **card.options(Turn()))

The card is shared by all runs; what belongs to one of them travels in its context.
"""

from __future__ import annotations

import asyncio
import copy
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypedDict
from weakref import WeakKeyDictionary

from cuecard.adapters.clients import needs

with needs("openai-agents", "openai-agents", __name__):
    from agents import (
        FunctionTool,
        ModelSettings,
        RunConfig,
        RunContextWrapper,
        Tool,
        ToolErrorFormatterArgs,
        ToolGuardrailFunctionOutput,
        ToolInputGuardrail,
        ToolInputGuardrailData,
        ToolOutputGuardrail,
        ToolOutputGuardrailData,
        ToolOutputText,
        function_tool,
    )
    from agents.agent import AgentBase
    from agents.run_config import CallModelData, ModelInputData
    from agents.tool import (
        ToolErrorFunction,
        default_tool_error_function,
        default_tool_timeout_error_message,
        resolve_function_tool_failure_error_function,
        set_function_tool_failure_error_function,
    )
    from agents.tool_context import ToolContext
from cuecard.adapters.conversations import check_own, made_by
from cuecard.adapters.function_tools import search_card
from cuecard.adapters.host import AnyEngine, EngineDoor, OnCall, OnStep, ToolErrors, told_error
from cuecard.adapters.openai_agents.items import user_words
from cuecard.adapters.openai_agents.run import Run as Run  # what pages import from here
from cuecard.adapters.openai_agents.run import RunListener, TurnSource, reachable
from cuecard.conversation import Conversation
from cuecard.errors import CuecardError, InputError, Problem
from cuecard.model import Turn
from cuecard.model.boundary import check_fields, checked
from cuecard.pipeline.run import limits_of

Find = Callable[[Any], Run | None]
"""Finds the run in the context that a host passes to the runner."""


class RunnerArguments(TypedDict):
    """What the runner is passed for one run."""

    context: Run
    run_config: RunConfig


def run_in(context: Any) -> Run | None:
    """The run that is the context itself, or its field or key `cuecard`."""
    held = context.get("cuecard") if isinstance(context, Mapping) else getattr(context, "cuecard", context)
    return held if isinstance(held, Run) else None


def _search_error(context: RunContextWrapper[Any], error: Exception) -> str:
    """What the model reads of arguments that do not fit; what is wrong with the engine is the host's."""
    if isinstance(error, CuecardError):
        raise error
    return default_tool_error_function(context, error)


def _timed_out(tool: str, seconds: float) -> ToolErrorFunction:
    return lambda _, __: default_tool_timeout_error_message(tool_name=tool, timeout_seconds=seconds)


@dataclass(frozen=True)
class Cuecard:
    """The prompt engine for agents of the OpenAI Agents SDK: those whose tools come from `tools`.

    Under `rewrite` the instructions are made again for each step, and only active tools are enabled. Under `append` and
    `frozen` instructions and tools stay byte for byte the same; each block of instructions is a message after the
    results it belongs to, in the role that reaches the model there, and a call of an inactive tool is refused.

    Attributes:
        engine: the prompt engine, or a watcher or `Pins`, which give each conversation its engine.
        find: finds the run in a host's own context; by default the context itself, or its field or key `cuecard`.
        on_call: called with every prepared call.
        on_step: called with every step before its request is sent.
        handle_tool_errors: what the model reads of an exception of a tool that has no `failure_error_function` of its
            own: its type (True), a text, or what a function makes of it. By default the SDK does what it does without
            the card: its own text where the tool was made by `function_tool`, and else the run ends.
    """

    engine: AnyEngine
    find: Find = run_in
    on_call: OnCall | None = None
    on_step: OnStep | None = None
    handle_tool_errors: ToolErrors = False
    _door: EngineDoor = field(init=False, repr=False)
    _search: FunctionTool = field(init=False, repr=False)
    _ours: dict[int, Tool] = field(default_factory=dict, init=False, repr=False)
    _conditions: dict[int, Any] = field(default_factory=dict, init=False, repr=False)
    _listed: WeakKeyDictionary[Conversation, set[str]] = field(
        default_factory=WeakKeyDictionary, init=False, repr=False
    )
    _given: WeakKeyDictionary[Conversation, dict[str, Any]] = field(
        default_factory=WeakKeyDictionary, init=False, repr=False
    )

    def __post_init__(self) -> None:
        check_fields(self, "engine", "find", "on_call", "on_step", "handle_tool_errors")
        object.__setattr__(self, "_door", EngineDoor(self.engine))
        object.__setattr__(self, "_search", self._search_tool())

    def tools(self, tools: Iterable[Tool] = ()) -> list[Tool]:
        """The tools for an agent: the search tool first, then copies of these that are refused while not active.

        Where one of them has the name of the search tool, it takes its place. Function tools that the catalogue does
        not know, and tools of other kinds, are the host's own and always there.
        """
        watched = [self._watched(tool) for tool in tools]
        own = any(tool.name == self._search.name for tool in watched)
        given = watched if own else [self._search, *watched]
        self._ours.update({id(tool): tool for tool in given})
        return given

    def options(
        self,
        turn: TurnSource | None = None,
        conversation: Conversation | None = None,
        *,
        config: RunConfig | None = None,
        kept: bool = False,
    ) -> RunnerArguments:
        """What the runner needs for one user message: `Runner.run(agent, "Hello", **card.options(turn))`.

        A host with a context of its own passes `run` in it instead, and `config` beside it.

        Args:
            turn: what the host knows about it; the model that answers and the tools of the agent need not be named. A
                function is called for the run, and again for its later requests where the agent file declares inputs
                with `tier: step`: only those are taken from it then.
            conversation: the one that the run belongs to; without one, each run begins a conversation.
            config: the host's own settings.
            kept: whether the provider keeps the history; noticed where the runner is passed `previous_response_id`,
                `conversation_id` or `auto_previous_response_id`. The first request of an agent with texts of one turn
                is then refused, since nothing can be taken back.

        Raises:
            InputError: with each argument that is wrong.
        """
        run = self.run(turn, conversation, config=config, kept=kept)
        return {"context": run, "run_config": self._config(config, turn if isinstance(turn, Turn) else Turn())}

    @checked
    def run(
        self,
        turn: TurnSource | None = None,
        conversation: Conversation | None = None,
        *,
        config: RunConfig | None = None,
        resumed: bool = False,
        kept: bool = False,
    ) -> Run:
        """What belongs to one run, for its context.

        Args:
            turn: as for `options`.
            conversation: likewise.
            config: likewise; read for the model that it names.
            resumed: whether the run goes on after an interruption, with no new message of the user.
            kept: as for `options`.

        Raises:
            InputError: with each argument that is wrong, when the conversation is of another agent, or when a run is
                resumed in a conversation without a call.
        """
        turn = Turn() if turn is None else turn
        running = conversation.call if resumed and conversation else None
        engine = self._door.choose(previous=conversation.call if conversation else None, call=running).engine
        chat = conversation or engine.conversation()
        check_own(chat.call, engine)
        if resumed and chat.call is None:
            missing = "the conversation has no user message yet, so there is no run to resume"
            raise InputError(Problem("no-call", missing, "pass the conversation of the run", "conversation"))
        told = RunListener(self.on_call, self.on_step)
        run = Run(engine, chat, turn, config or RunConfig(), told, self._serves, resumed=resumed, kept=kept)
        run.door = self._door
        run.given = self._given.setdefault(chat, run.given)
        run.listed = self._listed.setdefault(chat, run.listed)
        if resumed and chat.call and made_by(chat.call, engine):
            engine.take_over(chat)
            run.call, run.step = chat.call, chat.step()
        return run

    def config(self, config: RunConfig | None = None) -> RunConfig:
        """Settings of a run by which its requests go through this card, over those of the host.

        Where `run.force_first` forces the first tool, these are the settings that do it, unless the host has its own.
        """
        return self._config(config, Turn())

    def _config(self, config: RunConfig | None, turn: Turn) -> RunConfig:
        own, limits = config or RunConfig(), limits_of(self._door.current.agent.spec.run, turn.run)
        settings = own.model_settings
        if limits.force_first and not (settings and settings.tool_choice):  # the SDK resets it once a tool was called
            forced = ModelSettings(tool_choice=limits.first_tool)
            settings = settings.resolve(forced) if settings else forced
        return replace(
            own,
            model_settings=settings,
            tool_not_found_behavior="return_error_to_model",
            call_model_input_filter=partial(self._filtered, own.call_model_input_filter),
            tool_error_formatter=partial(self._error, own.tool_error_formatter),
        )

    def _filtered(self, own: Any, data: CallModelData[Any]) -> ModelInputData | Awaitable[ModelInputData]:
        if own is None:
            return self._prepared(data, data.model_data)
        return self._after(own, data)

    async def _after(self, own: Any, data: CallModelData[Any]) -> ModelInputData:
        first = own(data)
        return self._prepared(data, await first if inspect.isawaitable(first) else first)

    def _prepared(self, data: CallModelData[Any], items: ModelInputData) -> ModelInputData:
        if not self._serves(data.agent):
            return items
        return self._running(data.context).prepared(data.agent, items)

    def _error(self, own: Any, error: ToolErrorFormatterArgs[Any]) -> Any:
        if run := self.find(error.run_context.context):
            run.hears_calls()
            run.failed.add(error.call_id)
            run.names[error.call_id] = error.tool_name
        return own(error) if own else None

    def _serves(self, agent: AgentBase) -> bool:
        return any(id(tool) in self._ours for tool in agent.tools)

    def _running(self, context: Any) -> Run:
        run = self.find(context)
        if run is None or run.door is not self._door:
            told = "the run's context does not contain this card"
            raise InputError(Problem("wrong-argument", told, "pass `**card.options()` to the runner", "context"))
        return run

    def _watched(self, tool: Tool) -> Tool:
        if not isinstance(tool, FunctionTool):
            return tool
        watched = copy.copy(tool)
        before: ToolInputGuardrail[Any] = ToolInputGuardrail(self._refused, "cuecard")
        after: ToolOutputGuardrail[Any] = ToolOutputGuardrail(self._noted, "cuecard")
        watched.tool_input_guardrails = [before, *(tool.tool_input_guardrails or [])]
        watched.tool_output_guardrails = [after, *(tool.tool_output_guardrails or [])]
        self._mark_failures(tool, watched)
        if tool.needs_approval:
            watched.needs_approval = partial(self._asks, tool)
        if tool.is_enabled is not False:
            self._conditions[id(watched)] = tool.is_enabled
            watched.is_enabled = partial(self._enabled, watched)
        return watched

    def _mark_failures(self, tool: FunctionTool, watched: FunctionTool) -> None:
        """See what becomes of an exception in a copy of a tool: whoever makes a result of it, the call has failed.

        The SDK's own text needs no mark here: the runner asks `tool_error_formatter` about it.
        """
        own = resolve_function_tool_failure_error_function(tool)
        handles = self.handle_tool_errors is not False
        if own is default_tool_error_function:
            own = None
        elif own is None and not handles:
            return
        if own or handles:
            set_function_tool_failure_error_function(watched, partial(self._told, own))
        if handles and not hasattr(tool.on_invoke_tool, "__agents_bind_function_tool__"):
            watched.on_invoke_tool = partial(self._invoked, tool.on_invoke_tool)
        if (seconds := tool.timeout_seconds) is not None and tool.output_json_schema is None:
            late = tool.timeout_error_function or _timed_out(tool.name, seconds)
            watched.timeout_error_function = partial(self._told, late)

    async def _invoked(self, invoke: Callable[[Any, str], Awaitable[Any]], context: ToolContext[Any], args: str) -> Any:
        """The result of a tool that was not made by `function_tool`, of whose exceptions the SDK makes nothing."""
        try:
            return await invoke(context, args)
        except Exception as error:
            told = await self._told(None, context, error)
            if told is None:
                raise
            return told

    async def _told(self, own: ToolErrorFunction | None, context: RunContextWrapper[Any], error: Exception) -> Any:
        """What the model reads of a call that has failed; None where the run ends."""
        if isinstance(context, ToolContext):
            self._running(context.context).failed.add(context.tool_call_id)
        told = own(context, error) if own else told_error(error, self.handle_tool_errors)
        return await told if inspect.isawaitable(told) else told

    async def _enabled(self, tool: FunctionTool, context: RunContextWrapper[Any], agent: AgentBase) -> bool:
        """Whether the next request has a tool: asked before each, so that the host may change its mind."""
        run = await self._looked(context, agent)
        run.on[id(tool)] = now = await _is_on(self._conditions[id(tool)], context, agent)
        return run.shows(agent, tool.name, is_on=now) or tool.name in run.answering

    async def _looked(self, context: RunContextWrapper[Any], agent: AgentBase) -> Run:
        """The run, which knows before each request what is enabled of the tools of all its agents: the SDK asks about
        those of one of them, and about all of these at once.
        """
        run = self._running(context.context)
        if run.call is None:
            run.words = user_words(context.turn_input)
        run.looking = run.looking or asyncio.ensure_future(self._look(run, context, agent))
        await run.looking
        return run

    async def _look(self, run: Run, context: RunContextWrapper[Any], agent: AgentBase) -> None:
        for each in reachable(agent):
            for tool in each.tools if run.call is None or each is not agent else ():
                if id(tool) in self._conditions:
                    run.on[id(tool)] = await _is_on(self._conditions[id(tool)], context, each)

    async def _asks(self, tool: FunctionTool, context: RunContextWrapper[Any], args: dict[str, Any], call: str) -> bool:
        """Whether a person is asked to approve a call: not one that is refused."""
        if self._running(context.context).refusal(tool.name, call) is not None:
            return False
        own = tool.needs_approval
        return bool(await own(context, args, call) if callable(own) else own)

    def _refused(self, data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
        context = data.context
        run = self._running(context.context)
        run.hears_calls()
        gone = any(each.name == context.tool_name and run.on.get(id(each)) is False for each in data.agent.tools)
        refusal = run.refusal(context.tool_name, context.tool_call_id, gone=gone)
        if refusal is None:
            return ToolGuardrailFunctionOutput.allow()
        return ToolGuardrailFunctionOutput.reject_content(refusal)

    def _noted(self, data: ToolOutputGuardrailData) -> ToolGuardrailFunctionOutput:
        """The SDK makes text of what a tool gave by `str`: what it gave is noted before, also where that is a text."""
        if not isinstance(data.output, ToolOutputText):
            self._running(data.context.context).note(data.context.tool_call_id, data.output)
        return ToolGuardrailFunctionOutput.allow()

    def _search_tool(self) -> FunctionTool:
        engine = self._door.current
        words = engine.words.search

        async def search(context: ToolContext[Any], query: str, limit: int | None = None) -> str:
            return self._running(context.context).search(query, limit, context.tool_call_id, context.agent)

        described = {"query": words.query_description, "limit": words.limit_description}
        tool = function_tool(
            search,
            name_override=engine.search_tool,
            description_override=search_card(engine).description,
            strict_mode=False,
            failure_error_function=partial(self._told, _search_error),
        )
        for name, schema in tool.params_json_schema["properties"].items():
            schema["description"] = described[name]
        tool.tool_input_guardrails = [ToolInputGuardrail(self._refused, "cuecard")]
        tool.is_enabled = self._begun
        return tool

    async def _begun(self, context: RunContextWrapper[Any], agent: AgentBase) -> bool:
        """The SDK asks before every request of an agent that has the search tool: a run without a prompt shows."""
        run = await self._looked(context, agent)
        return run.begin(agent).tools.offers_search


async def _is_on(condition: Any, context: RunContextWrapper[Any], agent: AgentBase) -> bool:
    own = condition(context, agent) if callable(condition) else condition
    return bool(await own if inspect.isawaitable(own) else own)
