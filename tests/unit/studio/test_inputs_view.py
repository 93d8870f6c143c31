"""The Inputs screen says how many values differ, what is wrong with which in the engine's words, and what they do."""

from pathlib import Path
from typing import Any

import pytest

from cuecard import Engine, InputError, Turn
from cuecard.studio.inputs_view import InputField, InputsView, inputs_view
from cuecard.studio.turns import TurnRecord, open_turn

MORPH = Path("prompts/mistermorph")


@pytest.fixture(scope="module")
def morph() -> Engine:
    return Engine.open(MORPH)


def fields(view: InputsView) -> dict[str, InputField]:
    return {each.name: each for group in view.groups for each in (*group.fields, *group.folded)}


def agent_with(tmp_path: Path, inputs: str, text: str = "{{name}}") -> Engine:
    (tmp_path / "agent.yaml").write_text(
        f"agent: t\ninputs:\n{inputs}\nsections:\n  - id: one\n    text: |\n      {text}\n"
    )
    return Engine.open(tmp_path)


def test_a_turn_file_is_shown_with_what_differs_and_what_it_does_to_the_prompt(morph: Engine) -> None:
    record, _ = open_turn(MORPH, "memory-private.yaml")
    view = inputs_view(morph, record)
    assert view.say.startswith("3 of 10 inputs differ from their defaults. The prompt has ")
    assert view.say.endswith("in 6 sections; 10 sections, 2 files and 3 skills are left out.")
    assert {name for name, each in fields(view).items() if each.differs} == {
        "channel",
        "memory_long_term",
        "memory_recent",
    }
    assert view.beside
    assert {each.id for each in view.beside.parts if each.by_values} == {"telegram", "memory_long_term"}
    assert any("Jana is allergic to nuts" in each.text for each in view.beside.parts)
    assert view.tools == ("read_file", "write_file", "url_fetch", "web_search")
    assert view.known == len(morph.tools)
    assert view.good
    assert not view.reads_memory


def test_the_figures_are_those_of_the_engine(morph: Engine) -> None:
    record, _ = open_turn(MORPH, "memory-private.yaml")
    view = inputs_view(morph, record)
    assert view.beside
    assert view.beside.tokens == sum(each.tokens for each in view.beside.parts)


def test_fields_are_grouped_by_lifetime_and_folded_at_their_defaults(morph: Engine) -> None:
    groups = {each.lives: each for each in inputs_view(morph, TurnRecord()).groups}
    assert [each.name for each in groups["turn"].fields] == ["channel"]
    assert [each.name for each in groups["conversation"].folded] == ["skills_enabled", "rules"]
    rules = TurnRecord({"inputs": {"rules": ["Be brief."]}})
    assert "rules" in [each.name for each in inputs_view(morph, rules).groups[1].fields]


def test_a_field_says_what_its_author_says_and_who_reads_it(morph: Engine) -> None:
    view = fields(inputs_view(morph, TurnRecord()))
    assert view["rules"].author
    assert not view["channel"].author
    assert view["channel"].about.startswith("telegram, slack, line or lark")
    assert "telegram" in view["channel"].read_by
    assert view["rules"].read_by == ("additional_rules",)


@pytest.mark.parametrize(("name", "value"), [("channel", 5), ("is_group", "x"), ("rules", "one"), ("skills", {"a": 1})])
def test_an_error_stands_at_its_field_in_the_words_of_the_engine(morph: Engine, name: str, value: Any) -> None:
    with pytest.raises(InputError) as raised:
        morph.prepare_call(Turn(inputs={name: value}))
    view = inputs_view(morph, TurnRecord({"inputs": {name: value}}))
    told = fields(view)[name].errors[0]
    assert (told.message, told.hint) == (raised.value.problems[0].message, raised.value.problems[0].hint)
    assert "1 value is wrong or missing; without it, the prompt has" in view.say
    assert view.beside
    assert view.beside.without == (name,)
    assert not view.good


def test_everything_that_is_wrong_is_said_at_once_and_the_prompt_is_made_of_the_rest(morph: Engine) -> None:
    turn = {"now": "yesterday", "memory": "x", "odd": 1, "inputs": {"zoo": 3, "channel": "slack"}}
    view = inputs_view(morph, TurnRecord(turn))
    assert "ISO 8601" in view.now.errors[0].message
    assert view.now.errors[0].button == "Remove now"
    assert "should be a list" in view.memory.errors[0].message
    assert view.entities is None
    assert [each.name for each in view.strangers] == ["zoo"]
    assert view.strangers[0].errors[0].action == "default zoo"
    assert view.beside
    assert "slack" in {each.id for each in view.beside.parts}


def test_a_list_that_cannot_be_read_says_where(morph: Engine) -> None:
    view = inputs_view(morph, TurnRecord({"inputs": {"rules": "- one\n- {a: 1"}}))
    assert "should be of type list" in fields(view)["rules"].errors[0].message
    assert "cannot be read in line 2" in fields(view)["rules"].errors[1].message


@pytest.mark.parametrize(
    ("kind", "text", "told"),
    [
        ("number", "3,5", "`3,5` is no number: write digits, and a point before decimals, such as `3.5`"),
        ("integer", "2.5", "`2.5` is no whole number: write digits alone, such as `12`"),
    ],
)
def test_a_text_in_the_place_of_a_number_says_how_one_is_written(
    tmp_path: Path, kind: str, text: str, told: str
) -> None:
    engine = agent_with(tmp_path, f"  name: {{type: {kind}, default: 1}}")
    (error,) = fields(inputs_view(engine, TurnRecord({"inputs": {"name": text}})))["name"].errors
    assert f"{error.message}: {error.hint}" == told


def test_an_input_without_a_default_asks_for_a_value_and_offers_an_empty_one(tmp_path: Path) -> None:
    engine = agent_with(tmp_path, "  name: {description: whom to greet}")
    view = inputs_view(engine, TurnRecord())
    told = fields(view)["name"].errors[0]
    assert told.message == "`name` has no value and no default"
    assert told.action == "empty name"
    assert view.say.startswith("0 of 1 inputs differ from their defaults, and 0 of 1 without a default have a value.")
    assert view.say.endswith("1 value is wrong or missing, so there is no prompt.")
    assert view.beside is None
    assert inputs_view(engine, TurnRecord({"inputs": {"name": "Jana"}})).good


def test_a_value_laid_over_its_default_differs_only_where_it_changes_something(tmp_path: Path) -> None:
    engine = agent_with(tmp_path, "  name: {type: object, merge: true, default: {a: 1, b: 2}}", "{{name.a}}")
    same = fields(inputs_view(engine, TurnRecord({"inputs": {"name": {"b": 2}}})))["name"]
    other = fields(inputs_view(engine, TurnRecord({"inputs": {"name": {"b": 3}}})))["name"]
    assert (same.differs, other.differs) == (False, True)
    assert '"a": 1' in other.below


def test_a_value_that_is_not_allowed_is_shown_among_those_that_are(tmp_path: Path) -> None:
    engine = agent_with(tmp_path, "  name: {values: [red, green], default: red}")
    field = fields(inputs_view(engine, TurnRecord({"inputs": {"name": "gren"}})))["name"]
    assert field.options == ("gren", "red", "green")
    assert "did you mean `green`?" in field.errors[0].hint


def test_values_are_json_and_never_an_object_of_some_language(morph: Engine) -> None:
    shown = fields(inputs_view(morph, TurnRecord({"inputs": {"channel": {"a": [None, True, 1.5]}}})))["channel"]
    assert shown.text == '{\n  "a": [null, true, 1.5]\n}'
