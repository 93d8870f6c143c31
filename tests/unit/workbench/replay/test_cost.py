"""What a sequence of requests costs: by hand for the situations that matter, and against a slow reference at random."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard.workbench.bill import BillBlock, Prices, Request, bill, first_break
from shipped import read_models

FIVE_MINUTES = Prices(0.1, 1.25)
AUTOMATIC = Prices(0.5, 1.0, 1024, 128, explicit=False)
CORE, TOOLS, MORE = BillBlock("core", 2000), BillBlock("tools", 1000), BillBlock("more", 500)
FIRST = Request((CORE, TOOLS), (1, 2))
LONGER = Request((CORE, TOOLS, MORE), (1, 3))


def test_a_request_that_only_adds_reads_what_was_sent_and_writes_what_is_new() -> None:
    rows = bill([FIRST, LONGER], FIVE_MINUTES).rows

    assert [(row.cached, row.written, row.fresh, row.rewrites) for row in rows] == [
        (0, 3000, 0, False),
        (3000, 500, 0, False),
    ]
    assert [row.cost for row in rows] == [3750, 300 + 625]


def test_a_request_that_changes_a_block_reads_only_what_appears_before_it() -> None:
    changed = Request((CORE, BillBlock("other tools", 1000)), (1, 2))
    row = bill([FIRST, changed], FIVE_MINUTES).rows[1]

    assert (row.cached, row.written, row.cost, row.first_break) == (2000, 1000, 200 + 1250, 1)


def test_below_the_minimum_nothing_is_kept_and_nothing_is_paid_for_keeping() -> None:
    total = bill([FIRST, FIRST], replace(FIVE_MINUTES, minimum=4096))

    assert (total.cost, total.cached, total.below_minimum) == (6000, 0, 3000)


def test_an_automatic_cache_is_read_in_steps() -> None:
    total = bill([FIRST, LONGER], AUTOMATIC)

    assert total.rows[1].cached == 2944
    assert total.cost == 3000 + 2944 * 0.5 + 556


def test_without_a_breakpoint_nothing_is_kept() -> None:
    unmarked = [replace(request, breakpoints=()) for request in (FIRST, LONGER)]

    assert bill(unmarked, FIVE_MINUTES).cost == 3000 + 3500


def test_an_entry_lives_as_long_as_it_is_used_in_time() -> None:
    prices = replace(FIVE_MINUTES, lifetime=300)
    at = (0.0, 299.0, 598.0, 899.0)
    rows = bill([replace(FIRST, at=moment) for moment in at], prices).rows

    assert [row.cached for row in rows] == [0, 3000, 3000, 0]


def test_without_times_nothing_expires() -> None:
    assert bill([FIRST, FIRST], replace(FIVE_MINUTES, lifetime=1)).cached == 3000


def test_only_the_part_that_was_used_stays() -> None:
    prices = replace(FIVE_MINUTES, lifetime=300)
    short = Request((CORE, MORE), (1,))
    requests = [replace(FIRST, at=0), replace(short, at=200), replace(FIRST, at=400)]

    assert [row.cached for row in bill(requests, prices).rows] == [0, 2000, 2000]


@pytest.mark.parametrize(
    ("before", "after", "place"),
    [(FIRST, LONGER, None), (LONGER, FIRST, 2), (FIRST, Request((TOOLS, CORE)), 0), (FIRST, FIRST, None)],
)
def test_the_first_break_is_the_first_block_that_differs(before: Request, after: Request, place: int | None) -> None:
    assert first_break(before, after) == place


@pytest.mark.parametrize(("added", "cached"), [(19, 3000), (20, 0)])
def test_an_entry_further_back_than_the_provider_looks_is_not_found(added: int, cached: int) -> None:
    """Ten parallel calls are twenty blocks: ten calls and ten results."""
    prices = replace(FIVE_MINUTES, look_back=20)
    more = tuple(BillBlock(f"call {number}", 10) for number in range(added))
    before, after = Request((CORE, TOOLS), (2,)), Request((CORE, TOOLS, *more), (2 + added,))

    assert bill([before, after], prices).rows[1].cached == cached
    marked = replace(after, breakpoints=(2, 2 + added))
    assert bill([before, marked], prices).rows[1].cached == 3000, "a breakpoint where the request before ended"


def test_answers_are_billed() -> None:
    row = bill([replace(FIRST, answer=100)], replace(FIVE_MINUTES, output=5)).rows[0]

    assert (row.output_tokens, row.input_tokens) == (100, 3000)
    assert row.cost == 3750 + 500


def test_the_share_of_an_empty_bill_is_nothing() -> None:
    assert bill([], FIVE_MINUTES).cached_share == 0


def test_prices_come_from_the_profile_with_its_minimum_in_our_tokens() -> None:
    models = read_models()

    sonnet, gpt = models.find("claude-sonnet-5"), models.find("gpt-5")
    minimum = math.ceil(1024 / 1.625)

    assert Prices.of(sonnet) == Prices(0.1, 1.25, minimum, lifetime=300, look_back=20, output=5)
    assert Prices.of(sonnet, long=True) == Prices(0.1, 2, minimum, lifetime=3600, look_back=20, output=5)
    assert Prices.of(gpt) == Prices(0.1, 1.0, 1024, 128, explicit=False, lifetime=300, output=8)
    assert Prices.of(gpt, long=True) == Prices.of(gpt), "a model with one lifetime has no longer one"
    assert Prices.of(models.find("a-model-of-my-own")).read == 1


def reference(requests: Sequence[Request], prices: Prices) -> list[tuple[int, float]]:
    """Cached tokens and cost of each request, told as the rules are: a list of prefixes with the time of their use."""
    kept: list[tuple[list[str], float]] = []
    bills = []
    for request in requests:
        now = request.at or 0.0
        keys = [block.key for block in request.blocks]
        if prices.lifetime is not None:
            kept = [(prefix, used) for prefix, used in kept if now - used <= prices.lifetime]
        hits = [prefix for prefix, _ in kept if keys[: len(prefix)] == prefix]
        near = [prefix for prefix in hits if seen(request, prices, len(prefix))]
        hit = max((size(request, len(prefix)) for prefix in near), default=0)
        if not prices.explicit:
            hit = hit // prices.step * prices.step
        if hit < prices.minimum:
            hit = 0
        if prices.explicit:
            ends = [end for end in request.breakpoints if size(request, end) >= prices.minimum]
            written = max(0, max((size(request, end) for end in ends), default=0) - hit)
        else:
            ends = list(range(1, len(keys) + 1))
            written = size(request, len(keys)) - hit
        fresh = size(request, len(keys)) - hit - written
        bills.append((hit, hit * prices.read + written * prices.write + fresh))
        used_now = [*hits, *(keys[:end] for end in ends)]
        kept = [(prefix, used) for prefix, used in kept if prefix not in used_now]
        kept += [(prefix, now) for prefix in used_now]
    return bills


def seen(request: Request, prices: Prices, blocks: int) -> bool:
    if prices.look_back is None:
        return True
    return any(0 <= end - blocks < prices.look_back for end in request.breakpoints)


def size(request: Request, blocks: int) -> int:
    return sum(block.tokens for block in request.blocks[:blocks])


SIZES = {"a": 0, "b": 3, "c": 17, "d": 40, "e": 128}
BLOCKS = st.lists(st.sampled_from([BillBlock(key, tokens) for key, tokens in SIZES.items()]), max_size=7)
PRICES = st.builds(
    Prices,
    st.sampled_from([0.05, 0.1, 0.5]),
    st.sampled_from([1.0, 1.25, 2.0]),
    st.sampled_from([0, 1, 20, 60, 200]),
    st.sampled_from([1, 7, 16]),
    st.booleans(),
    st.sampled_from([None, 5.0]),
    st.sampled_from([None, 1, 2, 4]),
)


@st.composite
def conversations(draw: st.DrawFn) -> list[Request]:
    """Requests that often begin alike, at times that lie more or less far apart."""
    requests: list[Request] = []
    before: list[BillBlock] = []
    now = 0.0
    for _ in range(draw(st.integers(1, 6))):
        blocks = [*before[: draw(st.integers(0, len(before)))], *draw(BLOCKS)]
        ends = draw(st.sets(st.integers(1, max(1, len(blocks))), max_size=3))
        now += draw(st.sampled_from([0.0, 2.0, 5.0, 6.0]))
        requests.append(Request(tuple(blocks), tuple(sorted(end for end in ends if end <= len(blocks))), now))
        before = blocks
    return requests


@given(requests=conversations(), prices=PRICES)
def test_every_bill_is_that_of_the_reference(requests: list[Request], prices: Prices) -> None:
    rows = bill(requests, prices).rows

    assert [row.cached for row in rows] == [cached for cached, _ in reference(requests, prices)]
    assert [row.cost for row in rows] == pytest.approx([cost for _, cost in reference(requests, prices)])


@given(requests=conversations(), prices=PRICES)
def test_every_token_is_read_or_written_or_neither(requests: list[Request], prices: Prices) -> None:
    for request, row in zip(requests, bill(requests, prices).rows, strict=True):
        assert row.input_tokens == request.tokens == row.cached + row.written + row.fresh
        assert min(row.cached, row.written, row.fresh, row.below_minimum) >= 0


@given(requests=conversations(), prices=PRICES)
def test_a_cache_that_reads_cheaply_and_writes_for_free_never_costs_more_than_none(
    requests: list[Request], prices: Prices
) -> None:
    total = bill(requests, replace(prices, write=1.0))

    assert total.cost <= total.input_tokens + 1e-6
