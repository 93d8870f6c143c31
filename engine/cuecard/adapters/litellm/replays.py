"""Conversations of hosts that keep nothing but messages in Chat Completions form: each request tells it all again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from typing import Any, TypeAlias

from cuecard.adapters.host import content_text, said_beside_files, with_words
from cuecard.adapters.one_turn import inputs_now
from cuecard.conversation import Conversation
from cuecard.engine import Engine
from cuecard.model import Call, Step, ToolResult, Turn

Message: TypeAlias = Mapping[str, Any]
"""A message in the form of Chat Completions."""

_Key: TypeAlias = tuple[int, int, str]
"""How many messages there are, the hash of the last one, and the turn."""

ATOMS = frozenset({str, int, float, bool, type(None)})
"""Types of plain JSON that nobody can change."""

_HASHED = frozenset({str, type(None)})
"""Types of the fields of a message that are hashed as they are; a message of calls has neither id nor text."""


@dataclass(frozen=True, slots=True)
class ReplayedConversation:
    """A conversation that was gone through.

    Attributes:
        chat: the conversation; only for searches once it is kept.
        step: the next step.
        call: the call, as the step leaves it.
        offer: what the host offered with the request that this one goes on from; None where it goes on from none.
    """

    chat: Conversation
    step: Step
    call: Call
    offer: Any
    _messages: list[Message]
    _reading: _ReplayReader
    _name: str


class Replays:
    """Goes through conversations from their beginning: the same messages and turn give the same prompts, anywhere.

    What the newest requests have come to is kept, so that a request that goes on from one reads only what is new. It
    may have other tools and other inputs per request, too, where it is known to be the same conversation: by its name,
    or by the ids of its calls.
    """

    def __init__(self, most: int = 1024) -> None:
        self._most = most
        self._points: OrderedDict[_Key, _Point] = OrderedDict()
        self._last: OrderedDict[_Key, _Point] = OrderedDict()
        self._lock = Lock()
        self._said: tuple[Turn, tuple[str, str]] | None = None

    def replay(
        self, engine: Engine, messages: Sequence[Message], turn: Turn, tools: tuple[str, ...]
    ) -> ReplayedConversation:
        """The conversation, and its next step.

        Args:
            engine: the engine; what requests of another one have come to is not gone on from.
            messages: the conversation, without the system prompt.
            turn: what the host knows: the same for every message of the user.
            tools: the names of the tools that the host offers.

        Raises:
            InputError: with everything that is wrong in the turn.
        """
        files = f"{engine.sha256}{engine.agent.catalogue.sha256}"
        exact, alike = (files + name for name in self._names(turn, engine))
        begun = self._point(self._points, messages, alike)
        begun = begun if begun.chat else self._point(self._points, messages, exact)
        known = len(begun.messages)
        chat = copy(begun.chat) if begun.chat else engine.conversation()
        engine.take_over(chat)
        reading = copy(begun.reading)
        for place in range(known, len(messages)):
            if reading.read(messages, place):
                said = messages[place].get("content")
                chat.user(with_words(turn, engine, partial(content_text, said)), reading.taken())
        call = chat.call or chat.user(turn)
        now = inputs_now(engine.agent, lambda: turn)
        step = chat.step(reading.taken(), inputs=now, tools=tools, templates=True)
        kept = [*begun.messages, *map(copied, messages[known:])]
        name = alike if turn.conversation or reading.calls else exact
        return ReplayedConversation(chat, step, step.call or call, begun.offer, kept, reading, name)

    def keep(self, made: ReplayedConversation, offer: Any) -> None:
        """Let requests go on from this one, with what the host has offered with it."""
        kept = made._messages  # noqa: SLF001 - of this module
        if made._reading.asked:  # noqa: SLF001 - the same
            point = _Point(kept, made._reading, made.chat, offer)  # noqa: SLF001 - the same
            self._keep(self._points, _key(kept, len(kept), made._name), point)  # noqa: SLF001 - the same
            self._keep(self._last, _key(kept, len(kept), ""), point)

    def before(self, messages: Sequence[Message]) -> tuple[Call | None, Call | None]:
        """The last call of this conversation, by whatever engine, and the same where these messages go on with it; None
        where nobody knows in this process.
        """
        point = self._point(self._last, messages, "")
        call = point.chat.call if point.chat else None
        return call, None if _is_user(messages[len(point.messages) :]) else call

    def _point(self, points: OrderedDict[_Key, _Point], messages: Sequence[Message], turn: str) -> _Point:
        """The last that earlier requests have come to in this conversation."""
        with self._lock:
            for end in range(len(messages), 0, -1):
                point = points.get(key := _key(messages, end, turn))
                if point and point.goes_on(messages):
                    points.move_to_end(key)
                    return point
        return _Point()

    def _names(self, turn: Turn, engine: Engine) -> tuple[str, str]:
        """What a turn is known by: all that it says, and that without what a request or a message may change."""
        said = self._said
        if said is None or turn is not said[0]:
            spec = engine.agent.spec.inputs
            passing = {name for name, each in spec.items() if each.tier == "step" or each.lives != "conversation"}
            inputs = {name: value for name, value in turn.inputs.items() if name not in passing}
            lasting = replace(turn, tools=None, inputs=inputs, ephemeral="", diagnostics=())
            said = self._said = (turn, (repr(turn), repr(lasting)))
        return said[1]

    def _keep(self, points: OrderedDict[_Key, _Point], key: _Key, point: _Point) -> None:
        with self._lock:
            points[key] = point
            while len(points) > self._most:
                points.popitem(last=False)


@dataclass(slots=True)
class _ReplayReader:
    """What is known while messages are read.

    Attributes:
        calls: the tool and the arguments of each call, by its id.
        results: those that were not told yet.
        batch: what the results of the calls that were made last have in common.
        asked: whether there was a message of the user.
    """

    calls: dict[str, tuple[str, Any]] = field(default_factory=dict)
    results: tuple[ToolResult, ...] = ()
    batch: str | None = None
    asked: bool = False

    def __copy__(self) -> _ReplayReader:
        return _ReplayReader(dict(self.calls), self.results, self.batch, self.asked)

    def read(self, messages: Sequence[Message], place: int) -> bool:
        """Read a message; whether it begins a call: it is the user's, and the last of those that follow each other."""
        message = messages[place]
        role = message.get("role")
        if role == "assistant":
            self._called(message.get("tool_calls") or ())
        elif role in {"tool", "function"}:
            self._answered(message, place)
        begins = role == "user" and not _is_user(messages[place + 1 : place + 2])
        self.asked = self.asked or begins
        return begins

    def taken(self) -> tuple[ToolResult, ...]:
        """The results that were not told yet; they are, from here on."""
        results, self.results = self.results, ()
        return results

    def _called(self, calls: Sequence[Mapping[str, Any]]) -> None:
        made = {str(call.get("id")): call.get("function") or {} for call in calls}
        self.calls |= {call: (str(each.get("name") or ""), each.get("arguments")) for call, each in made.items()}
        self.batch = next(iter(made)) if len(made) > 1 else None

    def _answered(self, message: Message, place: int) -> None:
        call = str(message.get("tool_call_id") or "")
        named, asked = self.calls.get(call, ("", None))
        if tool := named or str(message.get("name") or ""):  # a result of a call that nobody knows tells nothing
            said = said_beside_files(message.get("content"))
            result = ToolResult(tool, said, call or f"result-{place}", batch=self.batch, arguments=asked)
            self.results = (*self.results, result)


@dataclass(frozen=True, slots=True)
class _Point:
    """What a request has come to: its messages, what was read in them, the conversation, which nobody changes, and what
    the host offered.
    """

    messages: list[Message] = field(default_factory=list)
    reading: _ReplayReader = field(default_factory=_ReplayReader)
    chat: Conversation | None = None
    offer: Any = None

    def goes_on(self, messages: Sequence[Message]) -> bool:
        """Whether these messages go on from here: begin with these, and do not add to what the user has just said."""
        end = len(self.messages)
        if self.messages != messages[:end]:
            return False
        return not (_is_user(self.messages[-1:]) and _is_user(messages[end : end + 1]))


def copied(value: Any) -> Any:
    """Plain JSON with lists and objects of its own; what is none is copied as it wants to be."""
    kind = type(value)
    if kind is dict:
        own = value.copy()
        for key, held in value.items():
            if type(held) not in ATOMS:
                own[key] = copied(held)
        return own
    if kind is list:
        return [each if type(each) in ATOMS else copied(each) for each in value]
    return value if kind in ATOMS else deepcopy(value)


def _key(messages: Sequence[Message], end: int, turn: str) -> _Key:
    """Where a conversation stands. Texts know their hash, and need not be written out to be looked up."""
    last = messages[end - 1]
    call, said = last.get("tool_call_id"), last.get("content")
    known = type(call) in _HASHED and type(said) in _HASHED
    return end, hash((call, said)) if known else hash(repr(last)), turn


def _is_user(messages: Sequence[Message]) -> bool:
    return any(each.get("role") == "user" for each in messages)


def with_tools(turn: Turn, names: Iterable[str], catalogue: Mapping[str, Any]) -> Turn:
    """The turn with the tools that are there, where it says nothing of them."""
    return turn if turn.tools is not None else replace(turn, tools=tuple(name for name in names if name in catalogue))
