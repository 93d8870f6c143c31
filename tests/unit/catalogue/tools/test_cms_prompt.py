"""The lean core of the CMS assistant: its order, and what it costs (o200k_base), from the real engine."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from cms_agent import cms
from cuecard import Entity, Memory, Step, ToolResult, Turn
from cuecard.types import Delivery

CORE = ["tool_search", "final_answer", "acknowledge"]
NAMES = [("page", "About Us"), ("section", "Opening hours"), ("image", "team-photo-2026.jpg"), ("post", "The old mill")]
EMPTY = Memory()
TEN = Memory(tuple(Entity(kind, f"{kind}-{n}", name) for n in range(10) for kind, name in [NAMES[n % 4]]))


def step(delivery: Delivery, memory: Memory = EMPTY, *, found: int = 0) -> Step:
    """The prompt with the dearest discovered tools."""
    engine = cms(delivery)
    cost = {name: engine.count(protocol.text) for name, protocol in engine.agent.protocols.items()}
    dearest = sorted((name for name in cost if name not in CORE), key=lambda name: -cost[name])[:found]
    call = engine.prepare_call(Turn(memory=memory, now=datetime(2026, 11, 20, tzinfo=UTC)))
    return engine.prepare_step(call, [ToolResult("tool_search", {"tools": dearest}, "call-1")])


def test_what_changes_more_often_appears_later() -> None:
    assert [(segment.id, segment.tier) for segment in step("append").segments] == [
        ("agent", "static"),
        ("identity", "static"),
        ("react", "static"),
        ("tool-discovery", "static"),
        ("operational-knowledge", "static"),
        ("working-memory", "call"),
        ("current-datetime", "call"),
        ("tool-usage-instructions", "step"),
        ("/agent", "static"),
    ]


def test_there_are_no_blank_lines_and_no_indented_sections() -> None:
    system = step("rewrite", TEN, found=10).system

    assert re.findall(r"\n\n|^\s+<|[ \t]$", system, re.MULTILINE) == []
    assert system.endswith("</agent>\n")


@pytest.mark.parametrize("delivery", ["rewrite", "append"])
def test_the_core_is_lean_with_nothing_in_memory(delivery: Delivery) -> None:
    assert 1200 <= step(delivery).manifest.total_tokens <= 1500


@pytest.mark.parametrize("delivery", ["rewrite", "append"])
def test_it_stays_lean_with_the_ten_most_expensive_tools_and_ten_entities(delivery: Delivery) -> None:
    full = step(delivery, TEN, found=10).manifest

    assert len(full.protocols) == 13
    assert full.total_tokens <= 2400
