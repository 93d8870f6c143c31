"""One run of the Agents SDK: its steps, its models and its agents."""

from __future__ import annotations

import json
from asyncio import Future
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from inspect import currentframe
from typing import Annotated, Any, TypeAlias, cast

from agents import Agent, FunctionTool, Handoff, Model, OpenAIChatCompletionsModel, OpenAIResponsesModel, RunConfig
from agents.agent import AgentBase
from agents.run_config import ModelInputData

from cuecard.adapters.bodies import checked_limits
from cuecard.adapters.conversations import answered_step, check_own, in_doubt, made_by, search
from cuecard.adapters.function_tools import plain_value
from cuecard.adapters.host import AT_ONCE, EngineDoor, HostTool, of_any_depth, with_words
from cuecard.adapters.one_turn import inputs_now, refuse_kept_history, whole_system
from cuecard.adapters.openai_agents.items import Item, place_blocks, tool_results, with_results, without_ended_thinking
from cuecard.config.models_file import ModelProfiles
from cuecard.conversation import Conversation
from cuecard.engine import Engine
from cuecard.errors import InputError, Problem
from cuecard.model import Call, ConversationState, Step, ToolResult, Turn
from cuecard.model.boundary import admit


def reachable(agent: AgentBase) -> list[AgentBase]:
    """The agent, and all that it and they may hand the run to, each once, the nearest first."""
    found = [agent]
    for each in found:
        found += [target for target in _targets(each) if not any(target is known for known in found)]
    return found


def _targets(agent: AgentBase) -> Iterator[AgentBase]:
    for each in getattr(agent, "handoffs", ()):
        target = _target(each) if isinstance(each, Handoff) else each
        if isinstance(target, Agent):
            yield target


def _target(handoff: Handoff[object, Agent[object]]) -> object:
    """A handoff knows its agent weakly, and by no public name."""
    held = getattr(handoff, "_agent_ref", None)
    return held() if callable(held) else None


def refuse_nested(agent: AgentBase, serves: Callable[[AgentBase], bool]) -> None:
    """Refuse an agent as a tool of another, where both get their prompts from one card: its run would be in the same
    conversation, and what it finds, calls and is told would pass for the other's.

    Raises:
        InputError: naming each such tool.
    """
    problems = [
        Problem(
            "wrong-argument",
            f"the tool `{tool.name}` of agent `{each.name}` is an agent with tools of the same card",
            "hand over to that agent (`handoffs`), or give it tools that come from no card",
            f"{each.name}.tools",
        )
        for each in reachable(agent)
        if serves(each)
        for tool in each.tools
        if any(map(serves, _run_by(tool)))
    ]
    if problems:
        raise InputError(problems)


def _run_by(tool: Any) -> list[AgentBase]:
    """The agents that a call of a tool may run; the SDK keeps the agent of `as_tool` by no public name."""
    inner = getattr(tool, "_agent_instance", None)
    found = reachable(inner) if isinstance(inner, Agent) else []
    for each in found:
        for nested in (getattr(deeper, "_agent_instance", None) for deeper in each.tools):
            if isinstance(nested, Agent) and not any(nested is known for known in found):
                found += reachable(nested)
    return found


def with_model(turn: Turn, agent: AgentBase, config: RunConfig, profiles: ModelProfiles) -> Turn:
    """The turn with the model that answers it, where the turn itself names none.

    A model of another kind than OpenAI's two interfaces is reached through a translation of the items: nobody knows
    what becomes of a role there, so instructions are reminders of the user.
    """
    if turn.model:
        return turn
    model = _model(agent, config)
    name = getattr(model, "model", None)
    if not isinstance(name, str):
        return turn
    if not isinstance(model, (OpenAIResponsesModel, OpenAIChatCompletionsModel)):
        return replace(turn, model=name, authority=turn.authority or "user")
    named = replace(turn, model=name, endpoint=_address(model))
    role = profiles.find(name, endpoint=named.endpoint).mid_conversation
    return replace(named, authority=turn.authority or role)


def checks_thinking(agent: AgentBase, config: RunConfig, profiles: ModelProfiles) -> bool:
    """Whether the model that answers accepts its thinking only while the text before it is the same."""
    model = _model(agent, config)
    name, endpoint = getattr(model, "model", None), getattr(model, "base_url", None)
    if isinstance(model, (OpenAIResponsesModel, OpenAIChatCompletionsModel)):
        endpoint = _address(model)
    return isinstance(name, str) and profiles.find(name, endpoint=str(endpoint or "")).checks_thinking


def _model(agent: AgentBase, config: RunConfig) -> Model:
    chosen = config.model or getattr(agent, "model", None)
    return chosen if isinstance(chosen, Model) else config.model_provider.get_model(chosen)


def _address(model: OpenAIResponsesModel | OpenAIChatCompletionsModel) -> str:
    client = getattr(model, "_client", None)
    return str(client.base_url) if client is not None else ""


_TRACKER = "server_conversation_tracker"


def provider_keeps_history() -> bool:
    """Whether the provider keeps the history of the run whose next request is being made.

    The SDK tells none of its hooks, but has what tracks such a history in a variable of the functions that call them.
    Were it renamed, a run would be refused no earlier than at its second request, which lacks what the provider keeps.
    """
    frame = currentframe()
    while frame is not None:
        if _TRACKER in frame.f_locals:
            return frame.f_locals[_TRACKER] is not None
        frame = frame.f_back
    return False


TurnSource: TypeAlias = Turn | Annotated[Callable[[], Turn], AT_ONCE]
"""What the host knows about a run: the same for all its requests, or made for each."""

_WAY_OUT = "pass `**card.options()` to the runner"


@dataclass(frozen=True)
class RunListener:
    """Whom a run tells of its calls and steps."""

    call: Callable[[Call], None] | None = None
    step: Callable[[Step], None] | None = None


@dataclass(eq=False, repr=False)
class Run:
    """What one run knows; it travels as the run's context, or in a field `cuecard` of it, and prints nothing of it.

    Attributes:
        engine: the engine that serves the run.
        chat: the conversation that the run belongs to.
        turn: what the host knows about it; the call is made of the first, and later requests take from it only the
            inputs that the agent file declares with `tier: step`.
        config: the settings of the run, which may name the model.
        told: whom it tells of its calls and steps.
        serves: whether an agent gets the prompt.
        call: the prepared call; None before the first request.
        step: the step that the model is answering.
        first: the tools of the first request under `rewrite`, as far as they are known before it.
        given: what tools gave before the SDK made text of it, by call id; those of a conversation's runs share it.
        names: the tools of calls, by call id.
        failed: the ids of calls that failed or were refused.
        found: tools that searches have found since the step.
        asked: tools that the model has called since the step.
        answers: what its calls have given, by call id: a handoff may fold them into a text, unseen.
        on: which tools are enabled, by identity, as the SDK has asked last.
        answering: the tools of the request that the model is answering, until its calls are run: the SDK asks anew
            whether each is enabled, and would end the run where one is not; its call is refused.
        looking: asks about all tools before a request.
        listed: tools whose definitions the conversation has been sent; its runs share them.
        resumed: whether it goes on after an interruption: then no request has shown what the model was sent.
        kept: whether the provider keeps the history, and is sent only what is new; noticed where it is not said.
        door: what chooses the engine; None for the one that the run has.
        before: the conversation as the run began.
        replaced: the call that other files have replaced within the run, until it is made anew.
        words: the user's words that it answers.
    """

    engine: Engine
    chat: Conversation
    turn: TurnSource
    config: RunConfig
    told: RunListener
    serves: Callable[[AgentBase], bool]
    call: Call | None = None
    step: Step | None = None
    first: tuple[str, ...] = ()
    given: dict[str, Any] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)
    found: set[str] = field(default_factory=set)
    asked: set[str] = field(default_factory=set)
    answers: dict[str, Any] = field(default_factory=dict)
    on: dict[int, bool] = field(default_factory=dict)
    answering: frozenset[str] = frozenset()
    looking: Future[None] | None = None
    listed: set[str] = field(default_factory=set)
    resumed: bool = False
    kept: bool = False
    door: EngineDoor | None = None
    before: ConversationState | None = None
    replaced: Call | None = None
    words: str = ""

    def begin(self, agent: AgentBase) -> Call:
        """The call of this run, made once.

        Raises:
            InputError: with every missing, unknown or wrong input of the turn.
        """
        if self.call is None:
            refuse_nested(agent, self.serves)
            door, whole = self.door or EngineDoor(self.engine), self._there(agent) is not None
            chosen = door.take(self.chat, call=self.replaced, tools=self._described(agent), whole=whole)
            self.engine, self.before, self.replaced = chosen.engine, self.chat.state, None
            turn = with_model(chosen.turn(self._said()), agent, self.config, self.engine.models)
            turn = replace(turn, tools=self._there(agent) if turn.tools is None else turn.tools)
            turn = with_words(turn, self.engine, lambda: self.words)
            if before := self.chat.call:  # another process may have sent definitions, too
                self.listed.update(before.tools.available, before.tools.base, before.tools.sent)
            self.call = self.chat.user(turn)
            check_own(self.call, self.engine)
            if self.call.delivery.rebuilds:
                self.first = self.chat.step().active_tools
            if self.told.call:
                self.told.call(self.call)
        return self.call

    def _same_files(self) -> bool:
        """Whether the engine of the running call still serves; otherwise the run begins anew with the next one."""
        if self.door is None or self.call is None:
            return True
        newest = self.door.choose(call=self.call).engine
        if made_by(self.call, newest):
            return True
        self.replaced = self.call
        self._take_back(newest)
        return False

    def _take_back(self, engine: Engine) -> None:
        engine.take_over(self.chat, self.before)
        self.call, self.step, self.first = None, None, ()

    def shows(self, agent: AgentBase, tool: str, *, is_on: bool) -> bool:
        """Whether the next request has a tool: under `rewrite` when it is active.

        Else always, and also while it is not enabled if an earlier request had it: taking its definition out would
        change what stands in front of everything. A call of it is refused.
        """
        if self.begin(agent).delivery.rebuilds:
            active = self.step.active_tools if self.step else self.first
            return is_on and (tool not in self.engine.tools or tool in active or tool in self.found)
        if is_on:
            self.listed.add(tool)
        return tool in self.listed

    def prepared(self, agent: Agent[Any], data: ModelInputData) -> ModelInputData:
        """The instructions and items of one request, brought into the state that the step describes.

        Raises:
            InputError: with every text of one turn, where the provider keeps the history.
        """
        goes_on = self.step is not None and self._same_files()
        call = self.begin(agent)
        if self.kept or provider_keeps_history():
            self._refuse_kept_history(call)
        self.answering, self.looking = frozenset(self._front(agent, call)), None
        items = cast("Sequence[Item]", data.input)
        now = inputs_now(self.engine.agent, self._said) if goes_on else {}
        self.step = self.chat.step(self._results(items), inputs=now, tools=self._names(agent), templates=True)
        self.call = self.chat.call
        checked_limits(self.step)
        if self.call and not self.call.delivery.rebuilds and not agent.mcp_servers:
            self.step = self.chat.in_front(self.step, self._front(agent, call))
            self.call = self.chat.call
        self.found.clear()
        self.asked.clear()
        if self.told.step:
            self.told.step(self.step)
        if self.engine.agent.results:
            items = self._told(items)
        if self.step.ended and checks_thinking(agent, self.config, self.engine.models):
            items = without_ended_thinking(items, self.step)
        authority = call.delivery.authority
        placed: Any = place_blocks(items, self.step, "user" if authority == "unknown" else authority)
        own = f"\n\n{data.instructions}" if data.instructions else ""
        return ModelInputData(input=placed, instructions=whole_system(self.step) + own)

    def _refuse_kept_history(self, call: Call) -> None:
        try:
            refuse_kept_history(self.engine.agent, call)
        except InputError:
            if self.step is None:  # nothing was sent, so the conversation has no such call
                self._take_back(self.engine)
            raise

    def _front(self, agent: AgentBase, call: Call) -> Iterator[str]:
        """The names of the tools that the SDK shows with the next request, in their order."""
        for tool in agent.tools:
            condition = getattr(tool, "is_enabled", True)
            if id(tool) in self.on:
                condition = self.shows(agent, tool.name, is_on=self.on[id(tool)])
            elif callable(condition):
                condition = tool.name == self.engine.search_tool and call.tools.offers_search
            if condition:
                yield tool.name

    def hears_calls(self) -> None:
        """The calls of an answer are run: what the SDK asks from here on, it asks for the next request."""
        self.answering, self.looking = frozenset(), None

    def refusal(self, tool: str, call_id: str, *, gone: bool = False) -> str | None:
        """What to answer in place of this call of a tool; None if it may be called.

        Args:
            tool: the name of the tool.
            call_id: the id of the call.
            gone: whether the host has switched it off since the request.

        Raises:
            InputError: when the model was sent a request that did not go through the adapter.
        """
        step = self.step or (self._answered() if self.resumed else None)
        if step is None and not self.resumed:
            told = "a request was sent without the prompt, because the run does not use this adapter's settings"
            raise InputError(Problem("wrong-argument", told, _WAY_OUT, "run_config"))
        self.names[call_id] = tool
        self.asked.add(tool)
        refusal = step.refusal(tool, self.asked) if step else in_doubt(tool, self.engine)
        if refusal is None and gone:
            refusal = self.engine.words.tools.withdrawn.replace("{tool}", tool)
        if refusal is not None:
            self.failed.add(call_id)
        return refusal

    def search(self, query: str, limit: int | None, call_id: str, agent: AgentBase | None) -> str:
        """What the search tool answers, as JSON: no tool that this agent does not have, unless servers have others."""
        found = search(self.engine, self.chat, query, limit, self._own(agent) if agent else None)
        if isinstance(found, str):
            self.failed.add(call_id)
            return found
        self.found |= set(found.tools)
        self.answers[call_id] = found.to_json()
        return json.dumps(found.to_json(), ensure_ascii=False)

    def note(self, call_id: str, output: Any) -> None:
        """A call has given something: the SDK makes a text of it by `str`."""
        self.given[call_id] = self.answers[call_id] = output

    def _answered(self) -> Step | None:
        return answered_step(self.chat, self.engine, self._said(), ())

    def _said(self) -> Turn:
        made: Any = self.turn() if callable(self.turn) else self.turn
        turn: Turn = admit(Turn, Turn() if made is None else made, "turn")
        return turn

    def _there(self, agent: AgentBase) -> tuple[str, ...] | None:
        """The tools of the catalogue that are enabled; None where only servers know."""
        names = self._names(agent)
        return None if names is None else tuple(name for name in names if name in self.engine.tools)

    def _names(self, agent: AgentBase) -> tuple[str, ...] | None:
        """The enabled tools of all agents that the run may be handed to; None where only their servers know."""
        agents = [each for each in reachable(agent) if each is agent or self.serves(each)]
        if any(each.mcp_servers for each in agents):
            return None
        tools = [tool for each in agents for tool in each.tools]
        there = (t for t in tools if not isinstance(t, FunctionTool) or self.on.get(id(t), t.is_enabled is not False))
        return tuple(dict.fromkeys(tool.name for tool in there))

    def _own(self, agent: AgentBase) -> set[str] | None:
        return None if self._names(agent) is None else {tool.name for tool in agent.tools}

    def _described(self, agent: AgentBase) -> list[HostTool]:
        tools = [tool for each in reachable(agent) for tool in each.tools if isinstance(tool, FunctionTool)]
        return [HostTool.of(tool.name, tool.description, tool.params_json_schema) for tool in tools]

    def _results(self, items: Sequence[Item]) -> list[ToolResult]:
        """Those that the conversation does not know, and all searches, which it compares by what they have found."""
        search, records = self.engine.search_tool, self.chat.state.results
        told = {record.call_id: record for record in records if record.call_id}
        results = []
        known = {call: record.tool for call, record in told.items()}
        read = {call: tool for call, tool in known.items() if tool != search or told[call].is_error}
        if self.call and not self.call.delivery.places_blocks:  # nothing has to find its place, so news are enough
            known |= self.names
        for each in tool_results(items, known, read):
            text = isinstance(each.result, str)  # which the SDK has made of something else, unless it is in parts
            said = plain_value(self.given.get(each.call_id or "", each.result)) if text else each.result
            results.append(replace(each, result=said, is_error=each.call_id in self.failed))
        unseen = self.answers.keys() - told.keys() - {each.call_id for each in results}
        folded = [(call, plain_value(output)) for call, output in self.answers.items() if call in unseen]
        return [*(ToolResult(self.names[call], said, call, call in self.failed) for call, said in folded), *results]

    def _told(self, items: Sequence[Item]) -> list[Item]:
        """The items with results as texts; which calls failed in earlier runs, the conversation knows."""
        records = [record for record in self.chat.state.results if record.call_id]
        known = {record.call_id or "": record.tool for record in records} | self.names
        failed = {record.call_id or "" for record in records if record.is_error}
        return with_results(items, of_any_depth(self.engine.render_result), known, self.given, failed)
