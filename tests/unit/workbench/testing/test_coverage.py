"""`cuecard test --coverage`: what no turn reaches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from command_line import run

AGENT = """\
agent: shop
inputs: {mood: {default: ""}, items: {type: list, default: []}, level: {default: low}}
tools: {instructions: tools.yaml, core: [tool_search]}
results: {refund_order: "{{#if result.ok}}Paid.{{else}}Not paid: {{{content}}}{{/if}}"}
layout: {partials: partials}
sections:
  - {id: role, text: "You help.{{#if mood}} Be {{{mood}}}.{{else if items}} Be exact.{{/if}}{{> list}}"}
  - {id: late, when: {equals: {level: high}}, text: "{{#unless mood}}Be quick.{{/unless}}"}
  - id: tone
    choose: [{when: mood, text: "{{#with mood}}Feel {{{this}}}.{{/with}}"}, {text: Plain.}]
  - {id: protocols, text: "{{{activeProtocols}}}"}
"""
TOOLS = """\
category: orders
described: {tool_search: {description: Find tools}}
tools:
  refund_order: {phrases: [give money back], gotcha: Amounts are in cents.}
  send_gift: {phrases: [send a gift], gotcha: Never to strangers.}
"""
MISSED = {
    "tools": ["refund_order", "send_gift"],
    "sections": ["late", "protocols"],
    "conditions": ["late: when level = 'high': true", "tone: choose mood: true"],
    "branches": [
        "{{#each items}} (partials/list.hbs:1:1)",
        "{{#if mood}} (role:1:10)",
        "{{#if items}} (role:1:37)",
        "{{#unless mood}} (late:1:1)",
        "{{#with mood}} (tone:1:1)",
        "{{#if result.ok}} (results.refund_order:1:1)",
        "{{#if result.ok}}: else (results.refund_order:1:1)",
    ],
}


def test_a_search_that_the_agent_does_not_have_is_not_missed(shop: Path) -> None:
    agent = shop / "agent.yaml"
    agent.write_text(agent.read_text().replace("core: [tool_search]", "core: all"))

    assert "tools: 2 of 2 reached (100 %)\n" in run("test", str(shop), "--coverage").stdout


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An agent with one turn that reaches little."""
    texts = {"agent.yaml": AGENT, "tools.yaml": TOOLS, "partials/list.hbs": "{{#each items}} {{{this}}}{{/each}}"}
    for name, text in {**texts, "turns/first.yaml": "message: Hello.\n"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def covered(*options: str) -> dict[str, Any]:
    coverage: dict[str, Any] = json.loads(run("test", ".", "--coverage", "--json", *options).stdout)["coverage"]
    return coverage


def test_everything_that_no_turn_reaches_is_named(shop: Path) -> None:
    assert {kind: each["missed"] for kind, each in covered().items()} == MISSED
    told = run("test", ".", "--coverage").stdout

    assert "tools: 1 of 3 reached (33 %)\n  no turn reaches refund_order\n" in told
    assert all(f"  no turn reaches {name}\n" in told for names in MISSED.values() for name in names)


@pytest.mark.parametrize(
    ("turn", "reached"),
    [
        ("history: [{search: give money back}]", {"refund_order", "protocols"}),
        ("inputs: {mood: calm}", {"{{#if mood}} (role:1:10)", "{{#with mood}} (tone:1:1)", "tone: choose mood: true"}),
        ("inputs: {items: [a]}", {"{{#if items}} (role:1:37)", "{{#each items}} (partials/list.hbs:1:1)"}),
        ("inputs: {level: high}", {"late", "{{#unless mood}} (late:1:1)", "late: when level = 'high': true"}),
        (
            "history: [{tool: refund_order, result: {ok: true}}]",
            {"{{#if result.ok}} (results.refund_order:1:1)"},
        ),
        (
            "history: [{tool: refund_order, result: {ok: false}}]",
            {"{{#if result.ok}}: else (results.refund_order:1:1)"},
        ),
    ],
)
def test_a_turn_reaches_what_it_renders_and_nothing_else(shop: Path, turn: str, reached: set[str]) -> None:
    (shop / "turns" / "second.yaml").write_text(turn, encoding="utf-8")
    missed = {name for each in covered().values() for name in each["missed"]}

    assert {name for names in MISSED.values() for name in names} - missed == reached


def test_a_share_that_is_too_low_fails(shop: Path) -> None:
    low, enough = run("test", ".", "--coverage-min", "34"), run("test", ".", "--coverage-min", "0")

    assert (low.exit_code, enough.exit_code) == (1, 0)
    assert "error[low-coverage]: the turns reach 33 % of the tools; `--coverage-min` asks for 34 %" in low.stderr
    assert "of the branches" in low.stderr
    assert "of the sections" not in low.stderr


def test_without_the_option_nothing_is_counted(shop: Path) -> None:
    assert "coverage" not in json.loads(run("test", ".", "--json").stdout)
    assert "reached" not in run("test", ".").stdout


def test_what_an_agent_does_not_have_is_reached(shop: Path) -> None:
    (shop / "agent.yaml").write_text("agent: shop\nsections: [{id: role, text: You help.}]\n", encoding="utf-8")
    assert "--coverage-min: 101 is more than 100" in run("test", ".", "--coverage-min", "101").stderr
    outcome = run("test", ".", "--coverage-min", "100")

    assert outcome.exit_code == 0
    assert "tools: 0 of 0 reached (100 %)" in outcome.stdout
