"""What `compare` says of two prompts, against the prompts themselves."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import cache

from hypothesis import given
from hypothesis import strategies as st

from cms_agent import CMS, CORE
from cms_agent import TOOLS as FOUND_TOOLS
from cuecard import Call, Engine, Entity, Memory, Step, ToolResult, Turn, compare_manifests
from cuecard.types import Delivery


@cache
def engine(delivery: Delivery, salt: str) -> Engine:
    return Engine.open(CMS, delivery=delivery, salt=salt)


TOOLS = FOUND_TOOLS[:4]
MEMORIES = st.lists(st.sampled_from([Entity("page", f"p{n}", f"Page {n}") for n in range(2)]), max_size=2)
TIMES = st.integers(20, 21).map(lambda day: datetime(2026, 11, day, tzinfo=UTC))
TURNS = st.builds(
    Turn,
    memory=MEMORIES.map(tuple).map(Memory),
    now=TIMES,
    tools=st.none() | st.just((*CORE, *TOOLS[:2])),
    discovered=st.lists(st.sampled_from(TOOLS), max_size=1).map(tuple),
)
SEARCHES = st.lists(st.lists(st.sampled_from(TOOLS), min_size=1, max_size=2), max_size=3)
PROMPTS = st.tuples(TURNS, SEARCHES, st.booleans())
SALTS = st.sampled_from(["", "pepper"])


def prepare(one: Engine, turn: Turn, searches: list[list[str]], *, goes_on: bool) -> Step:
    """A step of a first call, or of a second one after a first call without anything."""
    history = [ToolResult("tool_search", {"tools": names}, f"call-{n}") for n, names in enumerate(searches)]
    previous: Call | None = one.prepare_call(Turn(now=datetime(2026, 11, 20, tzinfo=UTC))) if goes_on else None
    return one.prepare_step(one.prepare_call(turn, history, previous=previous), history)


@given(before=PROMPTS, after=PROMPTS, delivery=st.sampled_from(["append", "rewrite", "frozen"]), salt=SALTS)
def test_there_is_no_break_if_and_only_if_the_later_prompt_begins_with_the_earlier_one(
    before: tuple[Turn, list[list[str]], bool],
    after: tuple[Turn, list[list[str]], bool],
    delivery: Delivery,
    salt: str,
) -> None:
    one, other = (prepare(engine(delivery, salt), turn, searches, goes_on=on) for turn, searches, on in (before, after))
    comparison = compare_manifests(one.manifest, other.manifest)
    broken = comparison.first_break

    same_start = (one.system, one.appended) == (other.system, other.appended[: len(one.appended)])
    assert (broken is None) == same_start
    if broken:
        assert 0 <= broken.tokens <= other.manifest.total_tokens
        assert broken.causes


@given(before=PROMPTS, after=PROMPTS, delivery=st.sampled_from(["append", "rewrite"]))
def test_every_section_of_both_prompts_is_reported_once_and_tokens_add_up(
    before: tuple[Turn, list[list[str]], bool], after: tuple[Turn, list[list[str]], bool], delivery: Delivery
) -> None:
    one, other = (prepare(engine(delivery, ""), turn, searches, goes_on=on) for turn, searches, on in (before, after))
    changes = compare_manifests(one.manifest, other.manifest).changes
    texts = [[*(s.text for s in step.segments), *(b.text for b in step.appended)] for step in (one, other)]

    assert sorted(c.at_before for c in changes if c.at_before is not None) == [*range(len(texts[0]))]
    assert [c.at_after for c in changes if c.at_after is not None] == [*range(len(texts[1]))]
    assert sum(c.tokens_before for c in changes) == one.manifest.total_tokens
    assert sum(c.tokens_after for c in changes) == other.manifest.total_tokens
    for c in changes:
        both = c.at_before is not None and c.at_after is not None
        same = both and texts[0][c.at_before or 0] == texts[1][c.at_after or 0]
        assert (c.kind in {"same", "moved"}) == same
        assert bool(c.causes) == (c.kind != "same")


@given(before=PROMPTS, after=PROMPTS, delivery=st.sampled_from(["append", "rewrite"]))
def test_a_salt_changes_nothing_that_is_reported(
    before: tuple[Turn, list[list[str]], bool], after: tuple[Turn, list[list[str]], bool], delivery: Delivery
) -> None:
    def told(salt: str) -> list[tuple[object, ...]]:
        steps = (prepare(engine(delivery, salt), turn, searches, goes_on=on) for turn, searches, on in (before, after))
        comparison = compare_manifests(*(step.manifest for step in steps))
        broken = comparison.first_break and replace(comparison.first_break, id="")
        return [(broken,), *((replace(change, id=""),) for change in comparison.changes)]

    assert told("") == told("pepper")
