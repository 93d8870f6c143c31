"""The price of a prompt: 200 seeded sessions under each delivery, in one run, and what a late step costs to make."""

from __future__ import annotations

import statistics
import time
import tracemalloc
from dataclasses import replace

import pytest

from bench.costs import ADDING, MODEL, RESPONSES, WAYS, bill_of, bills
from bench.sessions import cms, knowing, purposeful, session, without_needless_searches
from cuecard import Call, Engine, ToolResult, Turn
from cuecard.files.tokens import uncached_count
from cuecard.types import CountTokens, Definitions, TokenCounter
from cuecard.workbench.bill import Bill
from cuecard.workbench.replay.report import FROZEN_DIRECT

pytestmark = pytest.mark.bench

SESSIONS = 200


def total(found: list[Bill]) -> float:
    return sum(one.cost for one in found)


@pytest.mark.parametrize("definitions", ["deferred", "all"])
def test_what_appending_saves(definitions: Definitions) -> None:
    """With definitions that come when their tool is found, `append` keeps what the project promises.

    Where all definitions stand in front, because a provider cannot take them later, it saves less: printed, not held.
    """
    talks = [session(seed) for seed in range(SESSIONS)]
    found = {way: bills(cms(), talks, way, definitions) for way in WAYS}
    append = total(found["append"])
    print(f"\n{SESSIONS} sessions of 15 requests, {len(cms().tools)} tools, definitions {definitions}, {MODEL}")
    print(f"  {'':24s}{'input tokens':>13s}{'cached':>9s}{'rewrites':>10s}{'cost':>10s}{'append is':>12s}")
    for way, ones in found.items():
        tokens, cached = sum(one.input_tokens for one in ones), sum(one.cached for one in ones)
        rewrites = sum(one.rewrites for one in ones) / SESSIONS
        print(
            f"  {way:24s}{tokens / SESSIONS:13,.0f}{100 * cached / tokens:8.1f}%{rewrites:10.1f}"
            f"{total(ones) / SESSIONS:10,.0f}{append / total(ones):11.2f}x"
        )

    assert sum(one.rewrites for one in found["append"]) == 0
    if definitions == "deferred":
        assert append <= 0.30 * total(found["rewrite"])
        assert append <= 0.75 * total(found["frozen"])
        assert append <= 1.05 * total(found[FROZEN_DIRECT])


def test_what_late_definitions_save_on_the_responses_interface() -> None:
    """A default body costs there what definitions cost that come when their tool is found."""
    talks = [session(seed) for seed in range(SESSIONS)]
    direct = total(bills(cms(), talks, FROZEN_DIRECT, None, model=RESPONSES))
    costs = {place: total(bills(cms(), talks, "append", place, model=RESPONSES)) for place in (None, "deferred", "all")}
    frozen = total(bills(cms(), talks, "frozen", None, model=RESPONSES))
    chat = total(bills(cms(), talks, "append", None, model=f"openai-chat:{RESPONSES}"))
    print(f"\n{SESSIONS} sessions of 15 requests, {RESPONSES}: append is {costs[None] / SESSIONS:,.0f}")
    print(f"  {costs[None] / frozen:.2f}x of frozen, {costs[None] / direct:.3f}x of it without searches; late by hand")
    print(f"  {costs['deferred'] / direct:.3f}x, all in front {costs['all'] / direct:.3f}x, chat {chat / direct:.3f}x")

    assert abs(costs[None] - costs["deferred"]) <= 0.02 * direct
    assert costs[None] <= 1.0 * direct
    assert chat == pytest.approx(costs["all"])


@pytest.mark.parametrize("model", [ADDING, MODEL, RESPONSES])
def test_what_looking_ahead_and_late_cues_save(model: str) -> None:
    """Sessions in which the user says what is needed; the model searches for what the first step does not have.

    It pays where a message can add a tool. Elsewhere all definitions stand in front, which costs more than it saves.
    """
    talks = [purposeful(seed) for seed in range(SESSIONS)]
    fewer = [without_needless_searches(talk, knowing()) for talk in talks]
    direct = bill_of(cms(), talks, FROZEN_DIRECT, model)
    found = {
        "append": bill_of(cms(), talks, "append", model),
        "append, ahead and cues": bill_of(knowing(), fewer, "append", model),
        "... and every search all the same": bill_of(knowing(), talks, "append", model),
    }
    asked = [sum(len(turn.requests) for talk in each for turn in talk.turns) for each in (talks, fewer)]
    print(
        f"\n{SESSIONS} sessions of {asked[0] / SESSIONS:g} requests, {asked[1] / SESSIONS:.1f} with tools found ahead,"
        f" {model}"
    )
    for way, cost in found.items():
        print(f"  {way:36s}{cost / SESSIONS:10,.0f}{cost / direct:9.2f}x of frozen without searches")

    assert sum(one.rewrites for one in bills(knowing(), fewer, "append", model=model)) == 0
    if model != MODEL:
        assert found["append, ahead and cues"] <= 0.92 * direct
    else:
        assert found["append"] < found["append, ahead and cues"]


def test_a_late_step_costs_what_an_early_one_did() -> None:
    """Step 5 and step 200 of one conversation: time, memory, and characters that had to be counted."""
    counted: list[int] = []
    engine = counting(counted)
    found = [name for name in engine.tools if name not in engine.agent.spec.tools.core][:8]
    history = [ToolResult("tool_search", {"tools": found[n : n + 2]}, f"call-{n}") for n in range(0, 8, 2)]
    history += [ToolResult("cms_getPage", {"text": f"page {n} " * 100}, f"result-{n}") for n in range(200)]
    call = engine.prepare_call(Turn())
    early, late = history[:5], history[:200]
    engine.prepare_step(call, early)
    counted.clear()
    rows = {
        "microseconds": [microseconds(engine, call, steps) for steps in (early, late)],
        "KiB allocated": [kibibytes(engine, call, steps) for steps in (early, late)],
    }
    engine.prepare_step(call, late)
    print(f"\n  {'':24s}{'step 5':>10s}{'step 200':>10s}{'ratio':>8s}")
    for name, (first, last) in rows.items():
        print(f"  {name:24s}{first:10.1f}{last:10.1f}{last / first:7.2f}x")
    print(f"  {'characters counted':24s}{0:10d}{sum(counted):10d}")

    assert sum(counted) == 0, "nothing new was said, so there is nothing to count"
    assert rows["KiB allocated"][1] <= 1.2 * rows["KiB allocated"][0]


def counting(counted: list[int]) -> Engine:
    """The assistant with a counter that notes how many characters it really counts."""
    engine = cms()
    plain = uncached_count(engine.count.source.encoding)
    known: dict[str, int] = {}

    def count(text: str) -> int:
        if text not in known:
            counted.append(len(text))
            known[text] = plain(text)
        return known[text]

    remembering: CountTokens = count
    return replace(engine, count=TokenCounter(engine.count.source, remembering))


def microseconds(engine: Engine, call: Call, history: list[ToolResult]) -> float:
    times = []
    for _ in range(300):
        start = time.perf_counter()
        engine.prepare_step(call, history)
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e6


def kibibytes(engine: Engine, call: Call, history: list[ToolResult]) -> float:
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    engine.prepare_step(call, history)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return (peak - before) / 1024
