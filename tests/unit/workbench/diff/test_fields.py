"""`cuecard diff` names every field of an agent that differs, whether or not a turn reaches it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from command_line import main

Diff: TypeAlias = Callable[..., str]

AGENT = """\
agent: shop
delivery: append
inputs: {mood: {default: calm}}
tools: {instructions: tools.yaml, core: [tool_search, get_order]}
sections:
  - {id: role, text: "You help. {{> tone}}"}
  - {id: rules, when: mood, text: "Be {{{mood}}}."}
  - {id: i, text: "{{{activeProtocols}}}"}
layout: {partials: partials}
"""
TOOLS = """\
category: orders
described: {tool_search: {description: Find tools}, get_order: {description: Read an order}}
tools:
  refund_order:
    description: Pay out for an order
    phrases: [give money back]
    before: Ask for a clear yes
    after: Say the amount
    next: None required
    gotcha: Amounts are in cents.
"""
TURNS = {
    "first": "history: [{tool: get_order, call_id: c-1, result: {id: o-1, total: 4200}}]\n",
    "found": "history: [{search: give money back, finds: refund_order}]\n",
}


def write(folder: Path) -> Path:
    texts = {"agent.yaml": AGENT, "tools.yaml": TOOLS, "partials/tone.hbs": "Be kind."}
    for name, text in {**texts, **{f"turns/{name}.yaml": text for name, text in TURNS.items()}}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Two editions of an agent, equal so far."""
    write(tmp_path / "before")
    return write(tmp_path / "after")


@pytest.fixture
def diff(shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Diff:
    """What the command prints of the two editions."""

    def call(*options: str, code: int = 0) -> str:
        turns = ("--turn", str(shop / "turns"))
        monkeypatch.setattr("sys.argv", ["cuecard", "diff", str(shop.parent / "before"), str(shop), *turns, *options])
        monkeypatch.setenv("COLUMNS", "200")
        with pytest.raises(SystemExit) as ended:
            main()
        shown = capsys.readouterr()
        assert (int(ended.value.code or 0), shown.err) == (code, "")
        return shown.out

    return call


def edit(shop: Path, name: str, old: str, new: str) -> None:
    text = (shop / name).read_text(encoding="utf-8")
    assert old in text
    (shop / name).write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "old", "new", "label", "reached"),
    [
        ("tools.yaml", "in cents", "in euros", "tool refund_order: gotcha", ["found"]),
        ("tools.yaml", "    after: Say the amount\n", "", "tool refund_order: after", ["found"]),
        ("tools.yaml", "[give money back]", "[reverse, give money back]", "tool refund_order: phrases", ["found"]),
        ("tools.yaml", "category: orders", "category: money", "tool refund_order: category", ["found"]),
        ("tools.yaml", "Read an order", "Read one order", "tool get_order: description", []),
        ("tools.yaml", "refund_order:", "repay_order:", "tool repay_order: name", ["found"]),
        ("agent.yaml", "You help.", "You serve.", "section role: text", ["first", "found"]),
        ("agent.yaml", "when: mood", "when: {not: mood}", "section rules: when.not.input", []),
        ("agent.yaml", "id: rules", "id: laws", "section laws: name", ["first", "found"]),
        ("agent.yaml", "default: calm", "default: glad", "input mood: default", ["first", "found"]),
        (
            "agent.yaml",
            "layout:",
            'results: {get_order: "{{{result.id}}}"}\nlayout:',
            "result get_order: text",
            ["first"],
        ),
        ("agent.yaml", "layout:", 'results: {gone: "{{{result.id}}}"}\nlayout:', "result gone: text", []),
        ("agent.yaml", "layout:", "reload: next-call\nlayout:", "setting reload", []),
        ("agent.yaml", "core: [tool", "search: {limit: 3}, core: [tool", "setting tools.search.limit", ["found"]),
        ("agent.yaml", "layout:", "budget: {total: 900}\nlayout:", "setting budget.total", ["first", "found"]),
        ("partials/tone.hbs", "Be kind.", "Be quick.", "partial partials/tone.hbs", ["first", "found"]),
    ],
)
def test_each_field_is_named_with_the_turns_that_reach_it(
    shop: Path, diff: Diff, name: str, old: str, new: str, label: str, reached: list[str]
) -> None:
    edit(shop, name, old, new)
    found = {_label(each): each for each in json.loads(diff("--json", "--exit-code", code=1))["changes"]}

    assert [str(Path(name).stem) for name in found[label]["reached"]] == reached


@pytest.mark.parametrize(
    ("name", "old", "new", "label", "told"),
    [
        ("tools.yaml", "Read an order", "Read one order", "tool get_order: description", "reached by no turn"),
        ("tools.yaml", "    after: Say the amount\n", "", "tool refund_order: after", "reached by 1 of 2 turns"),
        ("agent.yaml", "id: rules", "id: laws", "section laws: name", "reached by 2 of 2 turns"),
    ],
)
def test_people_read_the_same(shop: Path, diff: Diff, name: str, old: str, new: str, label: str, told: str) -> None:
    edit(shop, name, old, new)
    text, markdown = diff("--exit-code", code=1), diff("--format", "markdown", "--exit-code", code=1)

    assert f"{label} (" in text
    assert told in text
    assert label.replace(":", "&#58;") in markdown
    assert told in markdown


def test_a_kind_of_user_without_any_limit_is_named_when_it_goes(shop: Path, diff: Diff) -> None:
    edit(shop, "agent.yaml", "layout:", "access: {owner: {}, guest: {hide: refund_order}}\nlayout:")
    changes = json.loads(diff("--json"))["changes"]

    assert [(_label(each), each["change"]) for each in changes] == [
        ("setting access.guest.hide", "added"),
        ("setting access.owner", "added"),
    ]


def test_a_turn_with_another_result_differs_for_programs_too(shop: Path, diff: Diff) -> None:
    edit(shop, "agent.yaml", "layout:", 'results: {get_order: "{{{result.id}}}"}\nlayout:')

    assert [each["differs"] for each in json.loads(diff("--json"))["turns"]] == [True, False]
    assert "the same: 1 of 2 turns" in diff()


def test_a_section_with_another_name_is_the_same_prompt(shop: Path, diff: Diff) -> None:
    edit(shop, "agent.yaml", "id: rules", "id: laws")
    edit(shop, "agent.yaml", "id: i,", "id: instructions,")

    assert diff().startswith("the same: 2 of 2 turns\n")
    assert all(not each["differs"] for each in json.loads(diff("--json"))["turns"])

    edit(shop, "agent.yaml", "Be {", "Stay {")
    assert "the same: 0 of 2 turns" in diff()


def _label(change: dict[str, Any]) -> str:
    return f"{change['kind']} {change['name']}" + (f": {change['field']}" if change["field"] else "")


def test_what_no_turn_reaches_is_shown_line_by_line(shop: Path, diff: Diff) -> None:
    edit(
        shop, "tools.yaml", "tools:\n", "tools:\n  send_gift:\n    before: Ask whom\n    gotcha: Never to strangers.\n"
    )
    out = diff("--format", "markdown")

    assert out.startswith("**The prompt is the same in all 2 turns, but the agent differs in 3 fields.**")
    assert "| <code>tool send_gift&#58; gotcha</code> | added | 0 | 4 | +4 | reached by no turn |" in out
    assert "+Never to strangers." in out


def test_a_new_order_of_sections_is_a_change(shop: Path, diff: Diff) -> None:
    edit(shop, "agent.yaml", '  - {id: rules, when: mood, text: "Be {{{mood}}}."}\n', "")
    edit(shop, "agent.yaml", "sections:\n", 'sections:\n  - {id: rules, when: mood, text: "Be {{{mood}}}."}\n')

    assert "setting sections: order (moved" in diff()


def test_a_result_that_reads_otherwise_is_a_change_of_its_turn(shop: Path, diff: Diff) -> None:
    edit(shop, "agent.yaml", "layout:", 'results: {get_*: "{{{result.id}}}"}\nlayout:')
    out = diff("--format", "markdown")

    assert out.startswith("**The prompt changes in 1 of 2 turns: 0 tokens.**")
    assert "| <code>result of get_order</code> | changed | 15 | 3 | -12 |  | 1 of 2 |" in out
    assert '-{"id": "o-1", "total": 4200}\n+o-1\n' in out


def test_a_query_that_finds_other_tools_is_named(shop: Path, diff: Diff) -> None:
    edit(shop, "tools.yaml", "give money back", "reverse a payment")

    assert "| <code>give money back</code> | <code>refund_order</code> | <code>nothing</code> |" in diff(
        "--format", "markdown"
    )
    assert 'search "give money back": refund_order -> nothing' in diff()
    assert json.loads(diff("--json"))["searches"] == [
        {
            "turn": str(shop / "turns" / "found.yaml"),
            "query": "give money back",
            "before": ["refund_order"],
            "after": [],
        }
    ]


def test_editions_that_say_the_same_have_no_fields(shop: Path, diff: Diff) -> None:
    (shop / "tools.yaml").write_text(f"# A comment.\n{TOOLS}", encoding="utf-8")
    data = json.loads(diff("--json", "--exit-code"))

    assert (data["changes"], data["searches"], data["results"]) == ([], [], [])
    assert diff() == "the same: 2 of 2 turns\n"


def test_one_turn_is_compared_with_its_fields(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(shop, "tools.yaml", "in cents", "in euros")
    played = ("first", "reached by no turn"), ("found", "reached by 1 of 1 turn"), ("", "no turn file given: --turn")
    for turn, told in played:
        turns = ["--turn", str(shop / "turns" / f"{turn}.yaml")] if turn else []
        words = [str(shop.parent / "before"), str(shop), *turns]
        monkeypatch.setattr("sys.argv", ["cuecard", "diff", *words])
        with pytest.raises(SystemExit):
            main()

        assert f"tool refund_order: gotcha (changed, 5 -> 5 tokens, {told})" in capsys.readouterr().out
