from __future__ import annotations

import json
from dataclasses import replace

import pytest

from cuecard import SpecError, ToolCard
from cuecard.config.catalogue_file import read_catalogue


def read(value: object) -> list[str]:
    return [card.name for card in read_catalogue(json.dumps(value, indent=1), "tools.json")]


def test_tools_are_read_as_servers_list_them_and_as_requests_hold_them() -> None:
    listed = [{"name": "a", "description": "A", "inputSchema": {"type": "object"}, "annotations": {"title": "x"}}]
    asked = [{"type": "function", "function": {"name": "a", "description": "A", "parameters": {"type": "object"}}}]

    bedrock = {"toolConfig": {"tools": [{"toolSpec": {**listed[0], "inputSchema": {"json": {"type": "object"}}}}]}}
    card = ToolCard("a", "A", {"type": "object"})

    for value in (listed, {"tools": listed, "source": "x"}, {"result": {"tools": listed}}, asked, bedrock):
        assert read_catalogue(json.dumps(value), "tools.json") == [card]
    with_more = {**listed[0], "server": "mail", "phrases": ["b", "c"]}
    more = replace(card, phrases=("b", "c"), category="mail", source="mail")
    assert read_catalogue(json.dumps([with_more]), "tools.json") == [more]
    named = json.dumps([{**with_more, "category": "post", "function": "no mapping"}])
    assert read_catalogue(named, "tools.json") == [replace(more, category="post")]


def test_an_entry_of_gemini_holds_several_tools() -> None:
    for key in ("functionDeclarations", "function_declarations"):
        assert read([{key: [{"name": "a"}, {"name": "b"}]}, {key: 7, "name": "c"}]) == ["a", "b", "c"]


def test_a_schema_is_read_whatever_its_key_and_bedrocks_without_what_is_around_it() -> None:
    schemas = [{"json": 3}, {"json": {}, "x": {}}, {"json": {"x": 1}}]
    tools = [{"name": f"{n}", "inputSchema": None, "input_schema": each} for n, each in enumerate(schemas)]
    found = read_catalogue(json.dumps(tools), "tools.json")

    assert [card.input_schema for card in found] == [*schemas[:2], {"x": 1}]


def test_tools_of_two_servers_with_one_name_are_kept_apart_and_of_one_server_the_first_counts() -> None:
    tools = [{"name": name, "server": server} for server in ("x", "y") for name in ("search", f"only_{server}")]

    assert read(tools) == ["x__search", "only_x", "y__search", "only_y"]
    assert read([{"name": "a"}, {"name": "a", "server": "y"}, {"name": "b", "server": "y"}]) == ["a", "y__a", "b"]
    empty = {"name": "b", "description": None, "inputSchema": None, "phrases": [" "]}
    twice = json.dumps([{"name": "a", "description": "1"}, empty, {"name": "a", "description": "2"}])
    assert read_catalogue(twice, "tools.json") == [ToolCard("a", "1"), ToolCard("b")]


def test_every_mistake_is_shown_at_its_place() -> None:
    several = {"functionDeclarations": [{"name": 3}, {"name": "c", "phrases": ["d", 4]}]}
    wrong = {"name": "b", "phrases": "c", "server": 1, "description": 2, "category": 3}
    with pytest.raises(SpecError) as error:
        read({"tools": [{"name": "a"}, 7, {"description": "no name"}, {"name": " "}, wrong, several]})

    assert [line for line in str(error.value).splitlines() if "error" in line] == [
        "tools.json:6:3: error[wrong-value]: this is not a tool",
        "tools.json:7:3: error[missing-key]: it has no name",
        "tools.json:11:12: error[wrong-value]: it has no name",
        "tools.json:17:19: error[wrong-value]: `description` is not a text",
        "tools.json:16:14: error[wrong-value]: `server` is not a text",
        "tools.json:18:16: error[wrong-value]: `category` is not a text",
        "tools.json:15:15: error[wrong-value]: `phrases` is not a list of texts",
        "tools.json:20:3: error[wrong-value]: it has no name",
        "tools.json:20:3: error[wrong-value]: `phrases` is not a list of texts",
    ]
    assert {problem.hint for problem in error.value.problems} == {
        'a tool is `{"name": "send_mail", "description": "Send a mail"}`'
    }


@pytest.mark.parametrize("text", ["7", '"x"', "{}", '{"tools": {"a": 1}}', "null"])
def test_anything_but_a_list_of_tools_is_an_error_that_shows_one(text: str) -> None:
    with pytest.raises(SpecError) as error:
        read_catalogue(text, "tools.json")

    assert str(error.value) == (
        "tools.json: error[wrong-value]: a catalogue is a list of tools\n"
        '  = write `[tool, ...]` or `{"tools": [tool, ...]}`'
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "[\n }",
            "tools.json:2:2: error[json-syntax]: Expecting value\n  2 |  }\n    |  ^\n  = the file holds JSON",
        ),
        ("[" * 100_000, "tools.json: error[json-syntax]: nested too deeply\n  = flatten the file"),
        ("9" * 5_000, "tools.json: error[json-syntax]: a number with too many digits\n  = write it as a string"),
    ],
    ids=["syntax", "depth", "number"],
)
def test_what_is_not_json_is_an_error_at_its_place(text: str, told: str) -> None:
    with pytest.raises(SpecError) as error:
        read_catalogue(text, "tools.json")

    assert str(error.value) == told


def test_half_a_character_of_json_becomes_a_replacement() -> None:
    (card,) = read_catalogue(
        r'[{"name": "a\ud83d\ude00", "description": "b\uD83Dc", "parameters": {"\ud800": ["\ude00", 1]}}]', "t"
    )

    assert card == ToolCard("a\U0001f600", "b\ufffdc", {"\ufffd": ["\ufffd", 1]})
