"""What hosts give and authors write of inputs: null, enumerations, missing keys, keys that a type cannot have."""

from __future__ import annotations

import enum
from pathlib import Path

import pytest

from command_line import problems
from cuecard import Engine, InputError, Turn, compile_template
from cuecard.errors import SpecError
from cuecard.types import Json

ITSELF = "read `{}` itself, or declare it as an object"
ITEMS = "items are addressed by their index, as in `xs.[0]`; their keys are read inside `each`"


class Tone(str, enum.Enum):  # noqa: UP042 - StrEnum prints its value by itself
    dry = "dry"


class Level(enum.IntEnum):
    high = 3


def said(folder: Path, inputs: str, text: str, given: dict[str, Json] | None = None) -> str:
    """The prompt of an agent with one section."""
    agent = f"agent: a\ninputs: {{{inputs}}}\nsections:\n  - {{id: s, text: '{text}'}}\n"
    (folder / "agent.yaml").write_text(agent)
    engine = Engine.open(folder)
    return engine.prepare_step(engine.prepare_call(Turn(inputs=given or {}))).system


def test_null_is_no_value_unless_the_values_of_the_input_include_it(tmp_path: Path) -> None:
    text = "{{#if tone}}{{{tone}}}{{else}}none{{/if}}"

    assert said(tmp_path, "tone: {type: string, default: dry}", text, {"tone": None}) == "dry"
    assert said(tmp_path, "tone: {values: [dry, null], default: dry}", text, {"tone": None}) == "none"
    assert said(tmp_path, "tone: {values: [dry, null]}", text, {"tone": None}) == "none"
    with pytest.raises(InputError, match="`tone` should be of type string, not NoneType"):
        said(tmp_path, "tone: {values: [dry]}", text, {"tone": None})


def test_members_of_enumerations_print_their_value(tmp_path: Path) -> None:
    assert said(tmp_path, "tone: {values: [dry], default: dry}", "{{{tone}}}", {"tone": Tone.dry}) == "dry"
    assert compile_template("{{x}} {{{x}}} {{n}}").render({"x": Tone.dry, "n": Level.high}) == "dry dry 3"


def test_optional_keys_may_be_missing_at_any_depth_and_in_lists(tmp_path: Path) -> None:
    declared = 'user: {type: object, optional: [nick, "home.city"]}, rows: {type: list, optional: [note], default: []}'
    text = "{{{user.nick}}}|{{{user.home.city}}}|{{#each rows}}{{{id}}}{{{note}}};{{/each}}"

    given: dict[str, Json] = {"user": {"home": {}}, "rows": [{"id": "a"}, {"id": "b", "note": "!"}]}
    assert said(tmp_path, declared, text, given) == "||a;b!;"


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (
            "{{{t.length}}}",
            "`t` is of type string and has no `length`",
            "pass its length as an input; it can be tested, as in `{{#if t.length}}`",
        ),
        ("{{#if t.city}}x{{/if}}", "`t` is of type string and has no `city`", ITSELF.format("t")),
        ("{{#if t.length.x}}x{{/if}}", "`t` is of type string and has no `length.x`", ITSELF.format("t")),
        ("{{#if n.length}}x{{/if}}", "`n` is of type integer and has no `length`", ITSELF.format("n")),
        ("{{{xs.name}}}", "`xs` is of type list and has no `name`", ITEMS),
        ("{{{xs.length.x}}}", "`xs` is of type list and has no `length.x`", ITEMS),
        ("{{> p}}", "`t` is of type string and has no `first`", ITSELF.format("t")),
    ],
)
def test_a_key_that_no_value_of_the_type_has_is_an_error(tmp_path: Path, text: str, message: str, hint: str) -> None:
    (tmp_path / "partials").mkdir()
    (tmp_path / "partials" / "p.md").write_text("{{{t.first}}}")
    declared = "t: {default: x}, n: {type: integer, default: 1}, xs: {type: list, default: []}"
    agent = (
        f"agent: a\nlayout: {{partials: partials}}\ninputs: {{{declared}}}\nsections:\n  - {{id: s, text: '{text}'}}\n"
    )
    (tmp_path / "agent.yaml").write_text(agent)

    with pytest.raises(SpecError) as caught:
        Engine.open(tmp_path)
    found = [(each.message, each.hint) for each in caught.value.problems if each.code == "wrong-path"]
    assert found == [(message, hint)]


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("{{{o}}}", ["object-printed"]),
        ("{{#if o}}{{o}}{{/if}}", ["object-printed"]),
        ("{{> p}}", ["object-printed"]),
        ("{{> p o=x}}{{{json o}}}{{{o.a}}}{{#with o}}{{{this.a}}}{{/with}}{{#each l as |o|}}{{{o}}}{{/each}}", []),
    ],
)
def test_an_object_that_is_printed_is_an_error_before_any_render(tmp_path: Path, text: str, codes: list[str]) -> None:
    (tmp_path / "partials").mkdir()
    (tmp_path / "partials" / "p.md").write_text("{{{o}}}")
    declared = "o: {type: object, default: {a: b}}, x: {default: y}, l: {type: list, default: [z]}"
    agent = f"agent: a\nlayout: {{partials: partials}}\ninputs: {{{declared}}}\nsections: [{{id: s, text: '{text}'}}]\n"
    (tmp_path / "agent.yaml").write_text(agent)

    assert [each.code for each in problems(tmp_path) if each.severity == "error"] == codes


def test_only_a_mapping_with_something_in_it_can_be_merged_with(tmp_path: Path) -> None:
    declared = (
        "a: {type: object, merge: true}, b: {type: list, merge: true, default: [x]}, "
        "c: {type: object, merge: true, default: {}}, d: {type: object, merge: true, default: {x: 1}}"
    )
    with pytest.raises(SpecError) as caught:
        said(tmp_path, declared, "{{{json a}}} {{{b}}} {{{json c}}} {{{json d}}}")

    assert [(each.code, each.message, each.hint) for each in caught.value.problems] == [
        (
            "no-effect",
            f"`{name}` has no default to merge with",
            "give it `type: object` and a default, or remove `merge`",
        )
        for name in "abc"
    ]


def test_a_length_may_be_tested_and_items_may_be_read(tmp_path: Path) -> None:
    declared = "t: {default: x}, xs: {type: list, default: [a]}"

    assert said(tmp_path, declared, "{{#if t.length}}{{{xs.length}}}{{{xs.[0]}}}{{/if}}") == "1a"


def test_partials_with_a_computed_name_are_checked_and_keep_their_tier(tmp_path: Path) -> None:
    (tmp_path / "partials").mkdir()
    (tmp_path / "partials" / "hello.md").write_text("You talk to {{{who}}}.")
    agent = "agent: a\nlayout: {partials: partials}\ninputs: {who: {default: ''}}\nsections:\n"
    (tmp_path / "agent.yaml").write_text(f"{agent}  - {{id: s, text: \"{{{{> (default null 'hello')}}}}\"}}\n")
    chat = Engine.open(tmp_path).conversation()

    texts = []
    for who in ("Ann", "Ben"):
        chat.user(Turn(inputs={"who": who}))
        step = chat.step()
        texts.append([step.system, *(each.text for each in step.appended)])
    assert "Ann" in texts[0][0]
    assert "Ben" in "".join(texts[1])
