"""The messages of a call: the stack of its policy, with the system prompt and the sections that are messages."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

from cuecard.model import Call, Segment
from cuecard.model.messages import Message, Role


def call_messages(stacked: tuple[Message, ...], spoken: tuple[tuple[Role, str, str], ...]) -> tuple[Message, ...]:
    """The messages as JSON knows them; `spoken` are sections that are messages of their own: role, id and text."""
    said = tuple(Message(role, text, id=name, persist=False) for role, name, text in spoken)
    return tuple(map(_plain, _after_system(stacked, said)))


def with_system(call: Call, segments: tuple[Segment, ...], system: str) -> tuple[Message, ...]:
    """The messages of a call with the system prompt of a step, which is made of these segments."""
    if segments is call.prompt.segments and call.prompt.messages:
        return call.prompt.messages
    return _with_system(call.prompt.messages, _system(call), system)


def spoken_sections(call: Call, sections: Collection[str]) -> tuple[Message, ...]:
    """The messages of a call that are sections of these ids."""
    return tuple(message for message in call.prompt.messages if _is_section(message, sections))


def as_before(call: Call, previous: Call, sections: Collection[str]) -> tuple[Message, ...]:
    """The messages of a call with the system prompt, and the sections that are messages, of the call before it."""
    others = tuple(message for message in call.prompt.messages if not _is_section(message, sections))
    return _after_system(_with_system(others, _system(call), _system(previous)), spoken_sections(previous, sections))


def _system(call: Call) -> str:
    return "".join(segment.text for segment in call.prompt.segments)


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
