from __future__ import annotations

import json

import pytest

from cuecard import SpecError
from cuecard.config.catalogue_file import read_catalogue


def read(value: object) -> list[str]:
    return [card.name for card in read_catalogue(json.dumps(value, indent=1), "tools.json")]


def test_tools_are_read_as_servers_list_them_and_as_requests_hold_them() -> None:
    listed = [{"name": "a", "description": "A", "inputSchema": {"type": "object"}, "annotations": {"title": "x"}}]
    asked = [{"type": "function", "function": {"name": "a", "description": "A", "parameters": {"type": "object"}}}]

    for value in (listed, {"tools": listed, "source": "x"}, asked, [{**listed[0], "server": "mail"}]):
        (card,) = read_catalogue(json.dumps(value), "tools.json")
        assert (card.name, card.description, card.input_schema) == ("a", "A", {"type": "object"})
    assert card.category == "mail"


def test_tools_of_two_servers_with_one_name_are_kept_apart_and_of_one_server_the_first_counts() -> None:
    tools = [{"name": name, "server": server} for server in ("x", "y") for name in ("search", f"only_{server}")]

    assert read(tools) == ["x__search", "only_x", "y__search", "only_y"]
    assert read([{"name": "a", "description": "1"}, {"name": "a", "description": "2"}]) == ["a"]


def test_what_is_left_out_or_null_is_empty() -> None:
    (card,) = read_catalogue('[{"name": "a", "description": null, "inputSchema": null, "phrases": null}]', "tools.json")

    assert (card.description, card.input_schema, card.phrases) == ("", {}, ())


def test_every_mistake_is_shown_at_its_place() -> None:
    tools = [{"name": "a"}, 7, {"description": "no name"}, {"name": " "}, {"name": "b", "phrases": "c", "server": 1}]
    with pytest.raises(SpecError) as error:
        read({"tools": tools})

    found = [(p.name, p.span.line if p.span else 0, p.code) for p in error.value.problems]
    assert found == [
        ("tools.json", 6, "wrong-value"),
        ("tools.json", 7, "missing-key"),
        ("tools.json", 11, "wrong-value"),
        ("tools.json", 16, "wrong-value"),
        ("tools.json", 15, "wrong-value"),
    ]


@pytest.mark.parametrize("text", ["7", '"x"', "{}", '{"tools": {"a": 1}}', "null"])
def test_anything_but_a_list_of_tools_is_an_error_that_shows_one(text: str) -> None:
    with pytest.raises(SpecError, match="a catalogue is a list of tools"):
        read_catalogue(text, "tools.json")


def test_what_is_not_json_is_an_error_at_its_place() -> None:
    with pytest.raises(SpecError, match=r"tools\.json:2:1: error\[json-syntax\]"):
        read_catalogue("[\n}", "tools.json")
