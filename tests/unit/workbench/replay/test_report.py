"""The report: baselines, breaks with their reasons, and the advice, which is billed and not guessed."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from cuecard.types import ModelProfile
from cuecard.workbench.bill import Prices, bill
from cuecard.workbench.replay.command import report_json
from cuecard.workbench.replay.play import play, without_searches
from cuecard.workbench.replay.recommend import MOST_TOOLS, Recommendation, needed, recommend, resized
from cuecard.workbench.replay.report import FROZEN_DIRECT, NO_CACHE, BillingModels, ReplayReport, replay
from shipped import read_models
from unit.workbench.replay.small import advice, conversation, engine, pages, profile, report, search


@pytest.fixture(name="report")
def report_of_pages() -> ReplayReport:
    return report()


@pytest.fixture(name="advice")
def advice_for_pages() -> Recommendation:
    return advice()


def test_the_baselines_are_always_there() -> None:
    names = [v.name for v in replay(engine(), pages(), BillingModels([profile()]), deliveries=["append"]).variants]

    assert names == ["append", "frozen", FROZEN_DIRECT, NO_CACHE]


def test_a_conversation_without_searches_has_no_variant_without_them() -> None:
    plain = conversation({"user": "Hi", "requests": [{"text": "Hello."}]})

    assert FROZEN_DIRECT not in [
        variant.name for variant in replay(engine(), plain, BillingModels([profile()])).variants
    ]


def test_without_caching_every_token_of_rewrite_has_the_plain_price(report: ReplayReport) -> None:
    plain = report.bill(report.variant(NO_CACHE))

    assert plain.cost == plain.input_tokens + 5 * plain.output_tokens
    assert plain.input_tokens == report.bill(report.variant("rewrite")).input_tokens
    assert plain.cached == 0


def test_every_model_has_its_bill(report: ReplayReport) -> None:
    append = report.variant("append")

    assert append.bills["small-marked"] == bill([sent.request for sent in append.sent], Prices.of(profile()))
    assert append.bills["small-marked"].cost != append.bills["small-automatic"].cost


def test_breaks_say_where_and_why_and_what_it_loses(report: ReplayReport) -> None:
    rewrite = report.variant("rewrite")
    found = [(f"{s.turn}.{s.number}", b.id, b.cause) for s, b in zip(rewrite.sent, rewrite.breaks, strict=True) if b]
    lost = [broken.lost for broken in rewrite.breaks if broken]

    assert found == [
        ("1.2", "tools/list_pages", "discovery list_pages"),
        ("2.1", "system/working-memory", "memory"),
        ("2.2", "tools/create_page", "discovery create_page"),
    ]
    assert all(0 < tokens < rewrite.sent[0].request.tokens * 3 for tokens in lost)


def test_a_break_has_a_row_that_rewrites_and_no_other_row_does(report: ReplayReport) -> None:
    for variant in report.variants:
        assert [broken is not None for broken in variant.breaks] == [
            row.rewrites for row in variant.bills["small-marked"].rows
        ]


def test_a_date_that_rolls_over_is_named() -> None:
    days = [{"user": "Hi", "at": f"2026-11-{day}T12:00:00+00:00", "requests": [{}]} for day in (20, 21)]
    broken = replay(engine(), conversation(*days), BillingModels([profile()])).variant("rewrite").breaks[1]

    assert broken is not None
    assert (broken.id, broken.cause) == ("system/date", "clock")


def test_an_input_that_changes_is_named() -> None:
    turns = [{"user": "Hi", "inputs": {"user": name}, "requests": [{}]} for name in ("Ada", "Bo")]
    broken = replay(engine(), conversation(*turns), BillingModels([profile()])).variant("rewrite").breaks[1]

    assert broken is not None
    assert (broken.id, broken.cause) == ("system/identity", "input user")


@pytest.mark.repeats
def test_the_advice_is_the_cheapest_delivery(report: ReplayReport, advice: Recommendation) -> None:
    costs = {name: report.bill(report.variant(name)).cost for name in ("append", "rewrite", "frozen")}

    assert advice.cost == min(costs.values()) == costs[advice.delivery]


@pytest.mark.repeats
def test_the_threshold_is_where_the_bills_cross() -> None:
    """A long conversation with one discovery: frozen pays for every tool, append for the one that was found."""
    requests = [*(search("list_pages") for _ in range(3)), *({"text": "word " * 30} for _ in range(5))]
    turns = {"user": "Hi", "requests": requests}
    recorded = conversation(turns)
    report = replay(engine(), recorded, BillingModels([profile()]))
    frozen, direct = recommend(report, engine(), recorded).thresholds
    append = report.bill(report.variant("append")).cost

    def cost(variant: str, tools: int) -> float:
        sized = resized(engine(), tools, needed(engine(), recorded))
        played = without_searches(recorded, "tool_search") if variant == FROZEN_DIRECT else recorded
        return bill([sent.request for sent in play(sized, played, "frozen")], Prices.of(profile())).cost

    for threshold in (frozen, direct):
        assert threshold.against == "append"
        assert threshold.tools is not None
        assert cost(threshold.variant, threshold.tools) > append
        assert threshold.tools == threshold.fewest or cost(threshold.variant, threshold.tools - 1) <= append
    assert (direct.tools or 0) > (frozen.tools or 0)


def test_where_nothing_is_ever_found_frozen_may_stay_cheaper_for_ever() -> None:
    """With no discovery there is nothing that append could do better or worse, but for the tools in front."""
    free = ModelProfile("free", cache_read=0.0, cache_write=0.0, min_cache_tokens=1, breakpoints=4, token_factor=1)
    recorded = conversation({"user": "Hi", "requests": [{"text": "Hello."}]})
    report = replay(engine(), recorded, BillingModels([free]))

    assert [threshold.tools for threshold in recommend(report, engine(), recorded).thresholds] == [None]


def test_a_resized_catalogue_has_so_many_tools_of_the_same_sizes() -> None:
    larger = resized(engine(), 11, ())

    assert list(larger.tools)[:3] == ["tool_search", "create_page", "list_pages"]
    assert list(larger.tools)[3:5] == ["create_page_2", "list_pages_2"]
    assert len(larger.tools) == len(larger.agent.protocols) == 11
    assert len(resized(engine(), 2, ["list_pages"]).tools) == 2
    assert list(resized(engine(), 2, ["list_pages"]).tools) == ["tool_search", "list_pages"]
    assert list(resized(engine(), 0, ()).tools) == ["tool_search"]


def test_the_cost_of_frozen_grows_with_its_tools() -> None:
    costs = [
        bill([sent.request for sent in play(resized(engine(), n, ()), pages(), "frozen")], Prices.of(profile())).cost
        for n in (3, 10, 50, MOST_TOOLS // 5)
    ]

    assert costs == sorted(costs)


def test_definitions_appear_where_each_model_can_take_them(report: ReplayReport) -> None:
    """A model that takes no definition later pays for all of them from the start, as that provider's body has them."""
    front = replace(profile(), name="in front", definitions="all")
    both = replay(engine(), pages(), BillingModels([profile(), front]))
    late, early = (both.variant("append").bills[name] for name in ("small-marked", "in front"))

    assert late == report.bill(report.variant("append"))
    assert early.input_tokens > late.input_tokens
    assert early == replay(engine(), pages(), BillingModels([profile()], "all")).variant("append").bills["small-marked"]


def test_the_json_has_the_documented_keys(report: ReplayReport, advice: Recommendation) -> None:
    value = json.loads(json.dumps(report_json(report, advice)))
    append = value["deliveries"]["append"]

    totals = ["input_tokens", "output_tokens", "cached_share", "cost", "rewrites", "below_minimum"]
    assert list(append) == [*totals, "requests"]
    assert append["input_tokens"] == sum(request["input_tokens"] for request in append["requests"])
    assert append["cost"] == pytest.approx(sum(request["cost"] for request in append["requests"]), abs=0.1)
    assert append["requests"][3]["input_tokens"] == sum(append["requests"][3]["tokens"].values())
    assert list(value["profiles"]) == ["small-marked", "small-automatic"]
    assert value["profiles"]["small-marked"]["append"]["cost"] == append["cost"]
    assert value["reported"] == {"input_tokens": 410, "cached_tokens": 256, "output_tokens": 12}
    assert value["recommendation"]["delivery"] == "frozen"  # three tools, and then no search


def test_a_minimum_that_is_not_reached_shows_in_the_report() -> None:
    large = read_models().find("claude-opus-4-5")
    append = replay(engine(), pages(), BillingModels([large])).variant("append").bills["claude-opus-4-5"]

    assert append.cost == append.input_tokens + 5 * append.output_tokens
    assert append.below_minimum > 0
