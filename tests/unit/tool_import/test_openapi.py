"""OpenAPI descriptions as tools: three versions, references, circles, and operations without a name."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard import SpecError
from cuecard.config.values import is_tool_name
from cuecard.workbench.tool_import.openapi import read_openapi

PET = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def described(paths: Any, version: str = "3.1.0", **more: Any) -> dict[str, Any]:
    key = "swagger" if version.startswith("2") else "openapi"
    return {key: version, "info": {"title": "Shop"}, "paths": paths, **more}


def test_an_operation_is_a_tool_with_the_parameters_of_every_place() -> None:
    path = {
        "parameters": [{"name": "id", "in": "path", "schema": {"type": "string"}}],
        "put": {
            "operationId": "updatePet",
            "summary": "Change a pet.",
            "description": "All of it.",
            "tags": ["pets"],
            "parameters": [{"name": "dry", "in": "query", "schema": {"type": "boolean"}, "description": "only look"}],
            "requestBody": {"required": True, "content": {"application/json": {"schema": PET}}},
        },
    }
    (card,) = read_openapi(described({"/pets/{id}": path}), "api.json").cards

    assert (card.name, card.description, card.category) == ("updatePet", "Change a pet.\nAll of it.", "pets")
    assert card.input_schema == {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "dry": {"type": "boolean", "description": "only look"},
            "name": {"type": "string"},
        },
        "required": ["id", "name"],
    }


def test_version_2_says_the_same_in_other_places() -> None:
    operation = {
        "parameters": [
            {"name": "limit", "in": "query", "type": "integer", "enum": [1, 2]},
            {"name": "pet", "in": "body", "required": True, "schema": {"$ref": "#/definitions/Pet"}},
        ]
    }
    found = read_openapi(described({"/pets": {"post": operation}}, "2.0", definitions={"Pet": PET}), "api.json")
    (card,) = found.cards

    assert card.name == "post_pets"
    assert card.input_schema["properties"] == {"limit": {"type": "integer", "enum": [1, 2]}, "name": {"type": "string"}}
    assert card.input_schema["required"] == ["name"]


def test_references_are_followed_and_cycles_are_left_open() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/components/schemas/Node"}, "n": {"type": "integer"}}}
    schemas = {"Node": node, "Self": {"$ref": "#/components/schemas/Self"}, "a/b~c": {"type": "null"}}
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Node"}}}}
    parameters = [
        {"$ref": "#/components/parameters/P"},
        {"name": "self", "in": "query", "schema": {"$ref": "#/components/schemas/Self"}},
        {"name": "odd", "in": "query", "schema": {"$ref": "#/components/schemas/a~1b~0c"}},
        {"name": "far", "in": "query", "schema": {"$ref": "#/info/title/0"}},
        {"name": "none", "in": "query", "schema": {"$ref": "#/components/nothing", "description": "kept"}},
    ]
    components = {"schemas": schemas, "parameters": {"P": {"name": "p", "in": "query", "schema": {"type": "string"}}}}
    operation = {"post": {"parameters": parameters, "requestBody": body}}
    found = read_openapi(described({"/x": operation}, components=components), "api.json")
    properties = found.cards[0].input_schema["properties"]

    assert properties["p"] == {"type": "string"}
    assert (properties["next"], properties["n"]) == ({}, {"type": "integer"})
    assert (properties["self"], properties["odd"]) == ({}, {"type": "null"})
    assert properties["none"] == {"description": "kept"}
    assert [problem.message for problem in found.problems] == [
        "`#/info/title/0` does not exist",
        "`#/components/nothing` does not exist",
    ]


def test_names_are_made_where_there_are_none_and_are_never_twice() -> None:
    paths: dict[str, Any] = {
        "/a/{id}/b.c": {"get": {}},
        "/one": {"get": {"operationId": "same"}},
        "/two": {"get": {"operationId": "same"}},
        "/three": {"get": {"operationId": "list pets (all)!"}},
        "/ü": {"get": {"operationId": "ü"}, "delete": {}},
        "/" + "x" * 300: {"patch": {}},
        "/n": {"get": {"operationId": 7}},
    }
    names = [card.name for card in read_openapi(described(paths), "api.json").cards]

    assert names[:4] == ["get_a_id_b.c", "same", "same_2", "list_pets_all"]
    assert len(set(names)) == len(names) == 8
    assert all(is_tool_name(name) and len(name) <= 64 for name in names)


def test_schemas_that_grow_without_end_are_cut() -> None:
    schemas: dict[str, Any] = {
        f"S{n}": {"type": "object", "properties": {k: {"$ref": f"#/components/schemas/S{n + 1}"} for k in "abcdefgh"}}
        for n in range(30)
    }
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/S0"}}}}
    value = described({"/x": {"post": {"requestBody": body}}}, components={"schemas": {**schemas, "S30": {}}})
    (card,) = read_openapi(value, "api.json").cards

    assert len(json.dumps(card.input_schema)) < 200_000


@pytest.mark.parametrize(
    "paths",
    [
        {"/x": None},
        {"/x": {"get": None, "post": {"parameters": "none", "requestBody": []}}},
        {"/x": {"get": {"parameters": [None, 3, {"in": "query"}, {"name": "a"}], "tags": 1, "summary": 3}}},
        {"/x": {"$ref": "#/paths/~1x", "get": {}}},
        {"/x": {"$ref": "#/paths/99999999999999999999"}},
        {"/x": {"post": {"requestBody": {"content": {"text/plain": None}}}}},
        [],
    ],
)
def test_odd_descriptions_give_tools_or_one_clear_error(paths: Any) -> None:
    try:
        found = read_openapi({"openapi": "3.0.3", "paths": paths}, "api.json")
    except SpecError as error:
        names, codes = [], {problem.code for problem in error.problems}
    else:
        names, codes = [card.name for card in found.cards], {problem.code for problem in found.problems}

    assert all(map(is_tool_name, names))
    assert codes <= {"wrong-openapi"}


WORDS = ["get", "post", "parameters", "requestBody", "content", "application/json", "schema", "$ref", "name", "in"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from(["#/paths", "#/", "#", "#/info"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS) | st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.text(max_size=8), JSON, max_size=4), st.sampled_from(["2.0", "3.0.1", "3.1.0"]))
def test_no_description_breaks_the_reader(paths: dict[str, Any], version: str) -> None:
    try:
        found = read_openapi(described(paths, version), "api.json")
    except SpecError:
        return
    assert len({card.name for card in found.cards}) == len(found.cards)
