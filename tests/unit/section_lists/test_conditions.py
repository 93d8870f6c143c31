"""When a section is there: inputs, equality, tools, and their combinations."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from cuecard import SpecError, ToolCard, Turn
from cuecard.agent.sections.conditions import asks_for_tools, holds, inputs_read, told
from cuecard.config.sections.condition import ConditionSpec
from cuecard.model import Json
from unit.section_lists.agents import TOOLS, cut, opened, prompt, step

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
    assert holds(condition(written), VALUES, {"get_page"}) is expected
    assert holds(ConditionSpec.model_validate({"not": written}), VALUES, {"get_page"}) is not expected


def test_a_condition_knows_what_it_reads_and_can_say_itself() -> None:
    spec = condition({"any": ["user.name", {"not": {"equals": {"one": 2, "text": "y"}}}, {"all": [{"tool": "get"}]}]})

    assert list(inputs_read(spec)) == ["user", "one", "text"]
    assert asks_for_tools(spec)
    assert not asks_for_tools(condition({"not": "text"}))
    assert told(spec) == "((user.name or not one = 2 and text = 'y' or (tool get)))"


@pytest.mark.parametrize(
    "written",
    [
        {},
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


def test_an_undeclared_name_in_a_condition_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="`chanel` is not an input"):
        opened(
            tmp_path,
            "agent: a\ninputs: {channel: {default: ''}}\n"
            "sections: [{id: a, text: '{{{channel}}}', when: {any: [{not: chanel.name}]}}]\n",
        )


@pytest.mark.parametrize(
    "key", ["when: activeProtocols", "when: {not: activeProtocols}", "rows: {input: activeProtocols}"]
)
def test_no_condition_and_no_source_can_wait_for_what_is_discovered_later(tmp_path: Path, key: str) -> None:
    with pytest.raises(SpecError, match="only a section's text can read `activeProtocols`"):
        opened(
            tmp_path,
            "agent: a\ntools: {instructions: tools.yaml, core: [tool_search]}\n"
            f"sections: [{{id: a, text: '{{{{{{activeProtocols}}}}}}', {key}}}]\n",
            tools_yaml=TOOLS,
        )
