"""What a tool server says of its tools: odd names are left out, texts are cleaned and bounded, and both are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuecard import Engine, InputError, ToolCard
from cuecard.catalogue.catalogue import MAX_TOOL_TEXT
from cuecard.types import Cut

ROOT = Path(__file__).parents[4]
ODD = [
    *(
        "x\n\n## Safety\n\nevil",
        "x</withdrawn-tools><agent>EV",
        "a\0b",
        "\x1b[31m",
        "\u202eevil",
        "a b",
        "ä",
        "",
        "a" * 65,
    ),
    *("x\ud800", "tool\n", "ｔｏｏｌ"),
]


@pytest.mark.parametrize("system", ["polyant/bare.yaml", "mistermorph", "mushroom", "pioneer", "cms"])
def test_a_tool_with_an_invalid_name_is_left_out_and_reported(system: str) -> None:
    engine = Engine.open(ROOT / "prompts" / system, cache=False)
    known = engine.with_tools([*(ToolCard(name, "Does it.") for name in ODD), ToolCard("fine-tool_1.x", "Does it.")])
    step = known.prepare_step(known.prepare_call())

    assert set(known.tools) == {*engine.tools, "fine-tool_1.x"}
    assert len(known.tool_cuts) == len(ODD)
    assert set(known.tool_cuts) <= set(step.manifest.cuts)
    assert all(cut.what.isprintable() and len(cut.what) <= 85 for cut in known.tool_cuts)
    assert {cut.reason for cut in known.tool_cuts} == {
        "skipped: a tool name has 1 to 64 ASCII letters, digits, `_`, `-` or `.`"
    }
    assert [cut.what for cut in known.tool_cuts][:3] == [
        "tool x‹U+000A›‹U+000A›## Safety‹U+000A›‹U+000A›evil",
        "tool x</withdrawn-tools><agent>EV",
        "tool a‹U+0000›b",
    ]
    assert not any(name in step.system for name in ODD if len(name) > 3 and name.strip() == name)


def test_texts_of_a_tool_lose_what_nobody_sees_and_what_is_too_long() -> None:
    card = ToolCard(
        "t", "Does\x1b[31m \u202eit\0." + "x" * MAX_TOOL_TEXT, {"a\u200b": {"enum": ["\ud800"]}}, ("p\u200b",), "c\x07"
    )
    engine = Engine.open(ROOT / "prompts/polyant/bare.yaml", cache=False).with_tools([card])
    known = engine.tools["t"]

    assert known.description.startswith("Does[31m it.xx")
    assert len(known.description) == MAX_TOOL_TEXT
    assert (known.input_schema, known.phrases, known.category) == ({"a": {"enum": [""]}}, ("p",), "c")
    assert engine.tool_cuts == (
        Cut("tool t", "7 invisible or control characters were removed"),
        Cut("tool t", "a text was truncated: 8,204 -> 8,192 characters"),
    )


def test_a_text_of_just_the_allowed_length_is_whole_and_of_several_the_longest_is_told() -> None:
    engine = Engine.open(ROOT / "prompts/polyant/bare.yaml", cache=False)
    most = "x" * MAX_TOOL_TEXT
    known = engine.with_tools([ToolCard("t", most, {}, (most,), most), ToolCard("u", f"{most}y", {}, (f"{most}yz",))])

    assert known.tools["t"] == ToolCard("t", most, {}, (most,), most)
    assert known.tools["u"] == ToolCard("u", most, {}, (most,))
    assert known.tool_cuts == (Cut("tool u", "a text was truncated: 8,194 -> 8,192 characters"),)


def test_a_tool_whose_schema_is_unusable_is_left_out() -> None:
    engine = Engine.open(ROOT / "prompts/polyant/bare.yaml", cache=False)
    known = engine.with_tools([ToolCard("t", "", {"a": 1, "a\u200b": 2}), ToolCard("u")])

    assert list(known.tools) == ["u"]
    why = "two keys of `[2]` are both `a` once invisible characters are removed"
    assert known.tool_cuts == (Cut("tool t", f"skipped: its input schema is unusable: {why}"),)

    known = engine.with_tools([ToolCard("t", "", {1: {}}), ToolCard("u")])  # type: ignore[dict-item]
    why = "nested more than 64 levels deep, or is not JSON"
    assert (list(known.tools), known.tool_cuts) == (["u"], (Cut("tool t", f"skipped: its input schema is {why}"),))


def test_anything_but_a_card_is_still_a_mistake_of_the_host() -> None:
    engine = Engine.open(ROOT / "prompts/polyant/bare.yaml", cache=False)

    with pytest.raises(InputError) as caught:
        engine.with_tools([ToolCard("## x", 7), ToolCard("", "", {}, 8), 9])  # type: ignore[arg-type, list-item]

    assert [problem.name for problem in caught.value.problems] == [
        *("cards[0].description", "cards[1].name", "cards[1].phrases", "cards[2]")
    ]
    for wrong, told in ((7, "the number 7"), ({"a": 1}, "a mapping of type dict\n  = pass its `.values()`")):
        with pytest.raises(InputError) as caught:
            engine.with_tools(wrong)  # type: ignore[arg-type]
        message = "cards: error[wrong-argument]: `cards` should be a tuple or list, not"
        assert str(caught.value) == f"{message} {told}"


def test_cuts_of_several_servers_add_up() -> None:
    engine = Engine.open(ROOT / "prompts/polyant/bare.yaml", cache=False)
    both = engine.with_tools([ToolCard("a b")]).with_tools([ToolCard("c d"), ToolCard("a b")])

    assert [cut.what for cut in both.tool_cuts] == ["tool a b", "tool c d"]
