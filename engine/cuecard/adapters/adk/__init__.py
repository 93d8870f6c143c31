"""Google ADK: one plugin gives the agents of an app their prompt, their tools of the moment, and the search tool.

    card = Cuecard(Engine.open("prompts/cms/agent.yaml"))
    app = App(name="cms", root_agent=LlmAgent(name="cms", model="gemini-3.5-flash", tools=my_tools), plugins=[card])

The state of the session has the digest of the conversation, and a session beside it has its text, so that another
process can go on with it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, TypeAlias

from typing_extensions import override

from cuecard.adapters.clients import needs

with needs("google-adk", "adk", __name__):
    from google.adk.agents.base_agent import BaseAgent
    from google.adk.agents.callback_context import CallbackContext
    from google.adk.agents.invocation_context import InvocationContext
    from google.adk.agents.readonly_context import ReadonlyContext
    from google.adk.models.llm_request import LlmRequest
    from google.adk.models.llm_response import LlmResponse
    from google.adk.plugins.base_plugin import BasePlugin
    from google.adk.plugins.context_filter_plugin import ContextFilterPlugin
    from google.adk.sessions import Session
    from google.adk.sessions.base_session_service import BaseSessionService
    from google.adk.tools.base_tool import BaseTool
    from google.adk.tools.tool_context import ToolContext
    from google.genai import types

from cuecard.adapters.adk.contents import (
    CallIds,
    called_together,
    named,
    place_blocks,
    tool_results,
    with_results,
    without_ended_thinking,
)
from cuecard.adapters.adk.requests import (
    Front,
    SearchTool,
    agents_of,
    keep_front,
    lost_texts,
    put_in_front,
    says_something,
    sees_one_turn,
    sends_news_only,
    show_active,
    waits,
    words_of,
)
from cuecard.adapters.adk.texts import SessionRecord
from cuecard.adapters.bodies import checked_limits
from cuecard.adapters.conversations import anew, answered_step, found_so_far, in_doubt, made_by, search
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
    told_error,
    with_words,
)
from cuecard.adapters.one_turn import ends_with_turn, inputs_now, whole_system
from cuecard.conversation import Conversation
from cuecard.engine import Engine
from cuecard.errors import InputError, Problem, did_you_mean
from cuecard.model import Call, ConversationState, Json, Step, ToolResult, Turn
from cuecard.model.boundary import checked

TurnSource: TypeAlias = Turn | Annotated[Callable[[CallbackContext], Turn], AT_ONCE]
"""What the host knows of a message: the same for all, or made from ADK's context (such as its state)."""

_OWN = frozenset({"transfer_to_agent", "set_model_response"})
"""Tools of ADK itself."""

_KEPT = 1024
"""How many conversations a process keeps at hand between two requests; the others are read from the session."""


@dataclass
class _Talk:
    """A conversation while its invocation runs; `lost` are the tools of one whose text is not to be had.

    `engine` prepared its last request, and `before` is the conversation as its call began, where this process knows.
    `kept` and `found` are the call and the found tools that the session has, `front` the declarations that it was sent.
    `older` are earlier texts of this message, each with how many events there were when another one replaced it.
    `asked` is the request that the model is answering, until its answer begins.
    """

    invocation: str
    chat: Conversation
    kept: Call | None = None
    step: Step | None = None
    stored: SessionRecord | None = None
    engine: Engine | None = None
    before: ConversationState | None = None
    lost: tuple[str, ...] | None = None
    found: tuple[str, ...] = ()
    front: Front = field(default_factory=dict)
    older: list[tuple[SessionRecord, int]] = field(default_factory=list)
    asked: LlmRequest | None = None


def _described(request: LlmRequest) -> list[HostTool]:
    """What the tools of a request say of themselves."""
    declared = [
        each
        for tool in request.config.tools or ()
        if isinstance(tool, types.Tool)
        for each in tool.function_declarations or ()
    ]
    return [HostTool.of(t.name or "", t.description, _schema_of(t)) for t in declared if t.name not in _OWN]


def _schema_of(declaration: types.FunctionDeclaration) -> Any:
    given = declaration.parameters
    return given.model_dump(by_alias=True, exclude_none=True) if given else declaration.parameters_json_schema


def _place(context: ReadonlyContext) -> tuple[str, ...]:
    session = context.session
    return session.app_name, session.user_id, session.id, context.agent_name


class Cuecard(BasePlugin):
    """The prompt engine as a plugin of an ADK app.

    Under `rewrite` the instructions are made again for each step, and only declarations of active tools. Under `append`
    and `frozen` instructions and declarations stay byte for byte the same; each block of instructions is a content
    of the user behind the results it belongs to, and a call of an inactive tool is refused.

    Each agent has a conversation of its own in each session: what it has found, and what it has touched.
    """

    @checked
    def __init__(
        self,
        engine: AnyEngine,
        *,
        turn: TurnSource | None = None,
        agents: Collection[str] = (),
        on_call: OnCall | None = None,
        on_step: OnStep | None = None,
        handle_tool_errors: ToolErrors = False,
        name: str = "cuecard",
    ) -> None:
        """Make the plugin of an app.

        Args:
            engine: the prompt engine, or a watcher or `Pins`, which give each conversation its engine.
            turn: what the host knows about a user message; the model and the tools need not be named. A function is
                called for each message, and again for the later requests of its turn where the agent file declares
                inputs with `tier: step`: only those are taken from it then.
            agents: names of the agents that get the prompt; without any, all of the app.
            on_call: called with every prepared call.
            on_step: called with every step before its request is sent.
            handle_tool_errors: what the model reads of an exception of a tool: its type (True), a text, or what a
                function makes of it. By default ADK has the exception, as without the plugin.
            name: the name of the plugin, and of its keys in the state of sessions.

        Raises:
            InputError: with each argument that is wrong.
        """
        super().__init__(name)
        self.engine: AnyEngine = engine
        self.turn = turn
        self.agents: frozenset[str] = frozenset(agents)
        self.on_call: OnCall | None = on_call
        self.on_step: OnStep | None = on_step
        self.handle_tool_errors = handle_tool_errors
        self._door = EngineDoor(engine)
        self.search_tool: SearchTool = SearchTool(self._door.current, self._search)
        self._talks: OrderedDict[tuple[str, ...], _Talk] = OrderedDict()
        self._services: OrderedDict[str, BaseSessionService] = OrderedDict()
        self._seen: Mapping[str, BaseAgent] = {}

    @override
    async def before_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Look at the run and the agents of the app: some would never get their prompt.

        Raises:
            InputError: naming each agent that the app does not have, when the session is live, or when a filter behind
                this plugin would take out what it has placed.
        """
        if invocation_context.live_request_queue is not None:
            told = "a live session (`run_live`) is one connection, so no model request could have its prompt"
            hint = "use `runner.run_async`, or run live sessions in an app without this plugin"
            raise InputError(Problem("wrong-argument", told, hint, "run_live"))
        plugins = invocation_context.plugin_manager.plugins
        behind = plugins[plugins.index(self) :] if self in plugins else []
        if filters := [each.name for each in behind if isinstance(each, ContextFilterPlugin)]:
            told = f"`{filters[0]}` stands behind this plugin and would take instructions out of the contents"
            raise InputError(Problem("wrong-argument", told, f"put it in front of `{self.name}`", "plugins"))
        self._services[invocation_context.invocation_id] = invocation_context.session_service
        while len(self._services) > _KEPT:
            self._services.popitem(last=False)
        self._seen = seen = {each.name: each for each in agents_of(invocation_context.agent)}
        if unknown := sorted(self.agents - seen.keys()) if seen else []:
            missing = [(f"the app has no agent named `{each}`", did_you_mean(each, seen)) for each in unknown]
            raise InputError([Problem("wrong-argument", message, way_out, "agents") for message, way_out in missing])

    @override
    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """The run is over: its last state is in the session, and nobody asks for its session service again."""
        service = self._services.pop(invocation_context.invocation_id, None)
        for talk in self._talks.values():
            if service and talk.invocation == invocation_context.invocation_id:
                await self._forget(talk, service, invocation_context.session, [each for each, _ in talk.older])
                talk.older = []

    @override
    async def before_model_callback(self, *, callback_context: CallbackContext, llm_request: LlmRequest) -> None:
        """Bring the request into the state that the step describes.

        Raises:
            InputError: at the first request of a message, with every missing, unknown or wrong input of the turn.
            RunLimitError: when a limit of the run allows no further request.
        """
        if not self._serves(callback_context):
            return
        held = named(llm_request.contents, CallIds(callback_context.session.events))
        results = tool_results(held, llm_request.contents)
        talk = await self._talk(callback_context)
        goes_on = talk.chat.call
        call, engine = await self._call(talk, callback_context, llm_request, results)
        if call.tools.offers_search and self.search_tool.name not in llm_request.tools_dict:
            llm_request.append_tools([self.search_tool])
        now = inputs_now(engine.agent, lambda: self._said(callback_context)) if call is goes_on else {}
        there = tuple(dict.fromkeys((*llm_request.tools_dict, self.search_tool.name)))
        step = talk.step = talk.chat.step(results, inputs=now, tools=there, templates=True)
        forced = checked_limits(step)
        if step.call and not call.delivery.rebuilds:
            talk.front = keep_front(llm_request, step.call.host, talk.front)
            step = talk.step = talk.chat.in_front(step, [*talk.front])
        await self._keep(talk, callback_context)
        if self.on_step:
            self.on_step(step)
        config = llm_request.config
        if forced in llm_request.tools_dict:
            calling = types.FunctionCallingConfig(
                mode=types.FunctionCallingConfigMode.ANY, allowed_function_names=[forced]
            )
            config.tool_config = types.ToolConfig(function_calling_config=calling)
        config.system_instruction = put_in_front(whole_system(step), config.system_instruction)
        if engine.agent.results:
            llm_request.contents = with_results(llm_request.contents, held, of_any_depth(engine.render_result))
        profile = engine.models.find(llm_request.model or "") if step.ended else None
        if profile and profile.checks_thinking:
            llm_request.contents, held = without_ended_thinking(llm_request.contents, held, step)
        llm_request.contents = place_blocks(llm_request.contents, held, step)
        if call.delivery.rebuilds:
            show_active(llm_request, step, engine.tools)
        talk.asked = llm_request

    @override
    async def after_model_callback(self, *, callback_context: CallbackContext, llm_response: LlmResponse) -> None:
        """Look at what the model was sent: callbacks of agents come behind all plugins.

        Raises:
            InputError: when one has taken the prompt or instructions out of it.
        """
        talk = self._at_hand(callback_context)
        if talk is None or talk.step is None or talk.asked is None:
            return
        request, talk.asked = talk.asked, None
        if lost := lost_texts(request, talk.step):
            told = f"a callback or plugin behind `{self.name}` takes {lost}"
            hint = f"change requests in a plugin in front of `{self.name}`, or add to what is there"
            raise InputError(Problem("wrong-argument", told, hint, "before_model_callback"))

    @override
    async def after_agent_callback(
        self, *, agent: BaseAgent, callback_context: CallbackContext
    ) -> types.Content | None:
        """Store the conversation without what belongs to the turn alone, unless the agent waits for a tool."""
        talk = self._at_hand(callback_context)
        call = talk.chat.call if talk else None
        if (
            talk is None
            or call is None
            or not talk.engine
            or not made_by(call, talk.engine)
            or not ends_with_turn(talk.engine.agent, call)
        ):
            return None
        if not waits(callback_context.session.events, talk.invocation, agent.name):
            await self._store(talk, callback_context, ended=True)
        return None

    @override
    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext
    ) -> dict[str, Any] | None:
        """Refuse tools that are not active; the model reads what to do instead, and the run goes on."""
        if not self._serves(tool_context):
            return None
        talk = await self._talk(tool_context)
        engine = talk.engine or self._door.take(talk.chat, call=talk.chat.call).engine
        if tool.name not in engine.tools:
            return None
        step = self._step(talk, engine, tool_context)
        beside = called_together(tool_context.session.events, tool_context.agent_name)
        refusal = step.refusal(tool.name, beside) if step else in_doubt(tool.name, engine)
        return {"error": refusal} if refusal else None

    @override
    async def on_tool_error_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, error: Exception
    ) -> dict[str, Any] | None:
        """The result that the model reads in place of an exception, where the host wants that."""
        told = told_error(error, self.handle_tool_errors) if self._serves(tool_context) else None
        return None if told is None else {"error": told}

    def _serves(self, context: ReadonlyContext) -> bool:
        return not self.agents or context.agent_name in self.agents

    async def _call(
        self, talk: _Talk, context: CallbackContext, request: LlmRequest, results: tuple[ToolResult, ...]
    ) -> tuple[Call, Engine]:
        """The call of this message and its engine, prepared with its first request and kept in the session.

        A message that only answers what a tool has asked for goes on with the call before, unless the files or the
        tools have changed since.
        """
        call = talk.chat.call
        goes_on = talk.invocation == context.invocation_id
        begun = call is not None and not call.over and (goes_on or not says_something(context.user_content))
        chosen = self._door.choose(previous=call, call=call if begun else None, tools=_described(request))
        engine = talk.engine = chosen.engine
        begun = begun and call is not None and made_by(call, engine)
        engine.take_over(talk.chat, None if begun or not goes_on else talk.before)
        if call is None or not begun:
            talk.before = talk.chat.state
            turn = self._known(context, request, chosen)
            turn = with_words(turn, engine, lambda: words_of(context.user_content))
            call = talk.chat.user(turn if talk.lost is None else anew(turn, talk.lost, engine), results)
            if self.on_call:
                self.on_call(call)
        await self._keep(talk, context)
        return call, engine

    async def _keep(self, talk: _Talk, context: CallbackContext) -> None:
        """The conversation in the session's state, where its call is another one, or has found more.

        A compaction may take the result that found a tool out of the contents before the next message.
        """
        found = found_so_far(talk.chat.call, talk.step)
        if talk.invocation != context.invocation_id or talk.chat.call is not talk.kept or found != talk.found:
            talk.invocation, talk.kept = context.invocation_id, talk.chat.call
            await self._store(talk, context)

    async def _store(self, talk: _Talk, context: CallbackContext, *, ended: bool = False) -> None:
        engine = self._door.current
        text, found = engine.dump(talk.chat, ended=ended), found_so_far(talk.chat.call, talk.step)
        talk.found = found
        before, talk.stored = talk.stored, SessionRecord.of(engine, context.session, talk.invocation, text, found)
        context.state[self._key(context)] = talk.stored.shown
        if service := self._services.get(context.invocation_id):
            await talk.stored.save(service, context.session)
            if before and before.digest != talk.stored.digest and before.invocation == talk.invocation:
                talk.older.append((before, len(context.session.events)))
            await self._clear(talk, service, context, ended=ended)

    async def _clear(self, talk: _Talk, service: BaseSessionService, context: CallbackContext, *, ended: bool) -> None:
        """Keep earlier texts of a message no longer, once ADK has an event that brought the state which replaces them:
        a request that fails leaves the session with the state before.
        """
        waiting, events = talk.older, len(context.session.events)
        talk.older = [] if ended else [(each, at) for each, at in waiting if at >= events]
        gone = [each for each, at in waiting if ended or at < events]
        await self._forget(talk, service, context.session, gone)

    async def _forget(
        self, talk: _Talk, service: BaseSessionService, session: Session, gone: Iterable[SessionRecord]
    ) -> None:
        for each in gone:
            if talk.stored and each.digest != talk.stored.digest:
                await each.delete(service, session)

    def _said(self, context: CallbackContext) -> Turn:
        return self.turn if isinstance(self.turn, Turn) else self.turn(context) if self.turn else Turn()

    def _known(self, context: CallbackContext, request: LlmRequest, chosen: EngineChoice) -> Turn:
        """The turn with what the request shows: its model, its tools, and what can be done with its contents."""
        turn = chosen.turn(self._said(context))
        there = dict.fromkeys((*request.tools_dict, self.search_tool.name))
        tools = tuple(name for name in there if name in chosen.engine.tools)
        return replace(
            turn,
            model=turn.model or request.model or "",
            tools=tools if turn.tools is None else turn.tools,
            authority=turn.authority or "user",
            host="system-only" if sends_news_only(self._seen.get(context.agent_name)) else turn.host,
        )

    def _key(self, context: ReadonlyContext) -> str:
        return f"{self.name}:{context.agent_name}"

    def _at_hand(self, context: ReadonlyContext) -> _Talk | None:
        """The conversation of the agent in this session, if the invocation has one."""
        talk = self._talks.get(_place(context))
        return talk if talk and talk.invocation == context.invocation_id else None

    async def _talk(self, context: CallbackContext) -> _Talk:
        """The conversation of the agent in this session: at hand while its invocation runs, else as it was stored."""
        place = _place(context)
        talk = self._talks.pop(place, None)
        if talk is None or talk.invocation != context.invocation_id:
            front = talk.front if talk else {}
            talk = await self._stored(context, talk.stored if talk else None)
            talk.front = front
        self._talks[place] = talk
        while len(self._talks) > _KEPT:
            self._talks.popitem(last=False)
        return talk

    async def _stored(self, context: CallbackContext, last: SessionRecord | None) -> _Talk:
        key, engine = self._key(context), self._door.current
        held = context.state.get(key)
        if held is None:
            return _Talk("", engine.conversation())
        stored = SessionRecord.read(held, key)
        if stored.invocation != context.invocation_id and sees_one_turn(self._seen.get(context.agent_name)):
            return _Talk("", engine.conversation())
        stored = last if last and last.shown == stored.shown else stored
        service = self._services.get(context.invocation_id)
        text = await stored.load(service, context.session) if service else stored.text
        if not text:
            return _Talk("", engine.conversation(), lost=stored.tools(engine, context.session))
        chat = engine.load(text)
        return _Talk(stored.invocation, chat, chat.call, stored=stored, found=found_so_far(chat.call, None))

    def _step(self, talk: _Talk, engine: Engine, context: ToolContext) -> Step | None:
        """The step that the model has answered, whoever has prepared it."""
        if talk.step is None:
            contents = [e.content for e in context.session.events if e.author == context.agent_name and e.content]
            results = tool_results(named(contents, CallIds(())), contents)
            talk.step = answered_step(talk.chat, engine, self._said(context), results)
        return talk.step

    async def _search(self, context: ToolContext, query: str, limit: int | None) -> dict[str, Json]:
        talk = await self._talk(context)
        found = search(talk.engine or self._door.choose(call=talk.chat.call).engine, talk.chat, query, limit)
        return {"error": found} if isinstance(found, str) else found.to_json()
