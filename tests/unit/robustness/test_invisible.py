"""Rows 50 to 53 of the acceptance table for robustness: what people cannot see, in files and in values."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from cuecard import Engine, Entity, InputError, Memory, Turn
from cuecard.errors import MAX_PROBLEMS, Span
from cuecard.types import Json
from unit.robustness.agents import AGENT, NOW, TEMPLATE, TOOLS, prompt, refusal, where, write_agent

INVISIBLE = {
    "tag character": "\U000e0041",
    "variation selector that carries a byte": "\U000e0101",
    "zero-width space": "\u200b",
    "bidi override": "\u202e",
    "soft hyphen": "\u00ad",
}
HONEST = {
    "flag": "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "family": "👩\u200d👩\u200d👧",
    "Persian": "می\u200cخواهم",
    "Chinese, Japanese": "〈红楼梦〉、葛\U000e0100城",
    "Hebrew": "שָׁלוֹם",
}
CONTROLS = ["\ud800", "\udfff", "\0", "\x1b[2J", "\x07", "\x1f"]


@pytest.mark.parametrize("name", INVISIBLE)
@pytest.mark.parametrize("file", ["agent.xml", "tools/search.yaml", "partials/persona.hbs"])
def test_row_50_an_invisible_character_in_an_authors_file_is_an_error_with_its_place(
    name: str, file: str, tmp_path: Path
) -> None:
    character = INVISIBLE[name]
    texts = {
        "agent.xml": TEMPLATE.replace("You help", f"You{character} help"),
        "tools/search.yaml": TOOLS.replace("AFTER", f"so{character}me"),
        "partials/persona.hbs": f"\nYou{character} are kind.",
    }
    places = {"agent.xml": (3, 4), "tools/search.yaml": (2, 40), "partials/persona.hbs": (2, 4)}
    main = {"agent.xml": TEMPLATE.replace("You help", "{{> persona}} You help")} if "persona" in file else {}
    (problem,) = refusal(tmp_path, {**main, file: texts[file]})

    assert (problem.code, where(problem)) == ("invisible-character", places[file])
    assert f"U+{ord(character):04X}" in problem.message
    assert problem.name.endswith(file)
    assert character not in problem.picture()


@pytest.mark.parametrize("more", [0, 2])
def test_row_50_of_very_many_the_last_that_is_told_counts_the_others(more: int, tmp_path: Path) -> None:
    found = refusal(tmp_path, {"agent.xml": TEMPLATE.replace("You", "\u200b\n" * (MAX_PROBLEMS + more))})

    assert [problem.message for problem in found] == [
        *["an invisible character, U+200B"] * (MAX_PROBLEMS - 1),
        f"an invisible character, U+200B{' (and 2 more below)' if more else ''}",
    ]
    assert {problem.hint for problem in found} == {"delete it: people cannot see it, but models read it"}


ESCAPED = (
    'inputs: {user: {type: object, default: {a: ["A", "n\\u2060n"], b: "\\u00ad\\u202e"}}, other: {default: "\u200b"}}'
)


def test_row_50_an_escape_that_makes_one_is_an_error_too_and_one_that_stands_there_is_told_once(tmp_path: Path) -> None:
    tools = TOOLS.replace("AFTER", '"so\\u200bme"')
    found = refusal(tmp_path, {"agent.yaml": AGENT.replace(DEFAULT, ESCAPED), "tools/search.yaml": tools})

    escape, mended = (
        "an escape sequence produces",
        "remove the escape: people cannot see the character, but models read it",
    )
    assert [(Path(p.name).name, p.span, p.message, p.hint) for p in found if p.code == "invisible-character"] == [
        (
            "agent.yaml",
            Span(3, 102),
            "an invisible character, U+200B",
            "delete it: people cannot see it, but models read it",
        ),
        ("search.yaml", Span(2, 38, 12), f"{escape} an invisible character, U+200B", mended),
        ("agent.yaml", Span(3, 50, 10), f"{escape} an invisible character, U+2060", mended),
        ("agent.yaml", Span(3, 66, 14), f"{escape} an invisible character, U+00AD", mended),
        ("agent.yaml", Span(3, 66, 14), f"{escape} an invisible character, U+202E", mended),
    ]


DEFAULT = "inputs: {user: {type: string, default: Ann}}"


@pytest.mark.parametrize("name", INVISIBLE)
def test_row_51_the_same_in_a_value_is_removed_and_counted(name: str, tmp_path: Path) -> None:
    engine = Engine.open(write_agent(tmp_path))
    text = f"Ka{INVISIBLE[name] * 3}te"
    turn = Turn({"user": text}, Memory((Entity("page", "page-1", text),)), NOW)
    step = engine.prepare_step(engine.prepare_call(turn))

    assert "You help Kate." in step.system
    assert '"Kate" (page-1)' in step.system
    assert INVISIBLE[name] not in step.system
    assert step.manifest.trust["invisible_removed"] == 6


@pytest.mark.parametrize("name", HONEST)
def test_row_52_emoji_and_scripts_that_need_joiners_are_untouched(name: str, tmp_path: Path) -> None:
    text = HONEST[name]
    engine = Engine.open(write_agent(tmp_path, {"agent.xml": TEMPLATE.replace("You", f"{text} you")}))

    assert f"{text} you help {text}." in prompt(engine, text)
    assert engine.prepare_call(Turn({"user": text}, now=NOW)).record.trust["invisible_removed"] == 0


@pytest.mark.parametrize("text", CONTROLS, ids=[f"U+{ord(text[0]):04X}" for text in CONTROLS])
@pytest.mark.parametrize("how", ["as it is", "JSON", "YAML"])
def test_row_53_controls_and_lone_surrogates_are_refused_at_the_boundary_whoever_wrote_the_escape(
    text: str, how: str, tmp_path: Path
) -> None:
    value: Json = f"Ann{text}"
    if how == "JSON":
        value = json.loads(json.dumps(value))
    elif how == "YAML":
        escapes = "".join(f"\\u{ord(character):04x}" for character in value)
        value = YAML(typ="safe", pure=True).load(f'user: "{escapes}"')["user"]
    engine = Engine.open(write_agent(tmp_path))
    memory = Memory((Entity("page", value, value),))

    with pytest.raises(InputError) as caught:
        engine.prepare_call(Turn({"user": value}, memory, NOW))

    assert [(problem.code, problem.name) for problem in caught.value.problems] == [
        ("control-character", "turn.inputs.user"),
        ("control-character", "turn.memory[0].id"),
        ("control-character", "turn.memory[0].name"),
    ]
    assert all(f"U+{ord(text[0]):04X} (character 4)" in problem.message for problem in caught.value.problems)


def test_row_53_tab_and_line_ends_are_text(tmp_path: Path) -> None:
    assert "You help a\tb\nc\nd." in prompt(Engine.open(write_agent(tmp_path)), "a\tb\r\nc\rd")


def test_row_53_what_a_prompt_holds_can_be_stored_anywhere(tmp_path: Path) -> None:
    """PostgreSQL refuses NUL and lone surrogates, SQLite takes both: a prompt that one takes, the other takes."""
    engine = Engine.open(write_agent(tmp_path))
    everything = "".join(map(chr, [9, 10, 13, *range(0x20, 0xD800), *range(0xE000, 0x3000 + 0xE000)]))
    system = prompt(engine, everything, (everything,))

    assert "\0" not in system
    assert system.encode("utf-8").decode("utf-8") == system
    assert json.loads(json.dumps(system)) == system
