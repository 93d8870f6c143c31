"""pydantic-ai: one capability gives an agent its prompt, its tools of the moment, and the search tool.

    agent = Agent(model, tools=my_tools, capabilities=[Cuecard(engine=Engine.open("prompts/cms/agent.yaml"))])

The capability is shared by all runs and holds nothing of any of them: `for_run` gives each run a copy of its own.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Any, TypeAlias, cast
from weakref import WeakKeyDictionary

from typing_extensions import override

from cuecard.adapters.clients import needs

with needs("pydantic-ai-slim", "pydantic-ai", __name__):
    from pydantic_ai import RunContext
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.exceptions import ToolFailed
    from pydantic_ai.messages import InstructionPart, ToolCallPart
    from pydantic_ai.models import ModelRequestContext
    from pydantic_ai.settings import CacheSetting, ModelSettings, merge_model_settings
    from pydantic_ai.tools import ToolDefinition
    from pydantic_ai.toolsets import FunctionToolset

from cuecard.adapters.bodies import checked_limits, is_offered
from cuecard.adapters.conversations import answered_step, check_own, in_doubt, made_by
from cuecard.adapters.host import (
    AT_ONCE,
    AnyEngine,
    EngineChoice,
    EngineDoor,
    HostTool,
    OnCall,
    OnStep,
    ToolErrors,
    of_any_depth,
    refused_limit,
    told_error,
    with_words,
)
from cuecard.adapters.one_turn import inputs_now, refuse_kept_history, whole_system
from cuecard.adapters.pydantic_ai.messages import (
    announced,
    as_reminders,
    called_together,
    holds_all,
    joined_alike,
    last_blocks,
    place_appended,
    place_passing,
    place_reveals,
    tool_results,
    user_words,
    with_cache_points,
    with_results,
    without_blocks,
    without_ended_thinking,
    without_reveals,
)
from cuecard.adapters.pydantic_ai.models import (
    Showing,
    ToolList,
    adds_tools,
    checks_thinking,
    keeps_roles,
    reveals_tools,
    search_toolset,
    settings_for,
    shown_tools,
    with_model,
)
from cuecard.conversation import Conversation
from cuecard.engine import Engine
from cuecard.errors import InputError
from cuecard.model import Call, ConversationState, Json, Step, Turn
from cuecard.model.boundary import Count, admit, check_fields

TurnSource: TypeAlias = Turn | Annotated[Callable[[RunContext[Any]], Turn], AT_ONCE]
"""What the host knows of a run: the same for all, or made from the run's context (such as its `deps`)."""

ConversationSource: TypeAlias = Conversation | Annotated[Callable[[RunContext[Any]], Conversation], AT_ONCE]
"""The conversation that a run belongs to: the same for all, or found by the run's context (such as its `deps`)."""

_OUTSIDE = "Cuecard works inside a run: pass it to Agent(capabilities=[...])"

_OWN = frozenset({"search_tools", "load_capability"})
"""Tools of pydantic-ai itself."""


@dataclass(kw_only=True)
class Cuecard(AbstractCapability[Any]):
    """The prompt engine as a capability of a pydantic-ai agent.

    Under `rewrite` the system prompt is made again for each step. Under `append` it stays as it is, byte by byte, and
    each block of instructions joins the message history once, as a system prompt after the results it belongs to. If
    the model does not follow one there, pydantic-ai sends it as marked user text; if the endpoint is not known to leave
    it in its place, it becomes a `<system-reminder>` in the user's turn.

    A discovery never changes the list of tools, so that everything after it stays cached: every definition is in
    front, and a call of an inactive tool is refused. Providers that accept definitions mid-conversation get them
    there. Under `rewrite`, only active tools are shown.

    Tool results are sent as the agent file's `results` render them; the history keeps what the tools returned.

    The model is named to the engine, with its address, and so are the tools that the agent actually has, where the turn
    says nothing of them. A tool that the agent loses during a run is withdrawn with a notice.

    Attributes:
        engine: the prompt engine, or a watcher or `Pins`, which give each conversation its engine.
        turn: what the host knows about a run. A function is asked again for each request, for inputs that the agent
            file declares with `tier: step`.
        conversation: the conversation that runs belong to: under `append` the system prompt of its first run then
            stays, and what changed is said in a block. If the message history no longer holds the blocks sent so
            far, it was compacted: the run gets a new baseline, which tells what was discovered. Without one, each run
            begins a conversation, in which only what the message history holds was found and touched.
        cache: pydantic-ai's setting `cache`, for hosts that set none: the provider's breakpoints are set on the
            tools, the system prompt and the growing conversation. None for none, False to turn caching off.
        on_call: told of the prepared call.
        on_step: called with every step.
        retries: how often a tool that failed may be called again in a run, over `run.retries` of the agent file. A
            result counts that is marked as failed, whoever has marked it, and so does a retry that pydantic-ai has
            asked for.
        handle_tool_errors: what the model reads of an exception of a tool: its type (True), a text, or what a function
            makes of it. By default the exception ends the run, as without the capability.
        chat: the conversation of this run; `for_run` sets it.
        step: the step that the model is answering; every request sets it.
        again: the function that made the run's turn; `for_run` sets it.
        lists: the tools that each conversation has been sent.
        doors: chooses the engine of each conversation.
        serving: the engine of this run; `for_run` sets it.
        before: the conversation as this run began.
    """

    engine: AnyEngine
    turn: TurnSource = field(default_factory=Turn)
    conversation: ConversationSource | None = None
    cache: CacheSetting | None = True
    on_call: OnCall | None = None
    on_step: OnStep | None = None
    retries: Count | None = None
    handle_tool_errors: ToolErrors = False
    chat: Conversation | None = field(default=None, repr=False)
    step: Step | None = field(default=None, repr=False)
    again: Callable[[RunContext[Any]], Turn] | None = field(default=None, repr=False)
    lists: MutableMapping[Conversation, ToolList] = field(default_factory=WeakKeyDictionary, repr=False)
    doors: EngineDoor | None = field(default=None, repr=False)
    serving: Engine | None = field(default=None, repr=False)
    before: ConversationState | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_fields(self, "engine", "turn", "conversation", "on_call", "on_step", "retries", "handle_tool_errors")
        self.doors = self.doors or EngineDoor(self.engine)

    @override
    async def for_run(self, ctx: RunContext[Any]) -> Cuecard:
        """The capability of one run; its prompt is rendered with its first request, when its tools are known."""
        turn = self.turn if isinstance(self.turn, Turn) else self.turn(ctx)
        chat = self.conversation
        if chat is not None and not isinstance(chat, Conversation):
            chat = admit(Conversation, chat(ctx), "conversation")
        again = None if isinstance(self.turn, Turn) else self.turn
        engine = self._door.choose(previous=chat.call if chat else None).engine
        chat = chat or engine.conversation()
        return replace(self, turn=turn, chat=chat, step=None, again=again, serving=engine, before=None)

    @override
    def get_model_settings(self) -> Callable[[RunContext[Any]], ModelSettings]:
        """What keeps the prompt cached, unless the host has said something of it."""
        return lambda ctx: settings_for(ctx, self.cache, f"cuecard-{self._engine.agent.sha256[:32]}")

    @override
    def get_toolset(self) -> FunctionToolset[Any] | None:
        """The search tool, under the name that the agent file gives it; none where there is nothing to find."""
        return search_toolset(self._engine, self._search) if self._engine.agent.searched else None

    @override
    async def prepare_tools(self, ctx: RunContext[Any], tool_defs: list[ToolDefinition]) -> list[ToolDefinition]:
        """Tools of the catalogue are found by the engine's search: pydantic-ai's own would hide them from it."""
        found_here = self._engine.tools
        return [replace(each, defer_loading=each.defer_loading and each.name not in found_here) for each in tool_defs]

    @override
    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Bring the request into the state that the step describes.

        Raises:
            InputError: at the first request, with every missing, unknown or wrong input of the turn, or every text of
                one turn where the provider keeps the history.
            RunLimitError: when a limit of the run allows no further request.
        """
        started = self.step is not None
        chat, call, begins = self._called(ctx, request_context)
        engine, known = self._engine, self._engine.models
        parameters, model = request_context.model_request_parameters, request_context.model
        now = inputs_now(engine.agent, partial(self.again, ctx)) if not begins and self.again else {}
        there = tuple(tool.name for tool in (*parameters.function_tools, *parameters.output_tools))
        step = chat.step(tool_results(ctx.messages), inputs=now, tools=there, templates=True)
        call = step.call or call
        forced = checked_limits(step)
        offered = [tool for tool in parameters.function_tools if is_offered(tool.name, step)]
        listed = self.lists[chat] = self.lists.get(chat, ToolList()).more(offered, call)
        showing: Showing = "active" if call.delivery.rebuilds else "revealed" if reveals_tools(model, known) else "all"
        told = announced(ctx.messages)
        tools = offered if showing == "active" else listed.sent
        if showing == "all" and not begins:  # pydantic-ai tells the model of what comes within a run
            hidden = engine.tools.keys() - {*step.active_tools, *call.host.front, *told}
            tools = [tool for tool in tools if tool.name not in hidden]
        # No search has to find these: one that is withdrawn stays where it was defined.
        kept_front = {*call.host.front, *told} & {*engine.agent.core_names, *step.brought}
        shown = shown_tools(tools, step, engine.tools, showing, kept_front)
        late = deferred = {tool.name for tool in shown if tool.defer_loading}
        if adds_tools(model):  # what comes within a run, pydantic-ai defines behind the messages
            defined = {tool.name for tool in shown}
            late = late | (defined & told if begins else defined - ({*call.host.front} - told))
        else:
            told = set()
        front = (tool.name for tool in shown if tool.name not in late)
        step = self.step = chat.in_front(step, front, late, told)
        if self.on_step:
            self.on_step(step)
        prompt = InstructionPart(content=whole_system(step), dynamic=call.delivery.rebuilds)
        if forced and any(tool.name == forced for tool in tools):
            settings = ModelSettings(tool_choice=[forced])
            request_context.model_settings = merge_model_settings(request_context.model_settings, settings)
        request_context.model_request_parameters = replace(
            parameters,
            instruction_parts=[prompt, *(parameters.instruction_parts or [])],
            function_tools=shown,
        )
        sent = list(request_context.messages)
        staying = [block for block in step.appended if block.stays]
        placed = place_reveals(sent, step, deferred) if showing == "revealed" else sent
        placed = place_appended(placed, staying, engine.agent.spec.agent if self.conversation else None)
        # The history keeps the blocks too, so that the next request begins with this one; but none of this turn alone.
        kept = {id(old): new for old, new in zip(sent, placed, strict=True)}
        ctx.messages[:] = [kept.get(id(message), message) for message in ctx.messages]
        if not started and self.cache:
            placed = with_cache_points(placed, step, "1h" if self.cache == "1h" else "5m")
        placed = place_passing(placed, step, ctx.run_id)
        placed = without_ended_thinking(placed, step) if step.ended and checks_thinking(model, known) else placed
        placed = without_reveals(placed) if showing == "all" else placed
        if engine.agent.results:
            placed = with_results(placed, of_any_depth(engine.render_result))
        placed = placed if keeps_roles(model, known) else as_reminders(placed, step.reminder)
        request_context.messages = joined_alike(placed)
        return request_context

    @override
    async def before_tool_validate(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: ToolDefinition, args: str | dict[str, Any]
    ) -> str | dict[str, Any]:
        """Refuse tools that are not active, and those that a limit of the run refuses.

        Raises:
            ToolFailed: with what to do instead; the model reads it and the run goes on.
        """
        if refusal := self._refusal(call.tool_name, ctx):
            raise ToolFailed(refusal)
        return args

    @override
    async def on_tool_execute_error(
        self,
        ctx: RunContext[Any],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: dict[str, Any],
        error: Exception,
    ) -> Any:
        """What a tool raises is the host's, unless `handle_tool_errors` makes a result of it and the run goes on.

        Raises:
            ToolFailed: with what the model reads of it.
            Exception: the same one, otherwise, as without the capability.
        """
        told = told_error(error, self.handle_tool_errors)
        if told is None:
            raise error
        raise ToolFailed(told) from error

    async def _search(self, ctx: RunContext[Any], query: str, limit: int | None = None) -> dict[str, Json]:
        """Find tools by what they can do.

        Args:
            ctx: the run; the framework supplies it.
            query: the action as verb and object, two to five words.
            limit: at most so many tools.
        """
        _, call = self._running()
        try:
            return self._engine.search_tools(query, limit, call=call, history=tool_results(ctx.messages)).to_json()
        except InputError as error:
            raise ToolFailed(refused_limit(error, limit, self._engine.words)) from error

    def _called(self, ctx: RunContext[Any], request: ModelRequestContext) -> tuple[Conversation, Call, bool]:
        """The run's conversation and call, and whether this request begins it: the first one does, which shows the
        tools and the model, and one whose engine is another than that of the request before.
        """
        chat, started = self.chat, self.step is not None
        if chat is None or not isinstance(self.turn, Turn):
            raise RuntimeError(_OUTSIDE)
        parameters, running = request.model_request_parameters, chat.call if started else None
        given, known = parameters.function_tools, self._engine.tools
        tools = [HostTool.of(t.name, t.description, t.parameters_json_schema) for t in given if t.name not in _OWN]
        tools += [HostTool(tool.name) for tool in parameters.output_tools if tool.name in known]
        chosen = self._door.choose(previous=chat.call, call=running, tools=tools)
        goes_on = running is not None and made_by(running, chosen.engine)
        if not goes_on:
            check_own(chat.call, chosen.engine)
            self._forget(ctx, request, chat, chosen.engine)
        self.serving = chosen.engine
        chosen.engine.take_over(chat, self.before if started and not goes_on else None)
        if running and goes_on:
            return chat, running, False
        return chat, self._begun(self.turn, ctx, request, chosen), True

    def _forget(self, ctx: RunContext[Any], request: ModelRequestContext, chat: Conversation, engine: Engine) -> None:
        """Take the blocks out where the prompt is made anew: from other files, or since some of them are gone."""
        if chat.call is None:
            return
        if holds_all(ctx.messages, chat.call.prompt.sent):
            if chat.call.configuration.sha256 == engine.agent.sha256:
                return
        else:
            chat.compacted()
        old = {block.text for block in (*chat.call.prompt.sent, *last_blocks(chat))}
        if old:
            kept = without_blocks(request.messages, old)
            changed = {id(before): after for before, after in zip(request.messages, kept, strict=True)}
            ctx.messages[:] = [changed.get(id(message), message) for message in ctx.messages]
            request.messages = kept

    def _begun(self, turn: Turn, ctx: RunContext[Any], request: ModelRequestContext, chosen: EngineChoice) -> Call:
        """The call of the run."""
        chat, engine, turn = self.chat or chosen.engine.conversation(), chosen.engine, chosen.turn(turn)
        self.before = chat.state
        turn = with_model(turn, request.model, engine.models)
        known = turn.conversation or (chat.call.conversation if chat.call else "")
        turn = replace(turn, conversation=known or ctx.conversation_id or "")
        if self.retries is not None:
            turn = replace(turn, run=replace(turn.run, retries=self.retries))
        if turn.tools is None:
            parameters = request.model_request_parameters
            there = (tool.name for tool in (*parameters.function_tools, *parameters.output_tools))
            turn = replace(turn, tools=tuple(name for name in there if name in engine.tools))
        turn = with_words(turn, engine, lambda: user_words(ctx.messages))
        results = tool_results(ctx.messages)
        if _keeps_history(request.model_settings):
            refuse_kept_history(engine.agent, copy(chat).user(turn, results))
        call = chat.user(turn, results)
        check_own(call, engine)
        if self.on_call:
            self.on_call(call)
        return call

    def _refusal(self, tool: str, ctx: RunContext[Any]) -> str | None:
        """The answer to a call: of what another run has asked for, a person has approved it, say, no step is there."""
        engine = self._engine
        if self.chat is None or not isinstance(self.turn, Turn) or not (self.step or tool in engine.tools):
            return None
        step = self.step or answered_step(self.chat, engine, self.turn, tool_results(ctx.messages))
        return step.refusal(tool, called_together(ctx.messages)) if step else in_doubt(tool, engine)

    @property
    def _door(self) -> EngineDoor:
        return self.doors or EngineDoor(self.engine)

    @property
    def _engine(self) -> Engine:
        """The engine of the run; outside of one, that of the newest files."""
        return self.serving or self._door.current

    def _running(self) -> tuple[Conversation, Call]:
        if self.chat is None or self.chat.call is None:
            raise RuntimeError(_OUTSIDE)
        return self.chat, self.chat.call


def _keeps_history(settings: ModelSettings | None) -> bool:
    """Whether the provider puts a history of its own in front of a request.

    With `auto`, pydantic-ai refers to an earlier response only while nothing is gone of what was sent for it.
    """
    said = cast("dict[str, object]", settings or {})
    return bool(said.get("openai_conversation_id")) or said.get("openai_previous_response_id") not in {None, "auto"}
