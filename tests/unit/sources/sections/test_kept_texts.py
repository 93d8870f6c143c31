"""Texts of sections are kept between calls only until a value changes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuecard import Engine, ToolResult, Turn

AGENT = """\
agent: a
inputs: {x: {type: string}}
layout: {partials: p}
sections:
- {id: first, text: "{{x}}\\n"}
- {id: s, text: '%s'}
"""


@pytest.mark.parametrize(
    "text",
    [
        "{{#each this}}{{this}} {{/each}}",
        "{{json this}}",
        '{{lookup this "x"}}',
        "{{> p}}",
        '{{> (lookup this "x")}}',
        '{{#*inline "q"}}{{x}}{{/inline}}{{> q}}',
        "{{@root.x}}",
        "{{{x}}}, {{! who? }}{{x}}",
        "{{#if x}}{{x}}{{/if}}",
        "{{upper x}} {{x}}",
    ],
)
def test_a_text_that_reads_values_by_any_way_follows_them(text: str, tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    for name in ("p", "red", "blue"):
        (tmp_path / f"p/{name}.hbs").write_text(f"{{{{x}}}} {name}", encoding="utf-8")
    (tmp_path / "agent.yaml").write_text(AGENT % text, encoding="utf-8")
    engine = Engine.open(tmp_path / "agent.yaml")

    said = [engine.prepare_call(Turn(inputs={"x": x})).prompt.shown["s"] for x in ("red", "blue", "blue", "red")]

    assert "red" in said[0]
    assert "blue" in said[1]
    assert said[2] == said[1]
    assert said[3] == said[0]


def test_a_kept_text_is_the_same_behind_whatever_comes_before_it(tmp_path: Path) -> None:
    text = AGENT.replace("layout: {partials: p}\n", "").replace("}}\\n", "}}") % "/fixed\\n"
    (tmp_path / "agent.yaml").write_text(text, encoding="utf-8")
    kept = Engine.open(tmp_path / "agent.yaml")

    for x in ("a", "b ", "", "a", "1"):
        fresh = Engine.open(tmp_path / "agent.yaml").prepare_call(Turn(inputs={"x": x}))
        assert kept.prepare_call(Turn(inputs={"x": x})).prompt == fresh.prompt


def test_what_a_value_is_counts_and_not_only_how_it_looks(tmp_path: Path) -> None:
    text = "agent: a\ninputs: {x: {type: list}}\nsections: [{id: s, text: '{{x}}'}]\n"
    (tmp_path / "agent.yaml").write_text(text, encoding="utf-8")
    engine = Engine.open(tmp_path / "agent.yaml")

    for x, shown in (([1, True], "1,true"), ([True, 1], "true,1"), (["1", True], "1,true"), ([1.0, 1], "1,1")):
        assert engine.prepare_call(Turn(inputs={"x": x})).prompt.shown["s"] == shown


def test_a_helper_of_the_hosts_is_asked_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "counting_kit.py").write_text("from itertools import count\nKIT = {'x': count().__next__}\n")
    monkeypatch.syspath_prepend(tmp_path)
    text = "agent: a\nhelpers: counting_kit:KIT\nsections: [{id: s, text: '{{x}}'}]\n"
    (tmp_path / "agent.yaml").write_text(text, encoding="utf-8")
    engine = Engine.open(tmp_path / "agent.yaml", allow_code=True)

    assert [engine.prepare_call().prompt.shown["s"] for _ in range(3)] == ["0", "1", "2"]


def test_a_state_has_all_results_whenever_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text("agent: a\nsections: [{id: s, text: Hello}]\n", encoding="utf-8")
    chat = Engine.open(tmp_path / "agent.yaml").conversation()
    chat.user()
    for number in range(5):
        chat.step([ToolResult("t", {}, f"call-{number}")])
        if number == 2:
            before = chat.state

    assert [each.call_id for each in before.results] == ["call-0", "call-1", "call-2"]
    assert [each.call_id for each in chat.state.results] == [f"call-{number}" for number in range(5)]
