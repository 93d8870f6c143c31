"""Conversations of the five systems with texts of one turn, as hosts play them over the wires of providers."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from cuecard import Call, Engine, Step, ToolResult, Turn
from cuecard.adapters import anthropic, bedrock, gemini, openai
from cuecard.types import Delivery, Json

ROOT = Path(__file__).parents[2] / "prompts"
START = datetime(2026, 11, 20, 9, tzinfo=UTC)

Mark = Callable[[str], str]
"""A text that no other value holds, from the name of what it is for."""

SYSTEMS = ("polyant", "mistermorph", "mushroom", "pioneer", "cms")


def inputs_of(system: str, draw: random.Random, mark: Mark) -> dict[str, Json]:
    """What comes with a user message."""
    drawn: dict[str, dict[str, Json]] = {
        "polyant": {"channel": draw.choice(["web", "telegram"]), "context": draw.choice(["", mark("context")])},
        "mistermorph": {"channel": draw.choice(["telegram", "slack", "line", "lark", ""])},
        "mushroom": {
            "heartbeat": draw.random() < 0.4,
            "response_format": draw.choice(["", "json_object"]),
            "turn_variables": draw.choice([{}, {"note": mark("variables")}]),
        },
        "pioneer": {
            "retry_instruction": draw.choice(["", mark("retry")]),
            "dynamic_context": draw.choice(["", mark("dynamic")]),
        },
    }
    return drawn.get(system, {})


def step_inputs(system: str, draw: random.Random, mark: Mark) -> dict[str, Json]:
    """What may come with a request."""
    if system != "pioneer" or draw.random() < 0.6:
        return {}
    return draw.choice(
        [
            {"retry_instruction": mark("retry")},
            {"retry_instruction": ""},
            {"continue_generation_hint": draw.random() < 0.5},
            {"retry_instruction": mark("retry"), "continue_generation_hint": True},
        ]
    )


@cache
def engine(system: str, delivery: Delivery) -> Engine:
    return Engine.open(ROOT / system, delivery=delivery)


@dataclass(frozen=True)
class Asked:
    """One request of a conversation: its step, and what was said since the one before."""

    turn: int
    call: Call
    step: Step
    words: str | None
    results: tuple[ToolResult, ...]
    marks: frozenset[str]


def talk(seed: int, system: str, delivery: Delivery, *, ends: bool) -> Iterator[Asked]:
    """A conversation of two to six turns; with `ends`, it goes through what `dump(ended=True)` wrote between turns."""
    draw, made, number = random.Random(seed), engine(system, delivery), 0  # noqa: S311 - a seeded test
    chat = made.conversation()
    names = sorted(made.tools)
    for turn in range(draw.randint(2, 6)):
        marks: list[str] = []

        def mark(name: str, at: int = turn, marks: list[str] = marks) -> str:
            marks.append(f"M-{name}-{len(marks)}-of-turn-{at}-K")
            return marks[-1]

        inputs = inputs_of(system, draw, mark)
        ephemeral = mark("ephemeral") if draw.random() < 0.3 else ""
        words = f"words of turn {turn}"
        call = chat.user(Turn(inputs=inputs, ephemeral=ephemeral, now=START + timedelta(minutes=turn)))
        results: tuple[ToolResult, ...] = ()
        for request in range(draw.randint(1, 4)):
            changed = step_inputs(system, draw, mark)
            step = chat.step(results, inputs=changed)
            yield Asked(turn, call, step, words if request == 0 else None, results, frozenset(marks))
            results = tuple(_result(draw, made, names, f"c{(number := number + 1)}") for _ in range(draw.randint(1, 3)))
            if draw.random() < 0.2:
                chat = made.load(made.dump(chat))
        if ends:
            text = made.dump(chat, ended=True)
            assert not any(each in text for each in marks)
            chat = made.load(text)


def _result(draw: random.Random, made: Engine, names: list[str], call: str) -> ToolResult:
    if draw.random() < 0.5:
        return ToolResult(made.search_tool, {"tools": draw.sample(names, 1)}, call)
    return ToolResult(draw.choice(names), {"ok": call}, call)


@dataclass
class Wire:
    """A host: how it writes what was said, and how it asks. With `stores`, it keeps the messages as it sent them."""

    name: str
    say: Callable[[str], Json]
    answer: Callable[[tuple[ToolResult, ...]], list[Json]]
    results: Callable[[tuple[ToolResult, ...]], list[Json]]
    body: Callable[[Step, list[Json]], dict[str, Json]]
    key: str = "messages"
    front: int = 0
    stores: bool = False
    messages: list[Json] = field(default_factory=list)

    def ask(self, asked: Asked) -> dict[str, Json]:
        """The body of a request."""
        if asked.results and asked.words is None:
            self.messages += [*self.answer(asked.results), *self.results(asked.results)]
        if asked.words is not None:
            self.messages += [*self.answer(()), self.say(asked.words)] if self.messages else [self.say(asked.words)]
        made = self.body(asked.step, json.loads(json.dumps(self.messages)))
        if self.stores:
            self.messages = json.loads(json.dumps(made[self.key][self.front :]))
        return made


THOUGHT = "Let me think."


def _anthropic(model: str) -> Callable[[], Wire]:
    def answer(results: tuple[ToolResult, ...]) -> list[Json]:
        calls: list[Json] = [{"type": "tool_use", "id": r.call_id, "name": r.tool, "input": {}} for r in results]
        thought = {"type": "thinking", "thinking": THOUGHT, "signature": "s"}
        return [{"role": "assistant", "content": [thought, *(calls or [{"type": "text", "text": "Done."}])]}]

    def told(results: tuple[ToolResult, ...]) -> list[Json]:
        blocks = [{"type": "tool_result", "tool_use_id": r.call_id, "content": str(r.result)} for r in results]
        return [{"role": "user", "content": blocks}]

    return lambda: Wire(
        f"anthropic {model}",
        lambda words: {"role": "user", "content": words},
        answer,
        told,
        lambda step, messages: anthropic.request(step, messages, model=model),
    )


def _bedrock() -> Wire:
    def answer(results: tuple[ToolResult, ...]) -> list[Json]:
        calls: list[Json] = [{"toolUse": {"toolUseId": r.call_id, "name": r.tool, "input": {}}} for r in results]
        return [{"role": "assistant", "content": calls or [{"text": "Done."}]}]

    def told(results: tuple[ToolResult, ...]) -> list[Json]:
        blocks = [{"toolResult": {"toolUseId": r.call_id, "content": [{"text": str(r.result)}]}} for r in results]
        return [{"role": "user", "content": blocks}]

    model = "us.anthropic.claude-opus-4-8-v1:0"
    return Wire(
        "bedrock",
        lambda words: {"role": "user", "content": [{"text": words}]},
        answer,
        told,
        lambda step, messages: bedrock.request(step, messages, model=model),
    )


def _gemini() -> Wire:
    def answer(results: tuple[ToolResult, ...]) -> list[Json]:
        calls: list[Json] = [{"functionCall": {"id": r.call_id, "name": r.tool, "args": {}}} for r in results]
        return [{"role": "model", "parts": calls or [{"text": "Done."}]}]

    def told(results: tuple[ToolResult, ...]) -> list[Json]:
        parts = [{"functionResponse": {"id": r.call_id, "name": r.tool, "response": r.result}} for r in results]
        return [{"role": "user", "parts": parts}]

    def say(words: str) -> Json:
        return {"role": "user", "parts": [{"text": words}]}

    return Wire("gemini", say, answer, told, gemini.request, key="contents")


def _chat_answer(results: tuple[ToolResult, ...]) -> list[Json]:
    calls = [{"id": r.call_id, "type": "function", "function": {"name": r.tool, "arguments": "{}"}} for r in results]
    return [{"role": "assistant", "content": None, "tool_calls": calls} if calls else _said("assistant", "Done.")]


def _chat_told(results: tuple[ToolResult, ...]) -> list[Json]:
    return [{"role": "tool", "tool_call_id": r.call_id, "content": str(r.result)} for r in results]


def _said(role: str, words: str) -> dict[str, Json]:
    return {"role": role, "content": words}


def _chat(model: str) -> Callable[[], Wire]:
    def body(step: Step, messages: list[Json]) -> dict[str, Json]:
        return openai.chat_request(step, messages, model=model)

    return lambda: Wire(f"chat {model}", lambda w: _said("user", w), _chat_answer, _chat_told, body, front=1)


def _responses() -> Wire:
    def answer(results: tuple[ToolResult, ...]) -> list[Json]:
        calls: list[Json] = [
            {"type": "function_call", "call_id": r.call_id, "name": r.tool, "arguments": "{}"} for r in results
        ]
        return calls or [_said("assistant", "Done.")]

    def told(results: tuple[ToolResult, ...]) -> list[Json]:
        return [{"type": "function_call_output", "call_id": r.call_id, "output": str(r.result)} for r in results]

    def body(step: Step, items: list[Json]) -> dict[str, Json]:
        return openai.responses_request(step, items, model="gpt-5.2")

    return Wire("responses", lambda w: _said("user", w), answer, told, body, key="input")


WIRES: tuple[Callable[[], Wire], ...] = (
    _anthropic("claude-opus-4-8"),
    _anthropic("claude-sonnet-4-6"),
    _anthropic("claude-opus-5-5"),
    _bedrock,
    _gemini,
    _chat("gpt-5.2"),
    _chat("qwen3.7-max"),
    _responses,
)


def bare(value: Any) -> Any:
    """A body without cache breakpoints."""
    if isinstance(value, dict):
        return {k: bare(v) for k, v in value.items() if k not in {"cache_control", "prompt_cache_breakpoint"}}
    if isinstance(value, list):
        return [bare(each) for each in value if not (isinstance(each, dict) and each.keys() == {"cachePoint"})]
    return value
