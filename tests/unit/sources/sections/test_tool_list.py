"""The source `tools`: which tools a call has, in which form, and why the others are not there."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard import Gates, ToolCard, trusted
from cuecard.config.documents.validation import validate
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.sections.sources_spec import ToolListSpec, VisibilitySpec
from cuecard.sources.content import Content, SourceInput
from cuecard.sources.gates import visible
from cuecard.sources.tools import compile_tool_list
from cuecard.types import Cut, Json

NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)
CARDS = (
    ToolCard("sendMail", "Sends a mail.", category="mail"),
    ToolCard("findNote", "Finds a note.", category="memory"),
    ToolCard("closeRoom", "Closes the room.", category="room"),
    ToolCard("readSkill", "Reads a skill."),
    ToolCard("bare"),
)
RULES = validate(
    read_yaml(
        "meta: [readSkill]\n"
        "harness: {room: [closeRoom]}\n"
        "flags: {memoryEnabled: [memory], mailEnabled: [sendMail]}\n"
        "secrets: {sendMail: [MAIL_KEY, MAIL_HOST], closeRoom: ROOM_KEY}\n"
        "optional_secrets: MAIL_HOST",
        "agent.yaml",
    ),
    VisibilitySpec,
)


def listed(tools: tuple[ToolCard, ...] | None, gates: Gates | None = None, **changes: Json) -> Content:
    source = compile_tool_list(ToolListSpec(**changes), "tools", visibility=RULES, printed=trusted)
    return source(SourceInput({}, NOW, tools=tools, gates=gates or Gates()))


def shown(gates: Gates) -> list[str]:
    return [card.name for card in visible(CARDS, gates, RULES, unlisted=RULES.meta)[0]]


def reason(gates: Gates, name: str) -> str:
    return {cut.what: cut.reason for cut in visible(CARDS, gates, RULES, unlisted=RULES.meta)[1]}[f"tool {name}"]


def test_a_line_for_each_tool() -> None:
    made = listed(CARDS)

    assert made.text == "- **sendMail**: Sends a mail.\n- **findNote**: Finds a note.\n- **bare**: "
    assert made.cuts == (
        Cut("tool closeRoom", "a harness tool of runs with `room`"),
        Cut("tool readSkill", "a meta tool is never listed"),
    )


def test_another_form_sorted_by_name_with_a_word_for_tools_without_description() -> None:
    made = listed(CARDS, item="- `{{name}}`: {{{description}}}", sort="name", missing_description="No description.")

    assert made.text == "- `bare`: No description.\n- `findNote`: Finds a note.\n- `sendMail`: Sends a mail."


def test_no_tools_and_nobody_knows_are_two_things() -> None:
    assert listed(None).text == "No tools available."
    assert listed(()).text == ""
    assert listed((), empty="You have no tools.").text == "You have no tools."


def test_an_empty_set_of_enabled_tools_means_all() -> None:
    assert shown(Gates()) == ["sendMail", "findNote", "bare"]
    assert shown(Gates(enabled=("bare",))) == ["bare"]
    assert reason(Gates(enabled=("bare",)), "sendMail") == "it is not switched on"


def test_a_harness_tool_needs_its_run_and_nothing_else_switches_it_on() -> None:
    assert "closeRoom" in shown(Gates(enabled=("bare",), harness=("room",)))
    assert "closeRoom" not in shown(Gates(enabled=("closeRoom",)))
    assert reason(Gates(harness=("room",), secrets=()), "closeRoom") == "secrets are missing: ROOM_KEY"


def test_an_empty_list_of_harness_tools_stands_for_the_category() -> None:
    rules = VisibilitySpec(harness={"mail": ()})

    assert "sendMail" not in [card.name for card in visible(CARDS, Gates(), rules)[0]]
    assert "sendMail" in [card.name for card in visible(CARDS, Gates(harness=("mail",)), rules)[0]]


def test_a_flag_switches_off_only_when_it_is_exactly_false() -> None:
    assert "findNote" in shown(Gates(flags={}))
    assert "findNote" in shown(Gates(flags={"memoryEnabled": True}))
    assert "findNote" in shown(Gates(flags={"memoryEnabled": 0}))  # type: ignore[dict-item] # what a host may hand in
    assert reason(Gates(flags={"memoryEnabled": False}), "findNote") == "the flag `memoryEnabled` is off"
    assert reason(Gates(flags={"mailEnabled": False}), "sendMail") == "the flag `mailEnabled` is off"


def test_a_missing_secret_keeps_a_tool_out_unless_it_is_optional() -> None:
    assert "sendMail" in shown(Gates(secrets=("MAIL_KEY",)))
    assert reason(Gates(secrets=("MAIL_HOST",)), "sendMail") == "secrets are missing: MAIL_KEY"
    assert "sendMail" in shown(Gates(secrets=None))


def test_blocked_beats_allowed() -> None:
    gates = Gates(allowed=("sendMail", "bare"), blocked=("sendMail",))

    assert shown(gates) == ["bare"]
    assert reason(gates, "sendMail") == "it is blocked"
    assert reason(gates, "findNote") == "it is not an allowed tool"
    assert shown(Gates(allowed=())) == []


def test_the_first_gate_that_is_shut_is_the_reason() -> None:
    gates = Gates(("x",), (), {"mailEnabled": False}, (), (), ("sendMail", "readSkill"))

    assert reason(gates, "sendMail") == "it is not switched on"
    assert reason(gates, "readSkill") == "a meta tool is never listed"


def test_a_description_cannot_look_like_another_tool_unless_lines_are_kept() -> None:
    card = ToolCard("a", "One.\n- **b**: Two.")

    assert listed((card,)).text == "- **a**: One. - **b**: Two."
    assert listed((card,), lines="keep").text == "- **a**: One.\n- **b**: Two."


def test_a_description_is_data_unless_it_is_trusted() -> None:
    source = compile_tool_list(ToolListSpec(missing_description="<none>"), "tools")

    assert source(SourceInput({}, NOW, tools=(ToolCard("a", "<b> {{x}}"), ToolCard("c")))).text == (
        "- **a**: &lt;b> {{x}}\n- **c**: <none>"
    )


SCHEMA = {
    "type": "object",
    "properties": {"to": {"type": "string"}, "n": {"type": ["integer", "null"]}, "how": {"enum": ["now", "later"]}},
    "required": ["to"],
    "additionalProperties": False,
}


def test_examples_follow_the_description() -> None:
    card = ToolCard("sendMail", "Sends a mail.", SCHEMA)
    examples = {"sendMail": {"short": {"to": "kim@example.org"}, "full": {"to": "ä", "n": None, "how": "now"}}, "x": {}}

    assert listed((card, ToolCard("bare", "B")), examples=examples).text == (
        "- **sendMail**: Sends a mail.\n\nInput examples:\n"
        '  short: {"to":"kim@example.org"}\n  full: {"to":"ä","n":null,"how":"now"}\n- **bare**: B'
    )


@pytest.mark.parametrize(
    ("example", "why"),
    [
        ({}, "it lacks `to`"),
        ({"to": "a", "cc": "b"}, "the tool's schema does not know `cc`"),
        ({"to": 1}, "the tool's schema has another kind of value for `to`"),
        ({"to": "a", "n": True}, "the tool's schema has another kind of value for `n`"),
        ({"to": "a", "how": "soon"}, "the tool's schema has another kind of value for `how`"),
        ("a", "it is not an object"),
    ],
)
def test_an_example_that_the_schema_refuses_is_left_out(example: Json, why: str) -> None:
    made = listed((ToolCard("sendMail", "S.", SCHEMA),), examples={"sendMail": {"wrong": example}})

    assert made.text == "- **sendMail**: S."
    assert made.cuts == (Cut("input example `wrong` of sendMail", why),)


NAMES = st.lists(st.sampled_from([card.name for card in CARDS]), max_size=4).map(tuple)
GATES = st.builds(
    Gates,
    NAMES,
    st.sampled_from([(), ("room",)]),
    st.dictionaries(st.sampled_from(["memoryEnabled", "mailEnabled"]), st.booleans()),
    st.sampled_from([None, (), ("MAIL_KEY",), ("ROOM_KEY",)]),
    st.none() | NAMES,
    NAMES,
)


@given(gates=GATES)
def test_every_tool_is_shown_or_cut_in_order_and_once(gates: Gates) -> None:
    cards, cuts = visible(CARDS, gates, RULES, unlisted=RULES.meta)
    names = {card.name for card in cards} | {cut.what.removeprefix("tool ") for cut in cuts}

    assert len(cards) + len(cuts) == len(CARDS) == len(names)
    assert list(cards) == [card for card in CARDS if card in cards]
    assert not {card.name for card in cards} & {*gates.blocked, *RULES.meta}
    assert visible(cards, gates, RULES, unlisted=RULES.meta) == (cards, ())
