"""The CMS assistant with any memory and any tools found: the same bytes, a stable text, budgets, nothing lost."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache

from hypothesis import given
from hypothesis import strategies as st

from cms_agent import CMS, CORE, TOOLS
from cuecard import Call, Engine, Entity, Memory, Step, ToolResult, Turn
from cuecard.types import DeliveryWish
from property.alphabets import VISIBLE
from stable import stable_text

WORDS = st.text(VISIBLE, min_size=1, max_size=12)
ENTITIES = st.lists(st.builds(Entity, st.sampled_from(["page", "post", "image"]), WORDS, WORDS), max_size=14)
TURNS = st.builds(
    lambda entities, day: Turn(memory=Memory(tuple(entities)), now=datetime(2026, 11, day, 9, tzinfo=UTC)),
    ENTITIES,
    st.integers(1, 30),
)
FOUND = st.lists(st.lists(st.sampled_from([*CORE, *TOOLS]), max_size=8), max_size=3)
DELIVERIES: st.SearchStrategy[DeliveryWish] = st.sampled_from(["append", "rewrite", "frozen"])


@cache
def engine(delivery: DeliveryWish, number: int = 0) -> Engine:
    """The agent, opened once for each delivery and number."""
    assert number >= 0
    return Engine.open(CMS, delivery=delivery)


def made(
    turn: Turn, found: Sequence[Sequence[str]], delivery: DeliveryWish = "append", number: int = 0
) -> tuple[Call, Step]:
    history = [ToolResult("tool_search", {"tools": list(names)}, f"call-{n}") for n, names in enumerate(found)]
    call = engine(delivery, number).prepare_call(turn)
    return call, engine(delivery, number).prepare_step(call, history)


@given(TURNS, FOUND, DELIVERIES)
def test_the_same_turn_gives_the_same_bytes(turn: Turn, found: list[list[str]], delivery: DeliveryWish) -> None:
    first, second = (made(turn, found, delivery, number)[1] for number in (0, 1))

    assert (first.system, first.appended, first.manifest) == (second.system, second.appended, second.manifest)


@given(TURNS, TURNS, FOUND)
def test_the_stable_text_is_the_same_whatever_memory_date_and_searches_say(
    one: Turn, other: Turn, found: list[list[str]]
) -> None:
    texts = {stable_text(made(turn, found)[1]) for turn in (one, other)}

    assert len(texts) == 1
    assert len(texts.pop()) > 1000


@given(TURNS, FOUND, st.sampled_from(["append", "rewrite"]))
def test_discovered_instructions_keep_to_their_budget(
    turn: Turn, found: list[list[str]], delivery: DeliveryWish
) -> None:
    step = made(turn, found, delivery)[1]
    limit = engine(delivery).agent.spec.budget.protocols
    discovered = {discovery.tool for discovery in step.manifest.discovered}

    assert limit is not None
    assert sum(record.tokens for record in step.manifest.protocols if record.id in discovered) <= limit


@given(TURNS, FOUND, DELIVERIES)
def test_every_tool_that_was_found_is_shown_once_or_is_a_cut(
    turn: Turn, found: list[list[str]], delivery: DeliveryWish
) -> None:
    step = made(turn, found, delivery)[1]
    text = step.system + "".join(block.text for block in step.appended)
    left_out = {cut.what for cut in step.manifest.cuts}

    for name in {name for names in found for name in names}:
        assert text.count(f"<{name}>\n") == (0 if name in left_out else 1)


@given(TURNS)
def test_every_entity_is_shown_once_or_is_a_cut(turn: Turn) -> None:
    call, _ = made(turn, [])
    newest = {(entity.type, entity.id): entity for entity in reversed(turn.memory.entities)}
    left_out = {cut.what for cut in call.record.cuts}
    shown = call.prompt.shown["working-memory"].count('\n  - "')

    assert shown == sum(f"memory {entity.type} {entity.id}" not in left_out for entity in newest.values())
