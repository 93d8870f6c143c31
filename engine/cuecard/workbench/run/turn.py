"""One turn of a conversation: takes the user's message, runs the steps, and carries history and memory forward."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.exceptions import AgentRunError
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model
from pydantic_ai.usage import UsageLimits

from cuecard.adapters.pydantic_ai.messages import tool_results
from cuecard.conversation import Conversation
from cuecard.engine import Engine
from cuecard.errors import RunLimitError
from cuecard.model import Memory, RunLimits, Step, ToolResult, Turn
from cuecard.pipeline.run import NO_LIMITS, limits_of
from cuecard.workbench.run.assistant import ACKNOWLEDGE, FINAL_ANSWER, CallTool, make_assistant
from cuecard.workbench.run.events import CallEvent, Emit, StepEvent, TurnEnd, UserMessage
from cuecard.workbench.run.sources import ToolSource


@dataclass(frozen=True, slots=True)
class LiveAgent:
    """An agent ready for a conversation, with its tools known to the engine.

    Attributes:
        name: the name of the conversation in events.
        engine: knows the tools.
        call: calls one.
        tools: the names of the tools that `call` supports.
        own: tools that exist without a source.
        base: what the host knows of every turn.
        over: limits of a run that override those of the agent file.
    """

    name: str
    engine: Engine
    call: CallTool
    tools: tuple[str, ...]
    own: tuple[str, ...] = ()
    base: Turn = field(default_factory=Turn)
    over: RunLimits = NO_LIMITS

    @classmethod
    def on(cls, source: ToolSource, name: str, engine: Engine, *, own: tuple[str, ...], **options: Any) -> LiveAgent:
        """The agent with these tools; its own tools are not taken from a source."""
        known = engine.with_tools(source.cards)
        taken = {engine.search_tool, FINAL_ANSWER, ACKNOWLEDGE}
        there = [card.name for card in source.cards if card.name not in taken and card.name in known.tools]
        cut = {cut.what for cut in known.tool_cuts}
        names = tuple(each for each in there if f"tool {each}" not in cut)
        return cls(name, known, source.call, names, own, **options)

    def turn(self, now: datetime | None) -> Turn:
        """The next turn for the engine: a tool exists if a source or the agent itself has it."""
        tools = tuple(dict.fromkeys((*self.own, *self.tools)))
        return replace(self.base, now=now or self.base.now, tools=tools, run=self.limits)

    @property
    def limits(self) -> RunLimits:
        """The limits of a run; a chat always has some for requests and retries."""
        limits = limits_of(self.engine.agent.spec.run, self.over)
        steps, retries = (usual if said is None else said for said, usual in ((limits.steps, 15), (limits.retries, 2)))
        return replace(limits, steps=steps, retries=retries)


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation so far: the prompt engine's state, the messages, and what was displayed."""

    chat: Conversation
    messages: tuple[ModelMessage, ...] = ()
    steps: tuple[StepEvent, ...] = ()
    turns: tuple[TurnEnd, ...] = ()


async def take_turn(
    running: LiveAgent, talk: Talk, user: str, model: Model, emit: Emit, now: datetime | None = None
) -> Talk:
    """The conversation after one more message of the user.

    Args:
        running: the agent.
        talk: the conversation so far.
        user: the user's message.
        model: the deciding model.
        emit: receives the question, each step, and the answer.
        now: the time of the turn; None for the engine's clock.
    """
    number = len(talk.turns) + 1
    emit(UserMessage(running.name, number, user))
    turn = running.turn(now)
    everything: list[int] = []
    prepared: list[Step] = []
    limits = UsageLimits(request_limit=None)
    agent = make_assistant(
        running.engine,
        model,
        running.tools,
        running.call,
        limits=running.limits,
        conversation=talk.chat,
        on_call=lambda _: everything.append(_with_all_protocols(running.engine, turn, talk.chat.memory)),
        on_step=prepared.append,
    )
    steps: list[StepEvent] = list(talk.steps)
    answered = TurnEnd(running.name, number, "")
    async with agent.iter(user, deps=turn, message_history=talk.messages, usage_limits=limits) as run:
        response: ModelResponse | None = None
        try:
            async for node in run:
                if response is not None:
                    messages = [node.request] if Agent.is_model_request_node(node) else run.all_messages()[-1:]
                    before = steps[-1].manifest if steps else None
                    thought, made = _decision(response, tool_results(messages))
                    taken = len(steps) - len(talk.steps) + 1
                    told = (prepared[-1], before, everything[-1], thought, made)
                    steps.append(StepEvent(running.name, number, taken, *told))
                    emit(steps[-1])
                response = node.model_response if Agent.is_call_tools_node(node) else None
            answered = replace(answered, answer=run.result.output if run.result else "")
        except RunLimitError:
            answered = replace(answered, stopped=f"no answer within {running.limits.steps} model requests")
        except AgentRunError as error:
            answered = replace(answered, stopped=str(error))
        messages = run.all_messages()
    emit(answered)
    return Talk(talk.chat, tuple(messages), tuple(steps), (*talk.turns, answered))


def _with_all_protocols(engine: Engine, turn: Turn, memory: Memory) -> int:
    """The tokens of this turn's prompt if it always contained the instructions of every tool."""
    frozen = engine.prepare_call(replace(turn, memory=memory, delivery="frozen"))
    return sum(segment.tokens for segment in frozen.prompt.segments)


def _decision(response: ModelResponse, results: tuple[ToolResult, ...]) -> tuple[str, tuple[CallEvent, ...]]:
    by_id = {result.call_id: result for result in results}
    calls = []
    for call in response.tool_calls:
        result = by_id.get(call.tool_call_id, ToolResult(call.tool_name, None))
        calls.append(CallEvent(call.tool_name, call.args_as_dict(), result.result, result.is_error))
    return "\n".join(part.content for part in response.parts if part.part_kind == "thinking"), tuple(calls)
