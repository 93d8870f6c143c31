"""The messages of a call: the stack of its policy, with the system prompt and sections that are messages."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import datetime

from cuecard.model import Call, Segment
from cuecard.model.messages import Message, Role


def section_messages(spoken: tuple[tuple[Role, str, str], ...]) -> tuple[Message, ...]:
    """The messages for sections that are separate messages: role, id and text."""
    return tuple(Message(role, text, id=name, persist=False) for role, name, text in spoken)


def plain_messages(messages: Iterable[Message]) -> tuple[Message, ...]:
    """The messages as plain JSON."""
    return tuple(map(_plain, messages))


def with_system(call: Call, segments: tuple[Segment, ...], system: str) -> tuple[Message, ...]:
    """The messages of a call with the system prompt of a step, made from these segments."""
    if segments is call.prompt.segments and call.prompt.messages:
        return call.prompt.messages
    return _with_front(call.prompt.messages, _system_text(call), _front(system))


def spoken_sections(call: Call, sections: Collection[str]) -> tuple[Message, ...]:
    """The messages of a call that are sections with these ids."""
    return tuple(message for message in call.prompt.messages if _is_section(message, sections))


def as_before(call: Call, previous: Call, sections: Collection[str]) -> tuple[Message, ...]:
    """The messages of a call, but with the system prompt and the section messages of the previous call."""
    others = tuple(message for message in call.prompt.messages if not _is_section(message, sections))
    front = (*_front(_system_text(previous)), *spoken_sections(previous, sections))
    return _with_front(others, _system_text(call), front)


def _system_text(call: Call) -> str:
    return "".join(segment.text for segment in call.prompt.segments)


def _is_section(message: Message, sections: Collection[str]) -> bool:
    return not message.persist and message.role != "system" and message.id in sections


def _front(system: str) -> tuple[Message, ...]:
    return (Message("system", system, persist=False),) if system.strip() else ()


def _with_front(messages: tuple[Message, ...], before: str, front: tuple[Message, ...]) -> tuple[Message, ...]:
    """The messages with others in place of the system prompt, which was `before`; in front if there was none."""
    for place, message in enumerate(messages):
        if message.role == "system" and not message.persist and message.content == before:
            return (*messages[:place], *front, *messages[place + 1 :])
    return (*front, *messages)


def _plain(message: Message) -> Message:
    """The message as plain JSON."""
    time = message.timestamp
    return replace(message, timestamp=time.isoformat()) if isinstance(time, datetime) else message
