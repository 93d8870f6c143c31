"""Conversations with the CMS assistant, played on the real engine, and the same in each provider's form."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from cms_agent import CORE, TOOLS, cms
from cuecard import Call, Entity, Memory, Step, ToolResult, Turn
from shipped import read_models

START = datetime(2026, 11, 20, 22, tzinfo=UTC)
PROFILES = read_models()

Json = dict[str, Any]
Batch = list[list[str]]
"""What parallel searches find: names of tools, per search."""


MEMORIES = st.lists(st.sampled_from([Entity("page", f"p{n}", f"Page {n}") for n in range(4)]), max_size=3)
BATCHES = st.lists(
    st.lists(st.lists(st.sampled_from(TOOLS[:8]), max_size=2), min_size=1, max_size=3), max_size=3
)  # fmt: skip
CALLS = st.lists(st.tuples(MEMORIES, BATCHES, st.integers(0, 3)), min_size=1, max_size=4)


@dataclass(frozen=True)
class Event:
    """Words of the user or of the model, or a batch of tool results with the calls that asked for them."""

    kind: str
    text: str = ""
    results: tuple[ToolResult, ...] = ()


@dataclass(frozen=True)
class Moment:
    """One request: the step, and what had happened until then."""

    step: Step
    events: tuple[Event, ...]


@dataclass
class Talk:
    """A conversation as it goes on."""

    moments: list[Moment] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    history: list[ToolResult] = field(default_factory=list)

    def ask(self, call: Call) -> None:
        self.moments.append(Moment(cms().prepare_step(call, self.history), tuple(self.events)))

    def search(self, batch: Batch) -> None:
        first = len(self.history)
        results = [ToolResult("tool_search", {"tools": names}, f"call-{first + n}") for n, names in enumerate(batch)]
        self.history += results
        self.events.append(Event("results", results=tuple(results)))


def play(calls: Iterable[tuple[list[Entity], list[Batch], int]]) -> list[Moment]:
    """Every request of a conversation: per call a memory, batches of searches, and the hours that have passed."""
    talk, previous, now = Talk(), None, START
    for number, (memory, batches, hours) in enumerate(calls):
        now += timedelta(hours=hours)
        talk.events.append(Event("user", f"message {number}"))
        call = cms().prepare_call(Turn(memory=Memory(tuple(memory)), now=now), talk.history, previous=previous)
        talk.ask(call)
        for batch in batches:
            talk.search(batch)
            talk.ask(call)
        talk.events.append(Event("model", "done"))
        previous = call
    return talk.moments


def two_turns() -> Moment:
    """Two turns: a batch of two searches in the first, a change of memory in the second."""
    home = Entity("page", "p1", "Home")
    return play([([], [[TOOLS[:1], TOOLS[1:2]]], 0), ([home], [], 0)])[-1]


def anthropic_messages(events: Sequence[Event]) -> list[Json]:
    messages: list[Json] = []
    for event in events:
        if event.kind == "results":
            calls: list[Json] = [
                {"type": "tool_use", "id": r.call_id, "name": r.tool, "input": {}} for r in event.results
            ]
            results = [
                {"type": "tool_result", "tool_use_id": r.call_id, "content": json.dumps(r.result)}
                for r in event.results
            ]
            messages += [{"role": "assistant", "content": calls}, {"role": "user", "content": results}]
        else:
            messages.append({"role": "user" if event.kind == "user" else "assistant", "content": event.text})
    return messages


def chat_messages(events: Sequence[Event]) -> list[Json]:
    messages: list[Json] = []
    for event in events:
        if event.kind == "results":
            calls = [
                {"id": r.call_id, "type": "function", "function": {"name": r.tool, "arguments": "{}"}}
                for r in event.results
            ]
            messages.append({"role": "assistant", "tool_calls": calls})
            messages += [
                {"role": "tool", "tool_call_id": r.call_id, "content": json.dumps(r.result)} for r in event.results
            ]
        else:
            messages.append({"role": "user" if event.kind == "user" else "assistant", "content": event.text})
    return messages


def response_items(events: Sequence[Event]) -> list[Json]:
    items: list[Json] = []
    for event in events:
        if event.kind == "results":
            items += [
                {"type": "function_call", "call_id": r.call_id, "name": r.tool, "arguments": "{}"}
                for r in event.results
            ]
            items += [
                {"type": "function_call_output", "call_id": r.call_id, "output": json.dumps(r.result)}
                for r in event.results
            ]
        else:
            items.append({"role": "user" if event.kind == "user" else "assistant", "content": event.text})
    return items


def gemini_contents(events: Sequence[Event]) -> list[Json]:
    contents: list[Json] = []
    for event in events:
        if event.kind == "results":
            calls: list[Json] = [{"functionCall": {"id": r.call_id, "name": r.tool, "args": {}}} for r in event.results]
            responses = [
                {"functionResponse": {"id": r.call_id, "name": r.tool, "response": r.result}} for r in event.results
            ]
            contents += [{"role": "model", "parts": calls}, {"role": "user", "parts": responses}]
        else:
            contents.append({"role": "user" if event.kind == "user" else "model", "parts": [{"text": event.text}]})
    return contents


def converse_messages(events: Sequence[Event]) -> list[Json]:
    """What the Converse API of Bedrock takes."""
    messages: list[Json] = []
    for event in events:
        if event.kind == "results":
            calls: list[Json] = [
                {"toolUse": {"toolUseId": r.call_id, "name": r.tool, "input": {}}} for r in event.results
            ]
            results = [{"toolResult": {"toolUseId": r.call_id, "content": [{"json": r.result}]}} for r in event.results]
            messages += [{"role": "assistant", "content": calls}, {"role": "user", "content": results}]
        else:
            role = "user" if event.kind == "user" else "assistant"
            messages.append({"role": role, "content": [{"text": event.text}]})
    return messages


def schemas(*more: str) -> list[Json]:
    """The tools as Anthropic takes them, in an order of no meaning."""
    names = sorted({*CORE, *TOOLS[:9], *more}, key=lambda name: name[::-1])
    return [{"name": name, "description": name, "input_schema": {"type": "object"}} for name in names]


def functions() -> list[Json]:
    """The tools as the Responses API takes them."""
    return [{"type": "function", "name": t["name"], "parameters": t["input_schema"], "strict": None} for t in schemas()]


def chat_tools() -> list[Json]:
    return [{"type": "function", "function": {"name": t["name"], "parameters": t["input_schema"]}} for t in schemas()]


def tool_specs() -> list[Json]:
    """The tools as Bedrock takes them."""
    return [
        {"toolSpec": {"name": t["name"], "description": t["description"], "inputSchema": {"json": t["input_schema"]}}}
        for t in schemas()
    ]
