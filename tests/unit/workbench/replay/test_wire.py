"""What a replay bills is what the bodies that go over the wire cost: within one per cent, for every provider.

Each request of a conversation is made by the provider's adapter, as a host makes it; the texts of the body are counted
in their order, with the breakpoints that it carries.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from bench.sessions import Plan, between_turns, knowing, purposeful, session
from bench.sessions import cms as tools_known
from cms_agent import cms
from cuecard import Engine, Entity, Memory, Step, ToolResult, Turn
from cuecard.adapters import anthropic, gemini, openai
from cuecard.config.transcript_file import (
    RecordedCall,
    RecordedRequest,
    RecordedTool,
    RecordedTurn,
    TranscriptFile,
    read_transcript,
)
from cuecard.types import Delivery, ModelProfile
from cuecard.workbench.bill import BillBlock, Prices, Request, bill
from cuecard.workbench.replay.blocks import answer_blocks, compact
from cuecard.workbench.replay.play import Channel, SentRequest, play
from cuecard.workbench.replay.recommend import resized
from cuecard.workbench.replay.report import text_price
from shipped import read_models

pytestmark = pytest.mark.repeats

ROOT = Path(__file__).parents[4]
RECORDING = ROOT / "examples" / "cms" / "recordings" / "blog-post.json"
DELIVERIES: tuple[Delivery, ...] = ("append", "rewrite", "frozen")


@cache
def recording() -> TranscriptFile:
    return read_transcript(RECORDING.read_text(encoding="utf-8"), RECORDING.name)


def drawn() -> TranscriptFile:
    return between_turns(session(7)).model_copy(update={"tools": recording().tools})


def with_120_tools() -> tuple[Engine, TranscriptFile]:
    engine = resized(tools_known(), 120, ())
    names = [name for name in engine.tools if name not in engine.core_tools]
    cards = [
        RecordedTool(name=c.name, description=c.description, input_schema=dict(c.input_schema))
        for c in engine.tools.values()
    ]
    return engine, between_turns(session(11, Plan(turns=2), names)).model_copy(update={"tools": cards})


def ahead() -> tuple[Engine, TranscriptFile]:
    return knowing(), purposeful(3).model_copy(update={"tools": recording().tools})


TALKS: dict[str, Callable[[], tuple[Engine, TranscriptFile]]] = {
    "recorded": lambda: (cms(), recording()),
    "drawn": lambda: (cms(), drawn()),
    "120 tools": with_120_tools,
    "ahead": ahead,
}
talked = cache(lambda talk: TALKS[talk]())


@cache
def played(talk: str, delivery: Delivery, channel: Channel) -> tuple[SentRequest, ...]:
    engine, transcript = talked(talk)
    return play(engine, transcript, delivery, channel)


@dataclass
class Wire:
    """A provider's forms of what was said, and the body that its adapter makes of them."""

    model: ModelProfile
    defer: bool
    messages: list[dict[str, Any]] = field(default_factory=list)

    def user(self, text: str) -> None:
        self.messages.append({"role": "user", "content": text})

    def answer(self, request: RecordedRequest, ids: Sequence[str]) -> None:
        raise NotImplementedError

    def results(self, calls: Sequence[tuple[RecordedCall, str]]) -> None:
        raise NotImplementedError

    def body(self, step: Step, tools: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        raise NotImplementedError

    def pieces(self, body: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
        """The texts of a body in the order in which they are hashed, and whether a breakpoint follows each."""
        raise NotImplementedError


class Anthropic(Wire):
    def answer(self, request: RecordedRequest, ids: Sequence[str]) -> None:
        text = [{"type": "text", "text": request.text}] if request.text else []
        uses = [
            {"type": "tool_use", "id": identity, "name": call.tool, "input": call.args}
            for call, identity in zip(request.calls, ids, strict=True)
        ]
        self.messages.append({"role": "assistant", "content": [*text, *uses]})

    def results(self, calls: Sequence[tuple[RecordedCall, str]]) -> None:
        said = [{"type": "tool_result", "tool_use_id": i, "content": text_of(call)} for call, i in calls]
        self.messages.append({"role": "user", "content": said})

    def body(self, step: Step, tools: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        if self.defer and step.call and step.call.delivery.rebuilds:  # as hosts do: what is active, in its order
            named = {tool["name"]: tool for tool in tools}
            tools = [named[name] for name in step.active_tools if name in named]
            return anthropic.request(step, self.messages, model=self.model, tools=tools)
        return anthropic.request(step, self.messages, model=self.model, tools=tools, defer=self.defer)

    def pieces(self, body: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
        late = {tool["name"]: definition(tool) for tool in body["tools"] if tool.get("defer_loading")}
        yield from ((definition(tool), "cache_control" in tool) for tool in body["tools"] if tool["name"] not in late)
        for block in (*body["system"], *(block for message in body["messages"] for block in message["content"])):
            if block["type"] == "tool_addition":
                yield late[block["tool"]["name"]], False
                continue
            content = block.get("content")
            inner = content if isinstance(content, list) else []
            shown = "".join(part.get("text", "") for part in inner) or content or block.get("text")
            used = compact({"name": block.get("name"), "arguments": block.get("input")})
            references = [late[part["tool_name"]] for part in inner if part["type"] == "tool_reference"]
            texts = [used if block["type"] == "tool_use" else shown, *references]
            yield from ((text, "cache_control" in block and text is texts[-1]) for text in texts)


class Chat(Wire):
    def answer(self, request: RecordedRequest, ids: Sequence[str]) -> None:
        calls = [
            {"id": i, "type": "function", "function": {"name": call.tool, "arguments": compact(call.args)}}
            for call, i in zip(request.calls, ids, strict=True)
        ]
        more = {"tool_calls": calls} if calls else {}
        self.messages.append({"role": "assistant", "content": request.text, **more})

    def results(self, calls: Sequence[tuple[RecordedCall, str]]) -> None:
        self.messages += [{"role": "tool", "tool_call_id": i, "content": text_of(call)} for call, i in calls]

    def body(self, step: Step, tools: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        told = [{"type": "function", "function": in_openai(tool)} for tool in tools]
        return openai.chat_request(step, self.messages, model=self.model, tools=told)

    def pieces(self, body: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
        yield from ((definition(tool["function"]), False) for tool in body["tools"])
        for message in body["messages"]:
            first, last = message is body["messages"][0], message is body["messages"][-1]
            content = message["content"]
            if isinstance(content, list):
                yield from ((part["text"], "prompt_cache_breakpoint" in part) for part in content)
                continue
            lines = content.splitlines(keepends=True) if first else [content]
            yield from ((line, last) for line in lines if line)
            for call in message.get("tool_calls", ()):
                made = call["function"]
                yield compact({"name": made["name"], "arguments": json.loads(made["arguments"])}), False


class Responses(Wire):
    def answer(self, request: RecordedRequest, ids: Sequence[str]) -> None:
        text = [{"role": "assistant", "content": request.text}] if request.text else []
        self.messages += text
        self.messages += [
            {"type": "function_call", "call_id": i, "name": call.tool, "arguments": compact(call.args)}
            for call, i in zip(request.calls, ids, strict=True)
        ]

    def results(self, calls: Sequence[tuple[RecordedCall, str]]) -> None:
        self.messages += [{"type": "function_call_output", "call_id": i, "output": text_of(call)} for call, i in calls]

    def body(self, step: Step, tools: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        told = [{"type": "function", **in_openai(tool)} for tool in tools]
        return openai.responses_request(step, self.messages, model=self.model, tools=told)

    def pieces(self, body: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
        yield from ((definition(tool), False) for tool in body["tools"])
        if "instructions" in body:
            yield from ((line, False) for line in body["instructions"].splitlines(keepends=True))
        for item in body["input"]:
            last = item is body["input"][-1]  # the provider sets a breakpoint of its own at the end
            if item.get("type") == "function_call":
                yield compact({"name": item["name"], "arguments": json.loads(item["arguments"])}), last
            elif item.get("type") == "additional_tools":
                yield from ((definition(tool), last) for tool in item["tools"])
            elif isinstance(item.get("content"), list):
                yield from ((part["text"], "prompt_cache_breakpoint" in part) for part in item["content"])
            else:
                yield item.get("output", item.get("content")), last


class Gemini(Wire):
    def user(self, text: str) -> None:
        self.messages.append({"role": "user", "parts": [{"text": text}]})

    def answer(self, request: RecordedRequest, ids: Sequence[str]) -> None:
        text = [{"text": request.text}] if request.text else []
        calls = [
            {"functionCall": {"id": i, "name": call.tool, "args": call.args}}
            for call, i in zip(request.calls, ids, strict=True)
        ]
        self.messages.append({"role": "model", "parts": [*text, *calls]})

    def results(self, calls: Sequence[tuple[RecordedCall, str]]) -> None:
        said = [
            {"functionResponse": {"id": i, "name": call.tool, "response": {"result": text_of(call)}}}
            for call, i in calls
        ]
        self.messages.append({"role": "user", "parts": said})

    def body(self, step: Step, tools: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        return gemini.request(step, self.messages, tools=[in_openai(tool) for tool in tools])

    def pieces(self, body: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
        yield from ((definition(tool), False) for tool in body["tools"][0]["functionDeclarations"])
        yield from ((line, False) for line in body["systemInstruction"]["parts"][0]["text"].splitlines(keepends=True))
        for part in (part for content in body["contents"] for part in content["parts"]):
            if "functionCall" in part:
                yield compact({"name": part["functionCall"]["name"], "arguments": part["functionCall"]["args"]}), False
            elif "functionResponse" in part:
                yield part["functionResponse"]["response"]["result"], False
            else:
                yield part["text"], False


WIRES = {
    "claude-opus-4-8": Anthropic,
    "claude-sonnet-4-6": Anthropic,
    "gpt-5": Responses,
    "gpt-5.6": Responses,
    "openai-chat:gpt-5.6": Chat,
    "gpt-4.1": Chat,
    "gemini-2.5-pro": Gemini,
}


@pytest.mark.parametrize("delivery", DELIVERIES)
@pytest.mark.parametrize("model", WIRES)
def test_what_a_replay_bills_is_what_the_bodies_cost(model: str, delivery: Delivery) -> None:
    agrees("drawn", model, delivery)


@pytest.mark.parametrize(("talk", "first"), [("recorded", 0), ("120 tools", 1)])
@pytest.mark.parametrize("place", range(len(WIRES)))
def test_the_same_holds_for_a_recording_and_for_an_agent_with_120_tools(talk: str, first: int, place: int) -> None:
    """Each model under one delivery, and under another with the other agent: a talk changes neither."""
    agrees(talk, [*WIRES][place], DELIVERIES[(first + place) % len(DELIVERIES)])


@pytest.mark.parametrize("model", [*WIRES, "claude-opus-5", "claude-sonnet-5"])
def test_the_same_holds_where_the_users_words_find_tools(model: str) -> None:
    """Where a message cannot add a tool, every definition stands in front: in the bill, and in the bodies."""
    agrees("ahead", model, "append")


def agrees(talk: str, model: str, delivery: Delivery) -> None:
    engine, transcript = talked(talk)
    profile = read_models().find(model)
    late = Channel.of(profile)
    late = replace(late, definitions="all") if delivery == "frozen" and not late.items else late
    prices = Prices.of(profile)
    replayed = bill((sent.request for sent in played(talk, delivery, late)), prices)
    wire = WIRES.get(model, Anthropic)(profile, late.definitions == "deferred")
    wired = bill(requests(replace(engine, delivery=delivery), transcript, wire), prices)

    assert [row.output_tokens for row in wired.rows] == [row.output_tokens for row in replayed.rows]
    assert wired.rewrites == (0 if delivery == "append" else wired.rewrites)
    assert replayed.input_tokens == pytest.approx(wired.input_tokens, rel=0.01)
    assert replayed.cost == pytest.approx(wired.cost, rel=0.01)


ONE_TURN = """\
agent: shop
inputs: {event: {default: "", lifetime: LIFETIME}}
sections:
  - {id: identity, text: "RULES"}
  - {id: event, text: "{{{event}}}"}
"""
EVENT = "An order has come in, and everything about it stands here. " * 60
ANSWER = "Everything is in stock, and the parcel leaves tomorrow. " * 40


def with_an_event(event: str) -> TranscriptFile:
    """Three turns of several requests; the first two come with an event."""
    asked = [RecordedRequest(calls=[RecordedCall(tool="stock", result=ANSWER)]) for _ in range(3)]
    said = RecordedRequest(text=ANSWER)
    turns = [
        RecordedTurn(user=f"And order {n}?", inputs={"event": event} if n < 3 else {}, requests=[*asked[n:], said])
        for n in (1, 2, 3)
    ]
    tools = [RecordedTool(name="stock", description="What is in stock.", input_schema={"type": "object"})]
    return TranscriptFile(turns=turns, tools=tools)


@pytest.mark.parametrize("model", WIRES)
def test_the_price_of_a_text_of_one_turn_is_that_of_the_bodies(model: str, tmp_path: Path) -> None:
    profile = read_models().find(model)
    prices = Prices.of(profile)

    def opened(lifetime: str) -> Engine:
        text = ONE_TURN.replace("LIFETIME", lifetime).replace("RULES", "You answer for a shop. " * 500)
        (tmp_path / "agent.yaml").write_text(text, encoding="utf-8")
        return replace(Engine.open(tmp_path), delivery="append")

    def wired(engine: Engine, event: str) -> float:
        return bill(requests(engine, with_an_event(event), WIRES[model](profile, defer=False)), prices).cost

    engine = opened("turn")
    price = text_price(play(engine, with_an_event(EVENT), "append", Channel.of(profile)), prices)
    least = wired(engine, "")

    assert price
    assert price.staying == pytest.approx(wired(engine, EVENT) - least, rel=0.01)
    assert price.moving == pytest.approx(wired(opened("step"), EVENT) - least, rel=0.01)


def requests(engine: Engine, transcript: TranscriptFile, wire: Wire) -> Iterator[Request]:
    """Every request of the conversation, as a host sends it."""
    chat, news, at = engine.conversation(), list[ToolResult](), None
    tools = [tool.model_dump() for tool in transcript.tools]
    for number, turn in enumerate(transcript.turns, 1):
        wire.user(turn.user)
        at = turn.at.timestamp() if turn.at else at
        if turn.memory is not None and chat.call:
            chat.step(news)
            chat.forget()
            news = []
        chat.user(replace(turn_of(turn), query=turn.user if engine.agent.spec.tools.ahead else ""), news)
        news = []
        for place, request in enumerate(turn.requests, 1):
            step = chat.step(news)
            at = request.at.timestamp() if request.at else at
            yield priced(engine, list(wire.pieces(wire.body(step, tools))), at, request)
            calls = [(call, f"{number}.{place}.{n}") for n, call in enumerate(request.calls)]
            wire.answer(request, [identity for _, identity in calls])
            if calls:
                wire.results(calls)
            news = [ToolResult(call.tool, call.result, i, call.is_error) for call, i in calls]


def turn_of(turn: RecordedTurn) -> Turn:
    memory = Memory(tuple(Entity(entry.type, entry.id, entry.name) for entry in turn.memory or ()))
    return Turn(turn.inputs, memory, turn.at or datetime(2000, 1, 1, tzinfo=UTC))


def priced(engine: Engine, pieces: Sequence[tuple[str, bool]], at: float | None, request: RecordedRequest) -> Request:
    blocks = tuple(BillBlock(text, engine.count(text)) for text, _ in pieces)
    marks = tuple(place for place, (_, marked) in enumerate(pieces, 1) if marked)
    answer = sum(block.tokens for block in answer_blocks(request, engine.count))
    return Request(blocks, marks, at, answer)


def text_of(call: RecordedCall) -> str:
    return call.result if isinstance(call.result, str) else compact(call.result)


def definition(tool: Mapping[str, Any]) -> str:
    schema = tool.get("input_schema", tool.get("parameters"))
    return compact({"name": tool["name"], "description": tool["description"], "input_schema": schema})


def in_openai(tool: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": tool["name"], "description": tool["description"], "parameters": tool["input_schema"]}
