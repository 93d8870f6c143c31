"""The Price screen: the figures of `cuecard replay`, what is tried, money only at a typed price, and bad addresses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuecard import Engine
from cuecard.config.transcript_file import read_transcript
from cuecard.workbench.replay.report import BillingModels, ReplayReport, replay
from studio.in_process import ROOT, Visit, answer, copied, visiting, words

RECORDING = ROOT / "examples" / "cms" / "recordings" / "blog-post.json"


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    with visiting(copied(tmp_path_factory.mktemp("price"))) as visit:
        yield visit


@pytest.fixture(scope="module")
def report() -> ReplayReport:
    engine = Engine.open(ROOT / "prompts" / "cms")
    models = [engine.models.find(name) for name in ("claude-opus-5", "gpt-5.6")]
    return replay(engine, read_transcript(RECORDING.read_text(), RECORDING.name), BillingModels(models))


@pytest.fixture(scope="module")
def run(visit: Visit) -> str:
    (found,) = visit.page("/prompt").xpath("//select[@name='run']/option[contains(., 'append')]/@value")
    return str(found)


def test_the_figures_are_those_of_the_replay(visit: Visit, run: str, report: ReplayReport) -> None:
    page = visit.page(f"/price?run={run}")

    costs = {each.name: f"{report.bill(each).cost:,.0f}" for each in report.variants}
    rows = page.xpath("//table[@class='deliveries']/tbody/tr")
    shown = {
        row.xpath("th")[0].text_content().replace("✓ cheapest", "").strip(): row.xpath("td")[0].text for row in rows
    }
    assert (
        answer(page)
        == f"✓ append is the cheapest delivery here: {costs['append']} plain input tokens with claude-opus-5."
    )
    assert [*shown] == [*costs]
    assert words(page, "//table[@class='deliveries']/tbody/tr/td[1]") == [*costs.values()]
    assert "$" not in " ".join(words(page, "//main"))


def test_the_cheapest_delivery_is_one_that_can_be_chosen(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(
        "agent: shop\ntools: {instructions: tools.yaml, core: []}\n"
        'sections: [{id: tools, text: "{{{activeProtocols}}}"}]\n'
    )
    (tmp_path / "tools.yaml").write_text("tools: {mail: {description: Send mail, phrases: [send mail], before: Ask}}\n")
    (tmp_path / "recordings").mkdir()
    search = {"calls": [{"tool": "tool_search", "args": {"query": "send mail"}, "result": {"tools": ["mail"]}}]}
    turns = [{"user": "Write to Jana.", "requests": [search, search, {"text": "Done."}]}]
    (tmp_path / "recordings" / "mail.json").write_text(json.dumps({"turns": turns}))
    with visiting(tmp_path, ["."]) as visit:
        (run,) = visit.page("/prompt").xpath("//select[@name='run']/option[contains(., 'append')]/@value")
        page = visit.page(f"/price?run={run}")
    (best,) = words(page, "//table[@class='deliveries']//th[span]")
    times = dict(zip(words(page, "//table[@class='deliveries']//th[i]"), words(page, "//td[2]"), strict=True))
    assert answer(page).split()[1] == best.split()[0]
    assert float(times["frozen, no searches"].split()[0]) < 1


def test_what_a_cost_is_made_of_adds_up_to_it(visit: Visit, run: str, report: ReplayReport) -> None:
    page = visit.page(f"/price?run={run}")

    for said, variant in zip(page.xpath("//svg[@class='bar mid']/@aria-label"), report.variants, strict=True):
        parts = [float(part.split(" ")[-1]) for part in said.replace(", ", ";").replace(",", "").split(";")]
        assert sum(parts) == pytest.approx(report.bill(variant).cost, abs=2)


def test_each_model_has_its_bill(visit: Visit, run: str, report: ReplayReport) -> None:
    part = visit.page(f"/price/models?run={run}")

    for model in ("claude-opus-5", "gpt-5.6"):
        costs = [variant.bills[model].cost for variant in report.variants]
        cells = words(part, f"//tr[th//code='{model}']/td")
        assert cells == [f"{'✓ ' if cost == min(costs) else ''}{cost:,.0f}" for cost in costs]


def test_money_is_shown_at_a_price_that_was_typed(visit: Visit, run: str, report: ReplayReport) -> None:
    cost = report.bill(report.variant("append")).cost
    page = visit.page(f"/price?run={run}&price=5")

    assert f"$ {cost * 1000 * 5 / 1_000_000:,.2f}" in words(page, "//dl[@class='figures']//dd")


def test_the_number_of_tools_is_tried_as_the_recommendation_tries_it(visit: Visit, run: str) -> None:
    sizes = visit.page(f"/price/sizes?run={run}")
    page = visit.page(f"/price?run={run}&size=200")

    (cost,) = words(page, "//table[@class='deliveries']/tbody/tr[1]/td[1]")
    assert words(sizes, "//tr[th/a='200']/td[1]") == [cost]
    assert page.xpath("//input[@name='size'][@type='number']/@value") == ["200"]


def test_a_longer_conversation_costs_more_and_a_narrower_search_less(visit: Visit, run: str) -> None:
    def cost(told: str) -> float:
        return float(answer(visit.page(f"/price?run={run}&{told}")).split(": ")[1].split(" ")[0].replace(",", ""))

    plain = cost("")
    assert cost("requests=5") < plain < cost("requests=30")
    assert cost("width=1") < plain
    assert cost("definitions=all") > plain


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("size=999999999", "1,000 is shown in place of 999,999,999"),
        ("requests=0", "1 is shown in place of 0"),
        ("width=17", "16 is shown in place of 17"),
    ],
)
def test_a_number_beyond_the_ends_of_its_slider_is_said(visit: Visit, run: str, told: str, said: str) -> None:
    assert said in " ".join(words(visit.page(f"/price?run={run}&{told}"), "//p[@class='say']"))


@pytest.mark.parametrize("told", ["size=-1", "size=many", "price=free", "definitions=some", "width=1.5"])
def test_values_that_are_none_are_named(visit: Visit, run: str, told: str) -> None:
    assert told.partition("=")[0] in " ".join(words(visit.page(f"/price?run={run}&{told}", 422), "//article"))


def test_a_model_that_nobody_knows_is_priced_and_said_so(visit: Visit, run: str) -> None:
    page = visit.page(f"/price?run={run}&model=nobody")
    assert "Nothing is known of nobody" in " ".join(words(page, "//p[@class='say']"))


def test_without_a_recording_the_screen_says_what_can_be_done(visit: Visit, tmp_path: Path) -> None:
    assert answer(visit.page("/price")).startswith("Choose a recording")
    assert "only recordings can be priced" in " ".join(words(visit.page("/price/models", 422), "//article"))
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "agent.yaml").write_text("agent: small\nsections:\n  - {id: a, text: Hello.}\n")
    with visiting(tmp_path, ["small"]) as other:
        assert answer(other.page("/price")) == "There is no recording to price yet."


def test_a_recording_that_an_agent_cannot_play_says_why(tmp_path: Path) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "agent.yaml").write_text(
        "agent: small\ninputs: {who: {type: string}}\nsections:\n  - {id: a, text: Hello.}\n"
    )
    (tmp_path / "recordings").mkdir()
    recorded = {"turns": [{"user": "hello", "requests": [{"text": "hello"}]}]}
    (tmp_path / "recordings" / "talk.json").write_text(json.dumps(recorded))
    with visiting(tmp_path, ["small"]) as visit:
        (talk,) = visit.page("/price").xpath("//nav[@aria-label='Choose a recording']/a/@href")
        assert visit.client.get(talk).status_code == 422
