"""When a section is there: inputs, equality, tools, and their combinations."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from cuecard import InputError, SpecError, ToolCard, Turn
from cuecard.agent.sections.conditions import ConditionFacts, asks_the_call, holds, inputs_read, told
from cuecard.config.sections.section_spec import ConditionSpec
from cuecard.types import Json
from unit.agent.section_lists.agents import TOOLS, cut, opened, prompt, step

VALUES: dict[str, Json] = {
    "text": "x",
    "empty": "",
    "zero": 0,
    "one": 1,
    "no": False,
    "yes": True,
    "list": [0],
    "nothing": None,
    "user": {"name": "Ann", "plan": {"paid": True}},
}


def condition(written: Json) -> ConditionSpec:
    return ConditionSpec.model_validate({"all": [written]})


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("text", True),
        ("empty", False),
        ("zero", False),
        ("no", False),
        ("list", True),
        ("nothing", False),
        ("user.name", True),
        ("user.plan.paid", True),
        ("user.plan.paid.more", False),
        ("text.length", False),
        ("list.0", False),
        ({"equals": {"one": 1}}, True),
        ({"equals": {"one": True}}, False),
        ({"equals": {"yes": 1}}, False),
        ({"equals": {"zero": False}}, False),
        ({"equals": {"nothing": None}}, True),
        ({"equals": {"user.name": "Ann", "one": 2}}, False),
        ({"equals": {"user.name": "Ann", "text": "x"}}, True),
        ({"equals": {"text": ["y", "x"]}}, True),
        ({"equals": {"text": ["y", "z"]}}, False),
        ({"equals": {"text": []}}, False),
        ({"equals": {"one": [True, 2]}}, False),
        ({"equals": {"nothing": ["x", None]}}, True),
        ({"set": "empty"}, True),
        ({"set": "no"}, True),
        ({"set": "nothing"}, False),
        ({"set": "user.nobody"}, False),
        ({"at_least": {"one": 1}}, True),
        ({"at_least": {"one": 1.5}}, False),
        ({"at_least": {"list": 1, "text": 1}}, True),
        ({"at_least": {"list": 1, "text": 2}}, False),
        ({"at_most": {"zero": 0, "empty": 0}}, True),
        ({"at_most": {"user": 1}}, False),
        ({"at_most": {"nothing": 9}}, False),
        ({"at_least": {"yes": 0}}, False),
        ({"model": "gpt-5*"}, True),
        ({"model": ["claude*", "*-mini"]}, True),
        ({"model": "gpt-5"}, False),
        ({"model": "OpenAI:gpt-5-Mini"}, True),
        ({"tool": "get_page"}, True),
        ({"tool": "put_page"}, False),
        ({"not": "empty"}, True),
        ({"not": {"not": {"not": "empty"}}}, True),
        ({"any": ["empty", {"all": ["text", "yes"]}]}, True),
        ({"any": ["empty", "zero"]}, False),
        ({"all": ["text", {"any": ["zero", "no"]}]}, False),
    ],
)
def test_a_condition_holds_as_it_reads(written: Json, *, expected: bool) -> None:
    facts = ConditionFacts(VALUES, {"get_page"}, "openai:GPT-5-mini")

    assert holds(condition(written), facts) is expected
    assert holds(ConditionSpec.model_validate({"not": written}), facts) is not expected


def test_a_condition_knows_what_it_reads_and_can_say_itself() -> None:
    spec = condition({"any": ["user.name", {"not": {"equals": {"one": 2, "text": "y"}}}, {"all": [{"tool": "get"}]}]})

    assert list(inputs_read(spec)) == ["user", "one", "text"]
    assert asks_the_call(spec)
    assert asks_the_call(condition({"not": {"model": "gpt*"}}))
    assert not asks_the_call(condition({"not": "text"}))
    assert told(spec) == "((user.name or not one = 2 and text = 'y' or (tool get)))"


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ({"set": "a"}, "a is set"),
        ({"equals": {"a": ["x", "y"]}}, "a = ['x', 'y']"),
        ({"at_least": {"a": 2, "b": 1.5}}, "a >= 2.0 and b >= 1.5"),
        ({"at_most": {"a": 2}}, "a <= 2.0"),
        ({"model": ["gpt*", "*-mini"]}, "model gpt* or *-mini"),
    ],
)
def test_every_condition_can_say_itself(written: Json, words: str) -> None:
    assert told(ConditionSpec.model_validate({"not": written})) == f"not {words}"


@pytest.mark.parametrize(
    "written",
    [
        {},
        {"model": []},
        {"at_least": {}},
        {"at_least": {"a": "3"}},
        {"set": None},
        {"input": None},
        {"input": "a", "tool": "b"},
        {"all": []},
        {"any": []},
        {"equals": {}},
        {"all": None},
        {"not": None},
        {"not": []},
        {"all": "text"},
        {"equls": {"a": 1}},
        3,
    ],
)
def test_a_condition_that_says_nothing_is_refused(written: Json) -> None:
    with pytest.raises(ValidationError):
        ConditionSpec.model_validate({"not": written})


def test_a_section_without_its_condition_leaves_no_trace_but_the_reason(tmp_path: Path) -> None:
    engine = opened(
        tmp_path,
        """\
agent: a
layout: {heading: "## {{title}}\\n"}
inputs: {channel: {default: ""}, mode: {default: x}}
sections:
  - {id: a, title: A, text: a}
  - {id: b, title: B, text: b, when: {all: [channel, {not: {equals: {mode: quiet}}}]}}
  - {id: c, title: C, text: c}
""",
    )

    assert prompt(engine) == "## A\na\n\n## C\nc"
    assert cut(step(engine), "b").reason == "when: (channel and not mode = 'quiet')"
    assert prompt(engine, channel="mail") == "## A\na\n\n## B\nb\n\n## C\nc"
    assert prompt(engine, channel="mail", mode="quiet") == "## A\na\n\n## C\nc"


def test_a_tool_exists_by_the_turn_and_by_its_server(tmp_path: Path) -> None:
    engine = opened(
        tmp_path,
        """\
agent: a
tools: {instructions: tools.yaml, core: [tool_search]}
sections:
  - {id: a, text: "{{{activeProtocols}}}"}
  - {id: b, text: Pages., when: {tool: get_page}}
  - {id: c, text: Maps., when: {tool: map}}
""",
        tools_yaml=TOOLS,
    )

    assert "Pages." in prompt(engine)
    assert "Pages." not in step(engine, Turn(tools=("tool_search",))).system
    assert "Maps." not in prompt(engine)
    assert "Maps." in prompt(engine.with_tools([ToolCard("map", "Draws a map")]))


INPUTS = """\
agent: a
inputs:
  mode: {default: plan, values: [plan, act]}
  count: {type: integer, default: 0}
  on: {type: boolean, default: false}
  items: {type: list, default: []}
sections: [{id: a, text: "{{mode}}{{count}}{{on}}{{items}}", when: WHEN}]
"""


@pytest.mark.parametrize(
    ("when", "message", "hint"),
    [
        ("{equals: {mode: [plan, yolo]}}", "`mode` can never be 'yolo'", "known here: `act`, `plan`"),
        ("{equals: {mode: []}}", "`mode` can never be one of no values", "list the values"),
        ('{not: {tool: ""}}', "no tool has an empty name", "write a tool's name"),
        ('{model: [gpt-5, ""]}', "no model has an empty name", "write a model's name"),
        ("{equals: {mode: acct}}", "`mode` can never be 'acct'", "did you mean `act`?"),
        ("{equals: {mode: true}}", "`mode` is of type string and can never be True", 'write "true"'),
        (
            '{not: {equals: {count: "3"}}}',
            "`count` is of type integer and can never be '3'",
            "write a value of type integer",
        ),
        (
            "{any: [on, {equals: {on: 1}}]}",
            "`on` is of type boolean and can never be 1",
            "write a value of type boolean",
        ),
        ("{equals: {items: [a, b]}}", "`items` is of type list and can never be 'a'", "test its length"),
        ("{at_least: {on: 1}}", "`on` is true or false and has no size", "write `input: on`"),
        ("mode.length", "`mode.length` cannot exist: `mode` is of type string", "declare it with `type: object`"),
    ],
)
def test_a_condition_that_can_never_hold_is_an_error_at_its_place(
    tmp_path: Path, when: str, message: str, hint: str
) -> None:
    with pytest.raises(SpecError) as caught:
        opened(tmp_path, INPUTS.replace("WHEN", when))

    problem = caught.value.problems[0]
    assert (problem.code, problem.message) == ("wrong-condition", message)
    assert hint in problem.hint
    assert problem.span is not None
    assert problem.span.line == 7


@pytest.mark.parametrize(
    "when", ["{equals: {mode: [plan, act]}}", "{equals: {count: 3}}", "{at_most: {items: 2, mode: 9}}", "{set: mode}"]
)
def test_a_condition_that_may_hold_is_fine(tmp_path: Path, when: str) -> None:
    opened(tmp_path, INPUTS.replace("WHEN", when))


def test_an_input_with_values_has_one_of_them(tmp_path: Path) -> None:
    engine = opened(tmp_path, INPUTS.replace("WHEN", "mode"))

    with pytest.raises(InputError, match="`mode` can never be `atc`") as caught:
        engine.prepare_call(Turn({"mode": "atc"}))
    assert caught.value.problems[0].hint == "did you mean `act`?"
    assert prompt(engine, mode="act")


@pytest.mark.parametrize(
    ("values", "code"), [("[plan, 3]", "wrong-value"), ("[act]", "wrong-default"), ("[]", "wrong-value")]
)
def test_values_of_an_input_are_of_its_type_and_hold_its_default(tmp_path: Path, values: str, code: str) -> None:
    with pytest.raises(SpecError) as caught:
        opened(tmp_path, INPUTS.replace("WHEN", "mode").replace("[plan, act]", values))

    assert code in {problem.code for problem in caught.value.problems}


def test_a_section_that_asks_for_the_model_is_of_the_call(tmp_path: Path) -> None:
    engine = opened(tmp_path, "agent: a\nsections: [{id: a, text: a}, {id: b, text: b, when: {model: gpt-5*}}]\n")

    assert step(engine, Turn(model="openai:gpt-5-mini")).system == "a\n\nb"
    other = step(engine, Turn(model="claude-opus-4-8"))
    assert other.system == "a"
    assert cut(other, "b").reason == "when: model gpt-5*"
    assert [segment.tier for segment in step(engine, Turn(model="gpt-5")).segments] == ["static", "call"]


@pytest.mark.parametrize("key", ["when: {not: activeProtocols}", "rows: {input: activeProtocols}"])
def test_no_condition_and_no_source_can_wait_for_what_is_discovered_later(tmp_path: Path, key: str) -> None:
    with pytest.raises(SpecError, match="only a section's text can read `activeProtocols`"):
        opened(
            tmp_path,
            "agent: a\ntools: {instructions: tools.yaml, core: [tool_search]}\n"
            f"sections: [{{id: a, text: '{{{{{{activeProtocols}}}}}}', {key}}}]\n",
            tools_yaml=TOOLS,
        )
