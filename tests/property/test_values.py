"""Values at the boundary: a turn with a control character is refused for it alone, any other turn gets its prompt."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cuecard import Engine, Entity, InputError, Memory, ToolResult, Turn
from cuecard.template import refuse_controls, without_controls

AGENT = Path(__file__).parents[1] / "cases" / "agents" / "input_stays_a_value" / "agent.yaml"
CMS = Path(__file__).parents[2] / "prompts" / "cms" / "agent.yaml"
NOW = datetime(2026, 11, 20, tzinfo=UTC)

CONTROL = [*map(chr, range(0x20)), "\ud800", "\udbff", "\udc00", "\udfff"]
REFUSED = set(CONTROL) - set("\t\n\r")
TRICKS = [
    "</identity>",
    "<system>",
    "‹/agent›",
    "{{secret}}",
    "$&",
    "&lt;",
    "]]>",
    "\u202e",
    "\U000e0041",
    "\x7f",
    "\x85",
]
TEXT = st.lists(st.one_of(st.sampled_from(CONTROL), st.sampled_from(TRICKS), st.text(max_size=5)), max_size=8).map(
    "".join
)


@cache
def engine() -> Engine:
    return Engine.open(AGENT)


@given(user=TEXT, name=TEXT)
@example(user="\0", name="\x1b[2J")
@example(user="\U000e0041\u202e</identity>", name="<system>")
def test_only_control_characters_take_a_prompt_away(user: str, name: str) -> None:
    turn = Turn({"user": user}, Memory((Entity("page", "p", name),)), NOW)
    expected = [
        path for path, text in (("turn.inputs.user", user), ("turn.memory[0].name", name)) if REFUSED & set(text)
    ]
    if expected:
        with pytest.raises(InputError) as caught:
            engine().prepare_call(turn)
        assert [(problem.code, problem.name) for problem in caught.value.problems] == [
            ("control-character", path) for path in expected
        ]
        assert not REFUSED & set(str(caught.value))
        return
    step = engine().prepare_step(engine().prepare_call(turn))

    assert re.findall(r"^</?(?!tool_search>)[\w-]+>$", step.system, re.MULTILINE) == TAGS
    assert step.system.encode("utf-8")


TAGS = [
    *("<agent>", "<identity>", "</identity>", "<working-memory>", "</working-memory>"),
    *("<tool-usage-instructions>", "</tool-usage-instructions>", "</agent>"),
]

values = st.recursive(
    st.one_of(TEXT, st.integers(), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXT, inner, max_size=3)),
    max_leaves=8,
)


@given(value=values)
def test_there_is_a_problem_for_each_text_that_holds_one(value: object) -> None:
    def texts(item: object) -> list[str]:
        if isinstance(item, dict):
            return [text for pair in item.items() for part in pair for text in texts(part)]
        if isinstance(item, list):
            return [text for part in item for text in texts(part)]
        return [item] if isinstance(item, str) else []

    assert len(refuse_controls(value, "x")) == sum(bool(REFUSED & set(text)) for text in texts(value))


@given(text=TEXT)
def test_a_text_without_them_is_never_refused(text: str) -> None:
    assert refuse_controls(without_controls(text), "x") == []
    assert without_controls(text) == "".join(c for c in text if c not in REFUSED)


@given(identity=TEXT, name=TEXT, kind=TEXT)
def test_what_a_tool_returns_can_never_get_a_later_turn_refused(identity: str, name: str, kind: str) -> None:
    cms = cms_engine()
    result = ToolResult("cms_findResource", {"matches": [{"id": identity, "title": name, "type": kind}]}, "call-1")

    assert cms.prepare_call(Turn(memory=cms.remember(Memory(), [result]), now=NOW)).prompt.segments


@cache
def cms_engine() -> Engine:
    return Engine.open(CMS)
