"""The form of a turn: what a person did not touch stays what it was, and what they write means what they see."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard.config.agent_file import InputSpec
from cuecard.config.documents.yaml_edits import same
from cuecard.config.values import InputType, is_of_type
from cuecard.studio.inputs_form import acted, field_of, filled_in, read_as, shown_as
from cuecard.studio.turns import TurnRecord

TEXTS = st.text(max_size=12) | st.sampled_from(
    ["a\nb", "- x", "\n", "[", "1", "true", "null", "a\r\nb", "\0", "\ud800", " "]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=6
)
KINDS = st.sampled_from(["string", "integer", "number", "boolean", "list", "object"])


def as_browsers_send(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\n", "\r\n")


def spec_of(kind: InputType, **more: Any) -> InputSpec:
    return InputSpec.model_validate({"type": kind, **more})


@given(kind=KINDS, value=VALUES, required=st.booleans())
def test_a_form_that_is_sent_back_untouched_changes_nothing(kind: InputType, value: Any, *, required: bool) -> None:
    spec = spec_of(kind) if required else spec_of(kind, default=None)
    record = TurnRecord({"inputs": {"x": value}, "message": value, "memory": value, "now": value, "history": value})
    form = {"i.x": as_browsers_send(field_of(spec, record.turn["inputs"], "x").text)}
    made = filled_in(record, {"x": spec}, form)
    assert same(dict(made.turn), dict(record.turn))


@given(KINDS, VALUES)
def test_a_value_of_its_type_is_read_as_it_was_shown(kind: InputType, value: Any) -> None:
    if is_of_type(value, kind):
        read = read_as(shown_as(value, kind), kind)
        assert same(read, value) or (kind == "list" and any(not str(each).strip() for each in value))


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("string", "5", "5"),
        ("string", " a\r\nb ", " a\nb "),
        ("integer", "5", 5),
        ("integer", "5.5", "5.5"),
        ("integer", "five", "five"),
        ("number", "1e3", 1000.0),
        ("number", "NaN", "NaN"),
        ("boolean", "true", True),
        ("boolean", "yes", "yes"),
        ("list", "one\ntwo\n\n", ["one", "two"]),
        ("list", "- {a: 1}\n- two", [{"a": 1}, "two"]),
        ("list", '["x", 1]', ["x", 1]),
        ("list", "- {a: 1", "- {a: 1"),
        ("object", "a: 1\nb: [x]", {"a": 1, "b": ["x"]}),
        ("object", '{"a": null}', {"a": None}),
        ("object", "words", "words"),
    ],
)
def test_what_is_written_is_read_by_its_type_and_stays_a_text_where_it_is_none(
    kind: InputType, text: str, value: Any
) -> None:
    spec = spec_of(kind)
    made = filled_in(TurnRecord(), {"x": spec}, {"i.x": text})
    assert same(made.turn["inputs"], {"x": value})
    assert field_of(spec, made.turn["inputs"], "x").text


def test_a_value_that_is_its_default_again_leaves_the_turn() -> None:
    inputs = {"name": spec_of("string", default="nobody"), "loud": spec_of("boolean", default=True)}
    made = filled_in(TurnRecord(), inputs, {"i.name": "Jana", "s.loud": "1"})
    assert made.turn == {"inputs": {"name": "Jana", "loud": False}}
    assert filled_in(made, inputs, {"i.name": "nobody", "s.loud": "1", "i.loud": "true"}).turn == {}


def test_one_of_several_values_is_chosen() -> None:
    inputs = {"level": spec_of("integer", values=[1, 2], default=1), "sure": spec_of("boolean")}
    made = filled_in(TurnRecord(), inputs, {"i.level": "2", "i.sure": "false"})
    assert made.turn == {"inputs": {"level": 2, "sure": False}}
    assert filled_in(made, inputs, {"i.sure": ""}).turn == {"inputs": {"level": 2}}


def test_keys_of_a_turn_are_filled_in_and_taken_away() -> None:
    form = {"t.message": "Hi", "t.now": "2026-11-20T09:05:00+00:00", "t.discovered": "a\nb", "t.metadata": "k: v"}
    made = filled_in(TurnRecord(), {}, form)
    assert made.turn == {
        "message": "Hi",
        "now": "2026-11-20T09:05:00+00:00",
        "discovered": ["a", "b"],
        "metadata": {"k": "v"},
    }
    assert filled_in(made, {}, dict.fromkeys(form, "")).turn == {}


def test_entities_are_added_changed_and_removed() -> None:
    blank = {f"m.0.{key}": "" for key in ("type", "id", "name")}
    assert filled_in(TurnRecord(), {}, blank).turn == {}
    made = filled_in(TurnRecord(), {}, {**blank, "m.0.type": "page", "m.0.name": "Home"})
    assert made.turn["memory"] == [{"type": "page", "id": "", "name": "Home"}]
    more = filled_in(made, {}, {"m.0.id": "p-1", "m.1.type": "post", "m.1.id": "2", "m.1.name": "Bees"})
    assert [each["id"] for each in more.turn["memory"]] == ["p-1", "2"]
    assert acted(more, {}, (), "drop-entity 0").turn["memory"] == [{"type": "post", "id": "2", "name": "Bees"}]


def test_tools_are_chosen() -> None:
    some = acted(TurnRecord(), {}, ("a", "b"), "some-tools")
    assert acted(some, {}, (), "drop-tool a").turn == {"tools": ["b"]}
    assert acted(some, {}, (), "add-tool c").turn["tools"] == ["a", "b", "c"]
    assert acted(some, {}, (), "no-tools").turn == {"tools": []}
    assert acted(some, {}, (), "all-tools").turn == {}


def test_buttons_mend_what_they_name_and_no_other_word_does_anything() -> None:
    inputs = {"name": spec_of("string")}
    empty = acted(TurnRecord({"now": "never"}), inputs, (), "empty name")
    assert empty.turn["inputs"] == {"name": ""}
    assert acted(empty, inputs, (), "clear now").turn == {"inputs": {"name": ""}}
    assert acted(empty, inputs, (), "default name").turn == {"now": "never"}
    for word in ("", "empty other", "drop-entity x", "drop-entity 9", "__class__ x", "drop-tool x"):
        assert acted(empty, inputs, (), word) == empty
