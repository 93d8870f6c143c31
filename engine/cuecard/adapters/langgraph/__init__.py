"""LangGraph: what a graph of one's own needs around its model, with the conversation in a channel of the graph.

    card = Cuecard(engine=Engine.open("prompts/cms"))

    class State(MessagesState):
        cuecard: NotRequired[Annotated[dict[str, str], card.channel]]

    def call_model(state):
        ready = card.prepare(model, state["messages"], tools, state.get("cuecard"))
        answer = model.bind_tools(ready.tools, **ready.settings).invoke(ready.messages)
        return {"messages": [answer], "cuecard": ready.after(answer)}

The LangChain middleware (`cuecard.adapters.langchain`) is the same around an agent of `create_agent`.
"""

from __future__ import annotations

from cuecard.adapters.clients import needs

with needs("langgraph", "langchain", __name__):
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
    from langchain_core.runnables.base import RunnableBindingBase
    from langchain_core.runnables.config import var_child_runnable_config
    from langchain_core.tools import BaseTool, ToolException
    from langgraph.channels.base import BaseChannel
    from langgraph.errors import GraphBubbleUp
    from langgraph.prebuilt import ToolRuntime
    from langgraph.prebuilt.tool_node import ToolCallRequest
    from langgraph.types import Command

    from cuecard.adapters.graph_channel import conversation_channel

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from cuecard.adapters.block_places import gone_names
from cuecard.adapters.bodies import checked_limits, is_offered
from cuecard.adapters.conversations import Stored, Thread, Threads, ThreadTexts, anew, made_by
from cuecard.adapters.host import (
    AnyEngine,
    EngineChoice,
    EngineDoor,
    HostTools,
    OnCall,
    OnStep,
    ToolErrors,
    active_only,
    of_any_depth,
    refused_limit,
    told_error,
    tools_in_front,
    with_words,
)
from cuecard.adapters.langgraph.messages import (
    called_together,
    calls_held,
    ends_that_stay,
    holds_all,
    last_answer,
    last_of,
    last_user,
    legible,
    marked,
    ours,
    place_appended,
    told_apart,
    tool_results,
    user_words,
    with_refused,
    with_results,
    without_ended_thinking,
    without_ours,
)
from cuecard.adapters.langgraph.models import (
    Cache,
    ModelFacts,
    bare_model,
    breakpoint_of,
    facts_of,
    settings_of,
    system_message,
)
from cuecard.adapters.langgraph.tools import (
    AnyTool,
    DeferredTools,
    OrderedTools,
    described,
    name_of,
    revealing,
    rough,
    search_tool,
)
from cuecard.adapters.one_turn import inputs_now, refuse_kept_history
from cuecard.config.model_profile import ModelProfile
from cuecard.engine import Engine
from cuecard.errors import InputError, Problem
from cuecard.model import Authority, Json, Step, Turn
from cuecard.model.boundary import FilledText, admit, check_fields

Answer = ToolMessage | Command[Any]
"""What a call of a tool gives a graph."""


@dataclass(frozen=True, slots=True)
class PreparedRequest:
    """A request to the model.

    Attributes:
        system: the system prompt, with the host's own behind it.
        conversation: the messages behind it, with the blocks in their places.
        tools: what to bind.
        settings: further arguments for `bind_tools` or `bind`: what keeps the prompt cached, and a tool that the model
            has to call.
        step: the step, for its manifest.
    """

    system: SystemMessage
    conversation: list[BaseMessage]
    tools: list[AnyTool]
    settings: dict[str, Any]
    step: Step
    _texts: ThreadTexts = field(repr=False)
    _threads: Threads = field(repr=False)

    @property
    def cuecard(self) -> Stored:
        """The conversation for the graph's state, while the turn goes on; `after` gives that of an answer."""
        return self._threads.hold(self._texts).shown

    def after(self, answer: BaseMessage) -> Stored:
        """The conversation for the graph's state beside an answer: one without calls of tools ends the turn, and what
        belongs to that turn alone leaves the state.
        """
        return self.cuecard if isinstance(answer, AIMessage) and answer.tool_calls else self.end()

    def end(self) -> Stored:
        """The same where the turn has ended in another way."""
        return self._threads.hold(self._threads.end(self._texts)).shown

    @property
    def messages(self) -> list[BaseMessage]:
        """What to send: the system prompt and the conversation."""
        return [self.system, *self.conversation]


@dataclass(kw_only=True, eq=False)
class Cuecard:
    """The prompt engine for graphs: one for any number of graphs, threads and runs; their state is with the graph.

    Attributes:
        engine: the prompt engine, or a watcher or `Pins`, which give each conversation its engine.
        cache: how long the provider keeps its cache, if that can be set; None to leave caching alone.
        on_call: called with every prepared call.
        on_step: called with every step before its request is sent, for manifests and displays.
        state_key: the key of the graph's state that holds the conversation.
        handle_tool_errors: what the model reads of an exception of a tool that `wrap_tool_call` runs: its type (True),
            a text, or what a function makes of it. By default the graph has the exception, as without the card.
        search_tool: the search tool, under the name that the agent file gives it; belongs to the tools of the graph.
    """

    engine: AnyEngine
    cache: Cache | None = "5m"
    on_call: OnCall | None = None
    on_step: OnStep | None = None
    state_key: FilledText = "cuecard"
    handle_tool_errors: ToolErrors = False
    search_tool: BaseTool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_fields(self, "engine", "cache", "on_call", "on_step", "state_key", "handle_tool_errors")
        self._door = EngineDoor(self.engine)
        self._threads = Threads(self._door)
        self._profiles: dict[tuple[str, str], ModelProfile] = {}
        self._deferred, self._ordered, self._told = DeferredTools(), OrderedTools(), HostTools(described)
        self.search_tool = search_tool(self._door.current, self._search)

    @property
    def channel(self) -> BaseChannel[Any, Any, Any]:
        """The channel of the conversation, for `Annotated[dict[str, str], card.channel]` in the state of a graph."""
        return conversation_channel(self._threads)

    def prepare(
        self,
        model: BaseChatModel,
        messages: Sequence[BaseMessage],
        tools: Sequence[AnyTool] = (),
        cuecard: Stored | None = None,
        *,
        turn: Turn | Callable[[], Turn] | None = None,
        system: SystemMessage | None = None,
    ) -> PreparedRequest:
        """The next request to the model: a pure function of its arguments.

        A message of the user that is new begins a call. Where messages are gone that blocks stood behind, a middleware
        or a node has shortened them: that call gets a new baseline, which tells what was discovered.

        Args:
            model: the chat model; its name and address are told to the engine if the turn does not name them.
            messages: the conversation so far, without a system prompt.
            tools: every tool of the graph, the search tool included.
            cuecard: what the graph's state holds; None at first.
            turn: what the host knows about the user message; later requests of its turn take from it only the inputs
                that the agent file declares with `tier: step`. A function is asked when it is needed.
            system: what the host itself says in the system prompt; it stands behind the engine's.

        Raises:
            InputError: with every missing, unknown or wrong input of the turn, or every text of one turn where the
                provider keeps the history; or when the state is another agent's.
            RunLimitError: when a limit of the run allows no further request.
        """
        facts, opened = facts_of(model, self._profile), self._threads.open(cuecard)
        whole = with_refused(without_ours(messages))
        answered, messages = last_answer(whole), _told_apart(whole, opened)
        thread, engine, begun = self._running(opened, messages, partial(_said, turn), facts, tools)
        if thread.chat.call and _keeps_history(model):
            refuse_kept_history(engine.agent, thread.chat.call, prompt=True)
        now = {} if begun or turn is None else inputs_now(engine.agent, partial(_said, turn))
        known = {record.call_id for record in thread.chat.state.results if record.call_id}
        results = tool_results(messages, known)
        before = thread.chat.call
        names = tuple(name_of(tool) for tool in tools)
        step = thread.chat.step(results, inputs=now, tools=names, templates=True)
        forced, call = checked_limits(step), thread.chat.call
        marks = ends_that_stay(messages, step) if facts.claude and self.cache else []
        showing = marked(messages, marks, breakpoint_of(self.cache)) if marks and self.cache else list(messages)
        if engine.agent.results:
            showing = with_results(showing, of_any_depth(engine.render_result))
        gone = call.host.gone if call else ()
        front = tools_in_front(tools, name_of, gone, self._threads.front(cuecard))
        offered = {name: tool for name, tool in front.items() if is_offered(name, step)}
        shown, late = self._ordered.of([*offered.values()], step), set[str]()
        if call and call.delivery.rebuilds:
            shown = active_only({n: tool for n, tool in offered.items() if n not in gone}, step, engine.tools)
        elif facts.defers:
            held = {message.tool_call_id for message in showing if isinstance(message, ToolMessage)}
            all_tools = shown
            shown = self._deferred.shown(all_tools, step, engine.tools, held)
            late = {name_of(tool) for tool, sent in zip(all_tools, shown, strict=True) if tool is not sent}
            showing = revealing(showing, step, late)
        step = thread.chat.in_front(step, [name for name in map(name_of, shown) if name not in late], late)
        if self.on_step:
            self.on_step(step)
        thread = thread if thread.chat.call is before else replace(thread, begun="")
        forcing = {"tool_choice": forced} if any(name_of(tool) == forced for tool in shown) else {}
        role = facts.speaks(call.delivery.authority if call else "unknown")
        key = f"cuecard-{(step.origin or engine.agent.sha256)[:32]}"
        return PreparedRequest(
            ours(system_message(step, facts, rough(shown) if facts.claude else [], self.cache, system, len(marks))),
            self._placed(showing, step, facts, role),
            shown,
            settings_of(facts, self.cache, key) | forcing,
            step,
            self._threads.keep(replace(thread, step=step, engine=engine, answered=answered), front),
            self._threads,
        )

    def _placed(
        self, messages: Sequence[BaseMessage], step: Step, facts: ModelFacts, role: Authority
    ) -> list[BaseMessage]:
        """The messages with the blocks in their places, and without thinking that the model would no longer accept."""
        if step.ended and facts.profile.checks_thinking:
            messages = without_ended_thinking(messages, step)
        messages = legible(messages) if facts.claude else messages
        return place_appended(messages, step, role)

    def whole(self, cuecard: Stored) -> dict[str, str]:
        """A conversation of a graph's state with its texts, for a place that no stream shows; `prepare` takes it, too.

        Raises:
            InputError: when its texts are not to be had in this process.
        """
        texts = self._threads.texts(cuecard)
        if texts is None:
            told = "the texts of this conversation are not to be had in this process"
            hint = "keep it in `card.channel`, or call this where the request was prepared"
            raise InputError(Problem("bad-conversation", told, hint, "cuecard"))
        return texts.kept

    def refusal(self, tool: str, state: Any) -> str | None:
        """The answer to give instead of calling a tool in this state of the graph; None if it may be called.

        A limit of the run may refuse it, too.

        Where the request is not known that the model has answered, no tool of the catalogue may. Where the files have
        changed since, those may that were active, if nothing has changed of any tool.
        """
        return self._threads.refusal(self._stored(state), tool, called_together(_messages(state)))

    def wrap_tool_call(self, request: ToolCallRequest, execute: Callable[[ToolCallRequest], Answer]) -> Answer:
        """For `ToolNode(tools, wrap_tool_call=...)`: a call of a tool that is not known to be active is refused."""
        if refused := self._refused(request):
            return refused
        try:
            return execute(request)
        except Exception as error:  # noqa: BLE001 - `_failed` raises it again unless the host wants otherwise
            return self._failed(request, error)

    async def awrap_tool_call(
        self, request: ToolCallRequest, execute: Callable[[ToolCallRequest], Awaitable[Answer]]
    ) -> Answer:
        """The same for `ToolNode(tools, awrap_tool_call=...)`."""
        if refused := self._refused(request):
            return refused
        try:
            return await execute(request)
        except Exception as error:  # noqa: BLE001 - `_failed` raises it again unless the host wants otherwise
            return self._failed(request, error)

    def _profile(self, name: str, endpoint: str) -> ModelProfile:
        """What is known of a model, looked up once."""
        found = self._profiles.get((name, endpoint))
        if found is None:
            found = self._profiles[name, endpoint] = self._door.current.models.find(name, endpoint=endpoint)
        return found

    def _refused(self, request: ToolCallRequest) -> ToolMessage | None:
        told = self.refusal(request.tool_call["name"], request.state)
        return _error(request, told) if told else None

    def _failed(self, request: ToolCallRequest, error: Exception) -> ToolMessage:
        told = None if isinstance(error, GraphBubbleUp) else told_error(error, self.handle_tool_errors)
        if told is None:
            raise error
        return _error(request, told)

    def _search(self, runtime: ToolRuntime[Any, Any], query: str, limit: int | None = None) -> dict[str, Json]:
        """Find tools by what they can do."""
        engine, call = self._threads.running(self._stored(runtime.state))
        history = tool_results(told_apart(with_refused(_messages(runtime.state)))) if call else ()
        try:
            return engine.search_tools(query, limit, call=call, history=history).to_json()
        except InputError as error:
            raise ToolException(refused_limit(error, limit, engine.words)) from error

    def _running(
        self,
        thread: Thread,
        messages: Sequence[BaseMessage],
        said: Callable[[], Turn],
        model: ModelFacts,
        tools: Sequence[AnyTool],
    ) -> tuple[Thread, Engine, bool]:
        """The thread with the call that the last message of the user asks for, its engine, and whether it is new."""
        chat, (before, asked) = thread.chat, last_user(messages)
        same = chat.call is not None and asked == thread.asked
        chosen = self._door.take(chat, call=chat.call if same else None, tools=self._told.of(tools))
        engine = chosen.engine
        stale = chat.call is not None and (not made_by(chat.call, engine) or (same and chat.call.over))
        if same and not stale:
            return thread, engine, False
        earlier = messages[: max(last_of(messages, HumanMessage), 0)]
        if chat.call and (stale or not holds_all(earlier, self._threads.last_step(chat, engine))):
            chat.compacted(before)
        turn = with_words(self._turn(said, model, tools, chosen), engine, lambda: user_words(messages))
        call = chat.user(turn if thread.lost is None else anew(turn, thread.lost, engine), tool_results(earlier))
        if self.on_call:
            self.on_call(call)
        return Thread(chat, asked), engine, True

    def _stored(self, state: Any) -> Any:
        return state.get(self.state_key) if isinstance(state, dict) else getattr(state, self.state_key, None)

    def _turn(
        self, turn: Callable[[], Turn], model: ModelFacts, tools: Sequence[AnyTool], chosen: EngineChoice
    ) -> Turn:
        """The turn, with the model and the tools that are there, where it says nothing of them."""
        said = chosen.turn(admit(Turn, turn(), "turn"))
        there = (name_of(tool) for tool in tools)
        exist = tuple(name for name in there if name in chosen.engine.tools) if said.tools is None else said.tools
        return model.named_in(replace(said, tools=exist, conversation=said.conversation or _thread_id()))


def _told_apart(messages: Sequence[BaseMessage], thread: Thread) -> list[BaseMessage]:
    """The messages, each call under a name of its own."""
    known = [record.call_id for record in thread.chat.state.results if record.call_id]
    return told_apart(messages, gone_names(*calls_held(messages, thread.answered), known))


def _error(request: ToolCallRequest, told: str) -> ToolMessage:
    call = request.tool_call
    return ToolMessage(told, name=call["name"], tool_call_id=call["id"], status="error")


def _said(turn: Turn | Callable[[], Turn] | None) -> Turn:
    return turn() if callable(turn) else turn or Turn()


def _keeps_history(model: Any) -> bool:
    """Whether OpenAI's model is told that the provider keeps the history, the system prompt in it."""
    inner = model
    while isinstance(inner, RunnableBindingBase):
        if inner.kwargs.get("previous_response_id"):
            return True
        inner = inner.bound
    bare, name = bare_model(model), "use_previous_response_id"
    return name in type(bare).model_fields and bool(getattr(bare, name))


def _thread_id() -> str:
    """The id of the thread that a graph runs in; empty outside of one."""
    config = var_child_runnable_config.get() or {}
    return str(config.get("configurable", {}).get("thread_id") or "")


def _messages(state: Any) -> Sequence[BaseMessage]:
    found = state.get("messages", ()) if isinstance(state, dict) else getattr(state, "messages", ())
    return found or ()
