"""The messages of a call, in their stack.

Sections that are separate messages follow the system prompt, or are placed where the order names them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field
from datetime import datetime

from cuecard.config.history_spec import MetadataSpec, StackPart, StackSpec
from cuecard.model import Call, Cut, Json, Segment
from cuecard.model.messages import Message, Role
from cuecard.pipeline.history.selection import HistoryCut
from cuecard.records import dataclass, replace


def section_messages(spoken: tuple[tuple[Role, str, str], ...]) -> tuple[Message, ...]:
    """The messages for sections that are separate messages: role, id and text."""
    return tuple(Message(role, text, id=name, persist=False) for role, name, text in spoken)


def plain_messages(messages: Iterable[Message]) -> tuple[Message, ...]:
    """The messages as plain JSON."""
    return tuple(map(_plain, messages))


def with_system(call: Call, segments: tuple[Segment, ...], system: str) -> tuple[Message, ...]:
    """The messages of a call with the system prompt of a step, made from these segments."""
    if not call.prompt.messages:
        return _system_message(system)
    if segments is call.prompt.segments:
        return call.prompt.messages
    return _with_front(call.prompt.messages, _system_text(call), _system_message(system))


def spoken_sections(call: Call, sections: Collection[str]) -> tuple[Message, ...]:
    """The messages of a call that are sections with these ids."""
    return tuple(message for message in call.prompt.messages if _is_section(message, sections))


def as_before(call: Call, previous: Call, sections: Collection[str]) -> tuple[Message, ...]:
    """The messages of a call, but with the system prompt and the section messages of the previous call."""
    others = tuple(message for message in call.prompt.messages if not _is_section(message, sections))
    front = (*_system_message(_system_text(previous)), *spoken_sections(previous, sections))
    return _with_front(others, _system_text(call), front)


def _system_text(call: Call) -> str:
    return call.prompt.system


def _is_section(message: Message, sections: Collection[str]) -> bool:
    return not message.persist and message.role != "system" and message.id in sections


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


@dataclass(frozen=True, slots=True)
class Stack:
    """The messages of a request. A host stores those that `persist`; the others are created again for each request."""

    messages: tuple[Message, ...]
    cuts: tuple[Cut, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnMessages:
    """What a turn adds to the history.

    Attributes:
        current: the new message, or its text; left out if blank. Parts other than text are passed on unread.
        metadata: runtime facts as JSON; no message if there are none.
        ephemeral: an instruction for this request only; last, unless `StackSpec.order` names its place.
    """

    current: str | Message | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict)
    ephemeral: str = ""


def stack(
    system: str,
    selected: HistoryCut,
    turn: TurnMessages,
    spec: StackSpec,
    quoted: Callable[[str], str] = str,
    spoken: Sequence[Message] = (),
) -> Stack:
    """The messages of a request.

    Args:
        system: the system prompt.
        selected: the history, with the summary in front of it if it is a message.
        turn: what the turn adds.
        spec: the order of the parts, and the format of the metadata.
        quoted: keeps the metadata, which the engine writes itself, from opening or closing elements of the prompt.
        spoken: sections that are separate messages, each with the section's id.
    """
    new = Message("user", turn.current) if isinstance(turn.current, str) else turn.current
    history, again = _without(selected.messages, new)
    facts, cuts = metadata_message(turn.metadata, spec.metadata, quoted)
    placed = spec.sections
    parts: dict[StackPart, tuple[Message, ...]] = {
        **{name: tuple(message for message in spoken if message.id == name) for name in placed},
        "system": (*_system_message(system), *(message for message in spoken if message.id not in placed)),
        "metadata": (facts,) if facts else (),
        "history": (*((selected.as_message,) if selected.as_message else ()), *history),
        "current": () if new is None or (new.blank and new.role != "tool") else (new,),
        "ephemeral": _system_message(turn.ephemeral),
    }
    order = spec.order if "ephemeral" in spec.order else (*spec.order, "ephemeral")
    return Stack(tuple(message for name in order for message in parts[name]), (*again, *cuts))


def metadata_message(
    metadata: Mapping[str, Json], spec: MetadataSpec, quoted: Callable[[str], str] = str
) -> tuple[Message | None, tuple[Cut, ...]]:
    """`{"<key>": {...}}` as a user message, with sorted keys; a stub if it is larger than `max_bytes`.

    The stub is `{"truncated": true}` with the texts under the keys in `spec.keep` that are not blank or, if that is
    still too large, without them.
    """
    if not metadata:
        return None, ()
    stub = {"truncated": True}
    texts = {key: value for key in spec.keep if isinstance(value := metadata.get(key), str)}
    kept = {key: value for key, value in texts.items() if value.strip()}
    whole, *stubs = (quoted(_written(facts, spec)) for facts in (dict(metadata), {**kept, **stub}, stub))
    if _size(whole) <= spec.max_bytes:
        return Message("user", whole, persist=False), ()
    reason = f"messages.metadata.max_bytes: {_size(whole)} of {spec.max_bytes} bytes"
    fitting = next(text for text in stubs if _size(text) <= spec.max_bytes)
    return Message("user", fitting, persist=False), (Cut(f"metadata {spec.key}", reason),)


def _without(history: tuple[Message, ...], new: Message | None) -> tuple[tuple[Message, ...], tuple[Cut, ...]]:
    """The history without the current message, which some hosts store before they ask."""
    if new is None or not new.id or new.blank or new.role != "user":
        return history, ()
    others = tuple(message for message in history if message.id != new.id or message.role != "user")
    return others, (Cut("history message", "it is the current message"),) if len(others) < len(history) else ()


def _system_message(text: str) -> tuple[Message, ...]:
    return () if not text or text.isspace() else (Message("system", text, persist=False),)


def _written(facts: Mapping[str, Json], spec: MetadataSpec) -> str:
    return json.dumps({spec.key: facts}, ensure_ascii=False, separators=(",", ":"), sort_keys=True, default=dict)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
