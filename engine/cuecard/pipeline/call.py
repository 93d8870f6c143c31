"""A call out of its parts: the sections, the tools, the delivery, the messages."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

from cuecard.agent import Agent
from cuecard.model import Authority, Call, CountTokens, TokenSource, Turn
from cuecard.model.messages import Message
from cuecard.pipeline.delivery import Choice
from cuecard.pipeline.fingerprints import fingerprints
from cuecard.pipeline.history.record import Selected
from cuecard.pipeline.history.selection import select
from cuecard.pipeline.history.stack import stack
from cuecard.pipeline.inputs import Values
from cuecard.pipeline.sections import Composed
from cuecard.pipeline.tools import ToolPlan


def select_history(agent: Agent, turn: Turn, count: CountTokens) -> Selected:
    """What of the conversation goes into the request, by the agent's policy; without one, all of it."""
    if agent.spec.history is not None:
        return select(turn.messages, turn.summary, agent.spec.history, count)
    summary = turn.summary if isinstance(turn.summary, str) else turn.summary.text
    return Selected(turn.messages, summary)


def make_call(
    agent: Agent,
    turn: Turn,
    values: Values,
    plan: ToolPlan,
    composed: Composed,
    selected: Selected,
    chosen: Choice,
    authority: Authority,
    tokens: TokenSource,
) -> Call:
    """The call, as if it were the first of its conversation.

    Raises:
        InputError: when the turn's metadata is not JSON.
    """
    system = "".join(segment.text for segment in composed.segments)
    messages = stack(system, selected, turn.metadata, turn.message, agent.spec.messages, ephemeral=turn.ephemeral)
    spoken = tuple(Message(role, text, id=name, persist=False) for role, name, text in composed.spoken)
    return Call(
        agent=agent.spec.agent,
        spec_sha256=agent.sha256,
        delivery=chosen.delivery,
        segments=composed.segments,
        values=composed.values,
        tools=plan.tools,
        initial=plan.initial,
        discovered=plan.discovered,
        cuts=(*values.cuts, *plan.cuts, *composed.cuts, *selected.cuts, *messages.cuts),
        trust=values.trust,
        tokens=tokens,
        reload=turn.reload,
        shown=composed.bodies,
        inputs=fingerprints(composed.values),
        delivery_reason=chosen.reason,
        model=turn.model,
        host=turn.host,
        authority=authority,
        earlier=plan.earlier,
        base=plan.initial,
        profile=turn.profile,
        variant=turn.variant,
        messages=tuple(map(_plain, _after_system(messages.messages, spoken))),
        diagnostics=(*turn.diagnostics, *composed.diagnostics),
        sources=composed.sources,
    )


def with_system(call: Call, system: str) -> tuple[Message, ...]:
    """The messages of a call with the system prompt of a step."""
    return _with_system(call.messages, _system(call), system)


def spoken_sections(call: Call, sections: Collection[str]) -> tuple[Message, ...]:
    """The messages of a call that are sections of these ids."""
    return tuple(message for message in call.messages if _is_section(message, sections))


def as_before(agent: Agent, call: Call, previous: Call) -> tuple[Message, ...]:
    """The messages of a call with the system prompt, and the sections that are messages, of the call before it."""
    sections = {section.id for section in agent.sections}
    others = tuple(message for message in call.messages if not _is_section(message, sections))
    spoken = spoken_sections(previous, sections)
    return _after_system(_with_system(others, _system(call), _system(previous)), spoken)


def _system(call: Call) -> str:
    return "".join(segment.text for segment in call.segments)


def _is_section(message: Message, sections: Collection[str]) -> bool:
    return not message.persist and message.role != "system" and message.id in sections


def _with_system(messages: tuple[Message, ...], before: str, system: str) -> tuple[Message, ...]:
    """The messages with another system prompt; a blank one has no message."""
    new = (Message("system", system, persist=False),) if system.strip() else ()
    for place, message in enumerate(messages):
        if message.role == "system" and not message.persist and message.content == before:
            return (*messages[:place], *new, *messages[place + 1 :])
    return (*new, *messages)


def _after_system(messages: tuple[Message, ...], spoken: tuple[Message, ...]) -> tuple[Message, ...]:
    """Sections that are messages of their own stand right after the system prompt."""
    place = 1 if messages and messages[0].role == "system" else 0
    return (*messages[:place], *spoken, *messages[place:])


def _plain(message: Message) -> Message:
    """The message as JSON knows it."""
    time = message.timestamp
    return replace(message, timestamp=time.isoformat()) if isinstance(time, datetime) else message
