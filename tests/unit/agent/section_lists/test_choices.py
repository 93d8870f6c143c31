"""Sections of several texts, and sections that are there because another is empty."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from cuecard import Engine, SpecError, ToolCard, Turn
from unit.agent.section_lists.agents import agent, cut, opened, step


def prompt(engine: Engine, turn: Turn | None = None) -> str:
    return step(engine, turn or Turn()).system


STYLES = """\
agent: bakery
inputs: {mode: {values: [plan, act], default: act}, who: {default: ""}}
sections:
  - id: style
    choose:
      - {model: "*gpt-5*", file: codex.md}
      - {when: {equals: {mode: plan}}, text: "Plan for {{{who}}}."}
      - {when: {tool: web_search}, text: Search first.}
"""


def styles(tmp_path: Path) -> Engine:
    return opened(tmp_path, STYLES, codex_md="You are {{{who}}}.\n").with_tools([ToolCard("web_search")])


@pytest.mark.parametrize(
    ("turn", "expected"),
    [
        (Turn({"who": "Ann", "mode": "plan"}, model="openai:gpt-5.2"), "You are Ann."),
        (Turn({"who": "Ann", "mode": "plan"}, tools=("web_search",)), "Plan for Ann."),
        (Turn(tools=("web_search",)), "Search first."),
        (Turn(tools=()), ""),
    ],
)
def test_the_first_that_holds_counts(tmp_path: Path, turn: Turn, expected: str) -> None:
    assert prompt(styles(tmp_path), turn) == expected


def test_the_manifest_names_the_file_that_was_chosen_and_says_when_none_was(tmp_path: Path) -> None:
    engine = styles(tmp_path)
    [record] = step(engine, Turn(model="gpt-5.2")).manifest.sections
    assert (record.id, record.source, record.tier) == ("style", "codex.md:1", "call")
    assert cut(step(engine, Turn(tools=())), "style").reason == "choose: no condition holds"


def test_a_stored_call_keeps_its_choice(tmp_path: Path) -> None:
    engine = styles(tmp_path)
    chat = engine.conversation()
    chat.user(Turn({"who": "Ann"}, model="gpt-5.2"))
    before = chat.step().system
    after = engine.load(engine.dump(chat))
    assert after.step().system == before == "You are Ann."


def test_a_profile_and_a_file_above_replace_it(tmp_path: Path) -> None:
    text = STYLES + "profiles: {brief: {sections: [{id: style, text: Brief.}]}}\n"
    engine = opened(tmp_path, text, codex_md="You are codex.")
    assert prompt(engine, Turn(profile="brief", model="gpt-5.2")) == "Brief."
    above = "agent: above\nextends: base/agent.yaml\nsections: [{id: style, choose: [{file: own.md}]}]\n"
    (tmp_path / "over").mkdir()
    file = agent(tmp_path / "over", above, own_md="Own.", base__agent_yaml=STYLES, base__codex_md="You are codex.")
    assert prompt(Engine.open(file), Turn(model="gpt-5.2")) == "Own."


def test_files_of_a_base_are_found_next_to_it(tmp_path: Path) -> None:
    above = "agent: above\nextends: base/agent.yaml\n"
    file = agent(tmp_path, above, base__agent_yaml=STYLES, base__codex_md="You are codex.")
    assert prompt(Engine.open(file), Turn(model="gpt-5.2")) == "You are codex."


def test_elements_of_a_template_choose_too(tmp_path: Path) -> None:
    core = "<agent>\n<style>\nUsual.\n</style>\n</agent>\n"
    choose = '[{model: "gpt-5*", text: "Short."}, {text: Long.}]'
    text = f"agent: bakery\ntemplate: core.xml\nsections: [{{id: style, choose: {choose}}}]\n"
    engine = opened(tmp_path, text, core_xml=core)
    assert prompt(engine, Turn(model="gpt-5.2")).splitlines() == [
        "<agent>",
        "<style>",
        "Short.",
        "</style>",
        "</agent>",
    ]
    assert "Long." in prompt(engine, Turn())


@pytest.mark.parametrize(
    ("choose", "code", "line"),
    [
        ("[{text: a}, {model: x, text: b}]", "wrong-value", 4),
        ("[{model: x}]", "wrong-value", 4),
        ("[{model: x, when: mode, text: a}]", "wrong-value", 4),
        ("[]", "wrong-value", 4),
        ("[{model: x, file: no.md}]", "missing-file", 4),
        ("[{when: {equals: {mode: plann}}, text: a}]", "wrong-condition", 4),
        ("[{when: {empty: two}, text: a}]", "wrong-condition", 4),
        ('[{model: x, text: "{{#if}}"}, {text: b}]', "unclosed-block", 4),
        ('[{model: x, text: "{{nobody}}"}, {text: b}]', "undeclared-input", 4),
    ],
)
def test_what_is_wrong_is_reported_where_it_is_written(tmp_path: Path, choose: str, code: str, line: int) -> None:
    text = (
        f"agent: b\ninputs: {{mode: {{values: [plan], default: plan}}}}\nsections:\n  - {{id: one, choose: {choose}}}\n"
    )
    with pytest.raises(SpecError) as told:
        opened(tmp_path, text + '  - {id: two, text: "{{mode}}"}\n')
    assert (code, line) in {(each.code, each.span.line if each.span else 0) for each in told.value.problems}


WAITING = """\
agent: bakery
inputs: {{notes: {{default: ""}}}}
sections:
  - {{id: one, text: "{{{{{{notes}}}}}}"}}
  - {{id: two, when: {when}, text: Nothing is known.}}
  - {{id: three, when: {{tool: never}}, text: Never.}}
  - {{id: four, when: {{empty: three}}, text: Four.}}
"""


@pytest.mark.parametrize(
    ("when", "notes", "expected"),
    [
        ("{empty: one}", "", "Nothing is known.\n\nFour."),
        ("{empty: one}", "x", "x\n\nFour."),
        ("{empty: one}", "  \n ", "Nothing is known.\n\nFour."),
        ("{not: {empty: one}}", "x", "x\n\nNothing is known.\n\nFour."),
        ("{all: [{empty: one}, {empty: three}]}", "", "Nothing is known.\n\nFour."),
    ],
)
def test_a_section_is_there_because_another_is_empty(tmp_path: Path, when: str, notes: str, expected: str) -> None:
    engine = opened(tmp_path, WAITING.format(when=when))
    assert prompt(engine, Turn({"notes": notes})) == expected


def test_the_reason_why_it_is_missing_is_given(tmp_path: Path) -> None:
    engine = opened(tmp_path, WAITING.format(when="{empty: one}"))
    assert cut(step(engine, Turn({"notes": "x"})), "two").reason == "when: one is empty"


@pytest.mark.parametrize(
    ("when", "code"),
    [
        ("{empty: ones}", "unknown-section"),
        ("{empty: two}", "wrong-condition"),
        ("{empty: four}", "wrong-condition"),
    ],
)
def test_sections_that_cannot_be_asked_are_errors(tmp_path: Path, when: str, code: str) -> None:
    with pytest.raises(SpecError) as told:
        opened(tmp_path, WAITING.format(when=when))
    assert [(each.code, each.span.line if each.span else 0) for each in told.value.problems] == [(code, 5)]


def test_a_section_that_changes_from_step_to_step_cannot_be_asked(tmp_path: Path) -> None:
    tools, none = '{id: tools, text: "{{{activeProtocols}}}"}', "{id: none, when: {empty: tools}, text: x}"
    text = f"agent: b\nsections:\n  - {tools}\n  - {none}\n"
    with pytest.raises(SpecError, match="changes with each model request"):
        opened(tmp_path, text)


def test_paragraphs_keep_one_blank_line_of_several(tmp_path: Path) -> None:
    text = 'agent: b\nwhitespace: paragraphs\nsections:\n  - {id: one, text: "a \\n\\n\\n\\nb\\n\\nc\\n"}\n'
    assert prompt(opened(tmp_path, text)) == "a\n\nb\n\nc"


def test_objects_of_the_host_are_laid_over_their_default(tmp_path: Path) -> None:
    text = """\
agent: b
inputs: {user: {type: object, merge: true, default: {name: guest, plan: {paid: false, seats: 1}}}}
sections: [{id: one, text: "{{{json user}}}"}]
"""
    engine = opened(tmp_path, text)
    expected = '{"name": "guest", "plan": {"paid": true, "seats": 1}, "x": 1}'
    assert prompt(engine, Turn({"user": {"plan": {"paid": True}, "x": 1}})) == expected
    assert prompt(engine) == '{"name": "guest", "plan": {"paid": false, "seats": 1}}'


def test_a_clock_follows_a_pattern(tmp_path: Path) -> None:
    text = 'agent: b\nsections: [{id: one, clock: {pattern: "EEEE, d MMM yyyy", zone: Europe/Vienna}}]\n'
    turn = Turn(now=datetime(2026, 11, 22, 23, 30, tzinfo=UTC))
    assert prompt(opened(tmp_path, text), turn) == "Monday, 23 Nov 2026"
    for wrong, told in (("Q", "no field `Q`"), ("HH:mm", "with the time of day"), ("''", "has no date field")):
        with pytest.raises(SpecError, match=told):
            opened(tmp_path, f'agent: b\nsections: [{{id: one, clock: {{pattern: "{wrong}"}}}}]\n')
