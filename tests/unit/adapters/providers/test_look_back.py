"""Anthropic's cache looks back twenty blocks: what a step with many parallel calls costs, simulated exactly.

An entry is written at each breakpoint. A request reads the longest entry that it finds at one of its breakpoints or in
the twenty blocks before it; what stands behind that is written.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from cuecard import Message, Step, ToolResult, Turn
from cuecard.adapters.anthropic import request
from cuecard.types import ToolCall
from property.hosts import PROFILES, anthropic_messages, bare
from property.test_every_conversation import CORE, TOOLS, engine_of
from unit.adapters.providers.test_append_only import NOW

ENGINE = engine_of(0, (1, 1, 1, 1, 0), "append", "next-call", "{}")
LOOK_BACK = 20
READ, WRITE = 0.1, 1.25
MODEL = PROFILES.find("claude-opus-4-8")
DEFINITIONS = [{"name": name, "input_schema": {"type": "object"}} for name in (*TOOLS, *CORE)]


def blocks(body: dict[str, Any]) -> list[tuple[str, bool]]:
    """The request as blocks in the provider's order, and whether a breakpoint stands on each."""
    found = [*body["tools"], *body["system"], *(block for m in body["messages"] for block in m["content"])]
    return [(json.dumps(bare(block)), "cache_control" in block) for block in found]


def cost(bodies: list[dict[str, Any]], look_back: int) -> float:
    """The price of the requests in characters of plain input."""
    entries: set[tuple[str, ...]] = set()
    paid = 0.0
    for body in bodies:
        made = blocks(body)
        texts = tuple(text for text, _ in made)
        marks = [place + 1 for place, (_, marked) in enumerate(made) if marked]
        seen = [end for mark in marks for end in range(mark, max(mark - look_back, 0), -1) if texts[:end] in entries]
        read, written = max(seen, default=0), max(marks, default=0)
        sizes = [len(text) for text in texts]
        paid += READ * sum(sizes[:read]) + WRITE * sum(sizes[read:written]) + sum(sizes[max(read, written) :])
        entries |= {texts[:mark] for mark in marks}
    return paid


def conversation(parallel: int, steps: int = 6) -> list[dict[str, Any]]:
    """A run whose steps have so many parallel calls each."""
    chat = ENGINE.conversation()
    chat.user(Turn(now=NOW))
    said = [Message("user", "hello " * 400)]
    bodies = [body(chat.step(), said)]
    for step in range(steps):
        ids = [f"c{step}-{n}" for n in range(parallel)]
        said.append(Message("assistant", "", tuple(ToolCall(each, "t_1") for each in ids)))
        said += [Message("tool", "result " * 60, tool_call_id=each) for each in ids]
        bodies.append(body(chat.step([ToolResult("t_1", "r", each) for each in ids]), said))
    return bodies


def body(step: Step, said: list[Message]) -> dict[str, Any]:
    return request(step, anthropic_messages(said), model=MODEL, tools=DEFINITIONS)


@pytest.mark.parametrize("parallel", [1, 11, 60])
def test_however_many_parallel_calls_a_step_has_the_whole_request_before_is_read(parallel: int) -> None:
    bodies = conversation(parallel)

    assert cost(bodies, LOOK_BACK) == cost(bodies, 10_000)


def test_without_the_breakpoint_of_the_request_before_ten_parallel_calls_lose_it() -> None:
    """The simulation itself sees the fault: with the last breakpoint alone, the same bytes cost three times as much."""
    bodies = conversation(11)
    for one in bodies:
        marked = [block for m in one["messages"] for block in m["content"] if "cache_control" in block]
        for block in marked[:-1]:
            del block["cache_control"]

    assert cost(bodies, LOOK_BACK) > 2.5 * cost(bodies, 10_000)
