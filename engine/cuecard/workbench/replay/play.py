"""Plays a transcript through the engine: each request as it would be sent under a delivery, block by block."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Literal, TypeAlias

from cuecard.adapters.block_places import MessageReader, homes, turn_places
from cuecard.adapters.bodies import Message, reminder
from cuecard.adapters.function_tools import search_card
from cuecard.adapters.one_turn import ended_turns
from cuecard.config.model_profile import Definitions, ModelProfile
from cuecard.config.transcript_file import RecordedCall, RecordedRequest, RecordedTurn, TranscriptFile
from cuecard.config.turn_file import EntityEntry
from cuecard.conversation import Conversation
from cuecard.engine import Engine
from cuecard.model import Call, Delivery, Json, Manifest, Memory, Segment, Step, ToolCard, ToolResult, Turn
from cuecard.pipeline.segments import stable_part
from cuecard.workbench.bill import BillBlock, Request
from cuecard.workbench.replay.blocks import (
    answer_blocks,
    appended_block,
    result_block,
    segment_blocks,
    spoken_block,
    tool_block,
    user_block,
)

_NO_TIME = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Channel:
    """How a model accepts definitions and reminders mid-conversation.

    Attributes:
        definitions: where tool definitions stand. Deferred ones stand after the search result that found their tool
            under `append`, and at the end of the list of tools under `rewrite`.
        reminders: whether blocks are reminders in the user's turn, since no role has more authority there.
        by_results: whether only results can bring deferred definitions. Then an agent that searches ahead of them
            defers none.
        choice_in_front: whether a request that forces a tool (`tool_choice`) shares no messages with one that does not.
        items: whether requests are OpenAI's: deferred definitions are items after the search result under `rewrite`,
            too, and the only breakpoint among the messages is at their end.
    """

    definitions: Definitions = "deferred"
    reminders: bool = False
    by_results: bool = False
    choice_in_front: bool = True
    items: bool = False

    @classmethod
    def of(cls, model: ModelProfile) -> Channel:
        """What a model accepts."""
        by_results = model.definitions == "deferred" and not model.adds_tools
        reminders, provider = model.mid_conversation == "user", model.provider
        return cls(model.definitions, reminders, by_results, provider == "anthropic", provider == "openai")

    def loads_all(self, *, ahead: bool) -> bool:
        """Whether every definition comes first; `ahead` says whether the agent searches with the user's words."""
        return self.definitions == "all" or (self.by_results and ahead)


Own: TypeAlias = Literal["in place", "left out", "at the end"]
"""Where the texts of one turn are."""

_MOST = 3
"""Breakpoints among the messages, at most; with as many, the system prompt has one in place of two."""


@dataclass(frozen=True, slots=True)
class SentRequest:
    """One request as it would be sent: its blocks, its step, and the numbers of its turn and request, both from 1.

    `own` are the tokens of each text of its turn alone. Where a conversation has any, `without` is the request without
    them, and `moving` is the one that has them at its end, where nothing is cached.
    """

    request: Request
    step: Step
    turn: int
    number: int
    own: tuple[int, ...] = ()
    without: Request | None = None
    moving: Request | None = None

    @property
    def manifest(self) -> Manifest:
        """What was sent, why, and what was left out; created on first access."""
        return self.step.manifest


def play(
    engine: Engine, transcript: TranscriptFile, delivery: Delivery, channel: Channel = Channel()
) -> tuple[SentRequest, ...]:
    """Every request of the conversation under this delivery, as a model gets it.

    The engine makes the prompt; the recorded messages, calls and results are sent as they were. Breakpoints are those
    of `adapters.anthropic`: after the static part of the system prompt, after all of it, where the request before
    ended, and at the end.

    Raises:
        InputError: with every missing, unknown or wrong input of a turn.
    """
    cards = [ToolCard(tool.name, tool.description, tool.input_schema) for tool in transcript.tools]
    known = replace(engine, delivery=delivery).with_tools(card for card in cards if card.name in engine.tools)
    own = tuple(tool_block(card, engine.count) for card in cards if card.name not in engine.tools)
    return tuple(_Stage(known, own, channel).play(transcript))


@dataclass
class _Stage:
    """The state of the conversation while it is played."""

    engine: Engine
    own: tuple[BillBlock, ...]
    channel: Channel
    messages: list[Message] = field(default_factory=list)
    news: list[ToolResult] = field(default_factory=list)
    now: datetime | None = None
    at: float | None = None
    defined: dict[tuple[str, bool], BillBlock] = field(default_factory=dict)
    lines: dict[Segment, list[BillBlock]] = field(default_factory=dict)
    ahead: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.chat = self.engine.conversation()
        count, form = self.engine.count, self.engine.words.notices.reminder
        self.around = count(reminder("", form)) if self.channel.reminders else 0

    def play(self, transcript: TranscriptFile) -> Iterator[SentRequest]:
        for number, turn in enumerate(transcript.turns, 1):
            call = self._prepare(turn)
            aside: Conversation | None = None
            for place, request in enumerate(turn.requests, 1):
                news = self._news()
                step = self.chat.step(news)
                if request.memory is not None and call.delivery.rebuilds:
                    aside = self._with_memory(request.memory)
                    call, news = aside.user(self._turn(turn, request.memory)), []
                step = aside.step(news) if aside else step
                self.at = request.at.timestamp() if request.at else self.at
                answer = answer_blocks(request, self.engine.count)
                told = sum(block.tokens for block in answer)

                def made(own: Own, call: Call = call, step: Step = step, told: int = told) -> Request:
                    return replace(self._request(call, step, own), answer=told)

                passing = [block.tokens + self.around for block in step.appended if not block.stays]
                others = [made("left out"), made("at the end")] if passing or step.ended else []
                yield SentRequest(made("in place"), step, number, place, tuple(passing), *others)
                self._answer(request, answer, f"{number}.{place}")

    def _prepare(self, turn: RecordedTurn) -> Call:
        self.now = turn.at or (turn.requests[0].at if turn.requests else None) or self.now or _NO_TIME
        self.at = turn.at.timestamp() if turn.at else self.at
        block, identity = user_block(turn.user, self.engine.count), f"message {len(self.messages)}"
        self.messages.append({"role": "user", "id": identity, "block": block})
        if turn.memory is not None and self.chat.call:
            self.chat.step(self._news())
            self.chat.forget()  # what was recorded holds, also where it is nothing
        call = self.chat.user(self._turn(turn, turn.memory or []), self._news())
        self.ahead = {**dict.fromkeys(call.tools.ahead, identity), **self.ahead}
        return call

    def _with_memory(self, memory: list[EntityEntry]) -> Conversation:
        """The conversation as if it began now: a host that rebuilds its prompt has changed the memory within a turn."""
        return self.engine.conversation(replace(self.chat.state, call=None, memory=_memory(memory)))

    def _turn(self, turn: RecordedTurn, memory: list[EntityEntry]) -> Turn:
        tools = None if turn.tools is None else tuple(turn.tools)
        words = turn.user if self.engine.agent.spec.tools.ahead else ""
        return Turn(turn.inputs, _memory(memory), self.now, tools, query=words)

    def _news(self) -> list[ToolResult]:
        """The results that have arrived since the last call of this method."""
        news, self.news = self.news, []
        return news

    def _answer(self, request: RecordedRequest, answer: Sequence[BillBlock], place: str) -> None:
        count = self.engine.count
        self.messages += [{"role": "assistant", "block": block} for block in answer]
        for number, call in enumerate(request.calls, 1):
            identity = call.id or f"{place}.{number}"
            self.messages.append({"role": "tool", "id": identity, "block": result_block(call, count)})
            self.news.append(_result(call, identity, place))

    def _request(self, call: Call, step: Step, own: Own = "in place") -> Request:
        held = {message["id"] for message in self.messages if message["role"] == "tool"}
        grows = call.delivery.rebuilds and not self.channel.items
        in_front = grows or self.channel.loads_all(ahead=step.looks_ahead)
        inline = {} if in_front else _found_by(step, held, self.ahead)
        front = [*self._front(call, step, {name for names in inline.values() for name in names}), *self.own]
        lines = [self._lines(segment) for segment in step.segments]
        system = [block for held in lines for block in held]
        static = sum(map(len, lines[: stable_part(step.segments)]))
        read = _READER.read(self.messages)
        placed = homes(read, [b for b in step.appended if b.stays or own == "in place"], step.turns)
        spoken = step.manifest.sections if step.messages else ()  # sections that are messages stand in the stack
        choice = [BillBlock(f"tool_choice {step.forced_tool}", 0)] if self.channel.choice_in_front else []
        said = choice if step.forced_tool else []
        said += [spoken_block(record) for record in spoken if record.placement == "message"]
        begun, seams = len(front) + len(system), _Seams([], [])
        for place, message in enumerate(self.messages):
            said.append(message["block"])
            said += [self._definition(name, appended=True) for name in inline.get(message.get("id", ""), ())]
            blocks = placed.get(place, ())
            said += [appended_block(block, self.around) for block in blocks if block.stays]
            seams.stays.append(begun + len(said))
            said += [appended_block(block, self.around) for block in blocks if not block.stays]
            seams.whole.append(begun + len(said))
        if own == "at the end":
            said += [appended_block(block, self.around) for block in step.appended if not block.stays]
        ends = {begun + len(said)}
        if not self.channel.items:
            ends = seams.breakpoints(self.messages, step, turn_places(read, step.turns), own)
        marks = {len(front) + static, begun, *ends} if len(ends) < _MOST else {len(front) + static or begun, *ends}
        return Request((*front, *system, *said), tuple(sorted(marks - {0})), self.at)

    def _front(self, call: Call, step: Step, inline: set[str]) -> list[BillBlock]:
        """The definitions at the start of the request, in an order to which later requests only append."""
        names = step.active_tools if call.delivery.rebuilds and not self.channel.items else step.initial_tools
        if self.channel.loads_all(ahead=step.looks_ahead):
            names = (*call.tools.initial, *sorted(set(call.tools.available) - set(call.tools.initial)))
        lost = [d.tool for d in step.discovered if d.tool not in inline and d.tool not in names]
        return [self._definition(name) for name in (*names, *lost)]

    def _lines(self, segment: Segment) -> list[BillBlock]:
        if segment not in self.lines:
            self.lines[segment] = segment_blocks(segment, self.engine.count)
        return self.lines[segment]

    def _definition(self, name: str, *, appended: bool = False) -> BillBlock:
        key = (name, appended)
        if key not in self.defined:
            card = self.engine.tools.get(name) or search_card(self.engine)
            self.defined[key] = tool_block(card, self.engine.count, appended=appended)
        return self.defined[key]


def without_searches(transcript: TranscriptFile, search_tool: str) -> TranscriptFile:
    """The conversation without its searches, and without requests that only searched: nothing is left to find."""

    def kept(request: RecordedRequest) -> RecordedRequest:
        calls = [call for call in request.calls if call.tool != search_tool]
        return request.model_copy(update={"calls": calls})

    def turn(recorded: RecordedTurn) -> RecordedTurn:
        asked = [r for r in recorded.requests if not r.calls or any(call.tool != search_tool for call in r.calls)]
        return recorded.model_copy(update={"requests": [kept(request) for request in asked]})

    return transcript.model_copy(update={"turns": [turn(recorded) for recorded in transcript.turns]})


def with_inputs(transcript: TranscriptFile, values: Mapping[str, Json]) -> TranscriptFile:
    """The conversation with these inputs as defaults for every turn."""
    turns = [turn.model_copy(update={"inputs": {**values, **turn.inputs}}) for turn in transcript.turns]
    return transcript.model_copy(update={"turns": turns})


@dataclass(frozen=True, slots=True)
class _Seams:
    """Of each message, how many blocks there are up to where what stays ends, and up to its end with all blocks."""

    stays: list[int]
    whole: list[int]

    def breakpoints(self, messages: Sequence[Message], step: Step, places: Mapping[int, int], own: Own) -> set[int]:
        """The breakpoints among the messages, as `adapters.content_places.Ends` has them.

        Args:
            messages: the conversation.
            step: the step.
            places: the user's message of each turn.
            own: where the texts of the turn are.
        """
        answer = max((at for at, message in enumerate(messages) if message["role"] == "assistant"), default=0)
        while answer and messages[answer - 1]["role"] == "assistant":
            answer -= 1
        end, now = self.whole[-1], len(step.turns) - 1
        before = self.whole[answer - 1] if answer else 0
        if own != "in place" or now not in places or answer > places[now]:
            return {end, before} - {0}
        if now - 1 in ended_turns(step) and now - 1 in places:
            before = self.stays[places[now - 1]]
        return {end, before, self.stays[places[now]]} - {0}


def _found_by(step: Step, held: set[str], ahead: Mapping[str, str]) -> Mapping[str, list[str]]:
    """The tools that each search result found, by call id, if the conversation still holds that result; and the tools
    found `ahead` of a user message, by the id of the message.
    """
    found: dict[str, list[str]] = {}
    for discovery in step.discovered:
        place = discovery.after_call_id or ahead.get(discovery.tool)
        if place in held or place in ahead.values():
            found.setdefault(str(place), []).append(discovery.tool)
    return found


def _memory(entries: list[EntityEntry]) -> Memory:
    return Memory(tuple(entry.to_entity() for entry in entries))


def _result(call: RecordedCall, identity: str, batch: str) -> ToolResult:
    return ToolResult(call.tool, call.result, identity, call.is_error, batch=batch, arguments=call.args)


def _results(message: Message) -> tuple[str, ...]:
    return (message["id"],) if message["role"] == "tool" else ()


def _is_user(message: Message) -> bool:
    return bool(message["role"] == "user")


_READER = MessageReader(_results, _is_user)
