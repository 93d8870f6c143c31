"""What a step costs, side by side in one run with the naive way: render everything, count everything."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cuecard import Conversation, Engine, Entity, Memory, ToolResult, Turn, compile_template, trusted
from cuecard.files.tokens import RecentCounts, TokenCounter, uncached_count
from cuecard.sources.memory import memory_text
from cuecard.sources.tools import protocols_text

pytestmark = pytest.mark.bench

CMS = Path(__file__).parents[2] / "prompts" / "cms"
MEMORY = Memory(tuple(Entity("page" if n % 2 else "post", f"id-{n}", f"Thing {n}") for n in range(10)))
NOW = datetime(2026, 11, 20, tzinfo=UTC)
REPEATS = 200


def microseconds(work: Callable[[], object]) -> float:
    work()
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e6


def test_a_step_against_the_naive_way() -> None:
    engine = Engine.open(CMS / "agent.yaml", delivery="rewrite")
    core = engine.agent.spec.tools.core
    found = [name for name in engine.tools if name not in core][:10]
    history = [ToolResult("tool_search", {"tools": found}, "call-1")]
    count = uncached_count("o200k_base")
    template = compile_template((CMS / "agent.xml").read_text(encoding="utf-8"), name="agent.xml")
    memory = memory_text(MEMORY, engine.agent.spec.memory, engine.words.memory)[0]

    def naive() -> int:
        protocols = protocols_text([*core, *found], engine.agent.protocols)
        values = {"workingMemory": memory, "currentDate": "2026-11-20", "activeProtocols": trusted(protocols)}
        return count(template.render(values))

    turn = Turn(memory=MEMORY, now=NOW)
    appending = replace(engine, delivery="append")
    call, append_call = engine.prepare_call(turn), appending.prepare_call(turn)

    def first_time() -> object:
        fresh = replace(engine, count=TokenCounter(engine.count.source, RecentCounts(count).__getitem__))
        fresh.count(call.prompt.segments[0].text)
        return fresh.prepare_step(call, history)

    def begun(engine: Engine) -> Conversation:
        chat = engine.conversation()
        chat.user(turn)
        return chat

    chats = {engine.delivery: [begun(engine) for _ in range(REPEATS + 1)] for engine in (engine, appending)}
    rows = {
        "naive: render all, count all": microseconds(naive),
        "Conversation.step, rewrite": microseconds(lambda: chats["rewrite"].pop().step(history)),
        "Conversation.step, append": microseconds(lambda: chats["append"].pop().step(history)),
        "prepare_step, rewrite": microseconds(lambda: engine.prepare_step(call, history)),
        "prepare_step, append": microseconds(lambda: appending.prepare_step(append_call, history)),
        "prepare_step, rewrite, nothing counted before": microseconds(first_time),
        "prepare_call": microseconds(lambda: engine.prepare_call(turn)),
    }
    base = rows["naive: render all, count all"]
    tokens = engine.prepare_step(call, history).manifest.total_tokens
    print(f"\n{len(found)} of {len(engine.tools)} tools discovered, 10 entities, {tokens} tokens")
    for name, value in rows.items():
        print(f"  {name:48s} {value:8.0f} us  {value / base:5.2f}x")

    assert tokens == naive()


def conversation(engine: Engine, results: int) -> Conversation:
    """A conversation with so many results, the last of which has found ten tools."""
    chat = engine.conversation()
    chat.user(Turn(memory=MEMORY, now=NOW))
    for number in range(results - 1):
        chat.step([page(f"result-{number}")])
    core = engine.agent.spec.tools.core
    chat.step([ToolResult("tool_search", {"tools": [name for name in engine.tools if name not in core][:10]}, "found")])
    return chat


def page(name: str) -> ToolResult:
    return ToolResult("cms_getPage", {"data": {"id": name, "title": "A page"}}, name)


def test_a_step_of_a_long_conversation_against_one_of_a_short_one() -> None:
    engine = Engine.open(CMS / "agent.yaml", delivery="append")
    chats = {results: conversation(engine, results) for results in (20, 400)}
    names = iter(f"new-{number}" for number in range(100_000))
    rows = {
        f"{results} results, {what}": microseconds(work)
        for results, chat in chats.items()
        for what, work in (
            ("a new one", lambda chat=chat: chat.step([page(next(names))])),
            ("nothing new", lambda chat=chat: chat.step()),
        )
    }
    base = {what: rows[f"20 results, {what}"] for what in ("a new one", "nothing new")}
    print("\nConversation.step")
    for name, value in rows.items():
        print(f"  {name:48s} {value:8.0f} us  {value / base[name.partition(', ')[2]]:5.2f}x")
