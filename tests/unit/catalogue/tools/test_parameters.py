"""Input schemas come from tool servers: what they say is read, and whatever they are, nothing breaks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard import ToolCard
from cuecard.catalogue.fields import MOST_CHARACTERS, parameter_text
from cuecard.catalogue.search import SearchIndex

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["properties", "items", "anyOf", "$defs", "enum", "description", "x"]), inner)
    ),
    max_leaves=20,
)


def test_names_descriptions_and_choices_are_read_wherever_they_appear() -> None:
    schema = {
        "type": "object",
        "description": "of the whole: it says what the tool's description says",
        "properties": {
            "to": {"type": "array", "items": {"type": "string", "description": "an address"}},
            "kind": {"enum": ["html", 7, "plain"], "title": "form"},
            "more": {"anyOf": [{"properties": {"deep": {"description": "down here"}}}, {"type": "null"}]},
        },
        "$defs": {"Part": {"properties": {"part": {}}}},
    }

    assert set(parameter_text(schema).split("\n")) == {
        *("to", "an address", "kind", "html", "plain", "form", "more", "deep", "down here", "Part", "part")
    }


def cyclic() -> dict[str, Any]:
    schema: dict[str, Any] = {"properties": {}}
    schema["properties"]["self"] = schema
    schema["anyOf"] = [schema, schema]
    return schema


def deep() -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(100_000):
        schema = {"items": schema}
    return schema


HOSTILE: dict[str, Any] = {
    "a text": "no schema",
    "nothing": None,
    "a list": [{"properties": {"a": {}}}],
    "properties as a list": {"properties": ["a", {"b": 1}]},
    "names that are no texts": {"properties": {1: {}, None: {"description": 3}}},
    "a description as a mapping": {"properties": {"a": {"description": {"b": "c"}}}},
    "a reference to itself": {"$ref": "#", "properties": {"a": {"$ref": "#/properties/a"}}},
    "a mapping that holds itself": cyclic(),
    "very deep": deep(),
    "very wide": {"properties": {f"p{n}": {"description": "x" * 1000} for n in range(50_000)}},
    "very many choices": {"properties": {"a": {"enum": [str(n) for n in range(500_000)]}}},
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_schema_costs_little_and_breaks_nothing(case: str) -> None:
    card = ToolCard("send_mail", "Send a mail", HOSTILE[case])

    assert len(parameter_text(HOSTILE[case])) <= MOST_CHARACTERS
    assert SearchIndex.build([card]).search("send mail").tools == ("send_mail",)


@given(JSON)
def test_any_json_is_read(schema: Any) -> None:
    assert len(parameter_text(schema)) <= MOST_CHARACTERS
