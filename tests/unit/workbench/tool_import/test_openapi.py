"""OpenAPI descriptions as tools: three versions, references, circles, and operations without a name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard import Engine, SpecError
from cuecard.config.values import is_tool_name
from cuecard.workbench.tool_import.command import ImportOptions, ImportSource, file_listing, import_tools
from cuecard.workbench.tool_import.openapi import read_openapi
from cuecard.workbench.tool_import.references import References
from unit.workbench.run.talking import write

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


def test_what_a_client_says_of_itself_is_no_argument() -> None:
    held = [("Authorization", "header"), ("content-type", "header"), ("sid", "cookie"), ("Authorization", "query")]
    parameters = [{"name": name, "in": place, "required": True, "schema": {}} for name, place in held]
    (card,) = read_openapi(described({"/pets": {"get": {"parameters": parameters}}}), "api.json").cards

    assert card.input_schema["required"] == ["Authorization"]


@pytest.mark.parametrize("text", ["openapi: 3.0.3\ninfo: {}\n", '{"info": {}, "swagger": "2.0"}'])
def test_a_description_that_is_named_as_a_list_of_tools_is_told_as_one(text: str, tmp_path: Path) -> None:
    (tmp_path / "api.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        file_listing(tmp_path / "api.yaml", openapi=False)

    (problem,) = caught.value.problems
    assert (problem.code, problem.hint.startswith("write `--openapi ")) == ("wrong-openapi", True)


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


def test_references_that_only_lead_to_others_are_told() -> None:
    """A parameter, a body and a path behind a circle would be missing without a word."""
    components = {
        "parameters": {"P": {"$ref": "#/components/parameters/Q"}, "Q": {"$ref": "#/components/parameters/P"}},
        "requestBodies": {"B": {"$ref": "#/components/requestBodies/B"}},
    }
    post = {
        "parameters": [{"$ref": "#/components/parameters/P"}],
        "requestBody": {"$ref": "#/components/requestBodies/B"},
    }
    paths = {"/a": {"$ref": "#/paths/~1a"}, "/b": {"post": post}}
    found = read_openapi(described(paths, components=components), "api.json")

    assert [card.name for card in found.cards] == ["post_b"]
    assert [problem.message.partition(" leads to no value")[0] for problem in found.problems] == [
        "`#/paths/~1a`",
        "`#/components/requestBodies/B`",
        "`#/components/parameters/Q`",
    ]


@pytest.mark.parametrize("tags", [[], [""], ["  "], [None, 7], ["", "t" * 200]])
def test_long_names_and_empty_tags_give_names_and_files_that_everybody_accepts(tags: list[Any], tmp_path: Path) -> None:
    parameters = [{"name": "p" * 199 + end, "in": "query", "schema": {}} for end in "ab"]
    one = {"operationId": "n" * 200, "tags": tags, "parameters": parameters}
    other = {**one, "operationId": "n" * 199 + "m"}
    value = described({"/a": {"get": one, "post": other}, "/" + "x" * 200: {"get": {"tags": tags}}})
    (tmp_path / "api.json").write_text(json.dumps(value), encoding="utf-8")
    (tmp_path / "agent.yaml").write_text(
        "agent: a\ntools: {instructions: tools}\nsections: [{id: p, text: '{{{activeProtocols}}}'}]\n", encoding="utf-8"
    )
    source = ImportSource(openapi=tmp_path / "api.json")
    for code in (0, 0):  # the second time, nothing is new
        assert import_tools(tmp_path, source, ImportOptions()) == code
    again = import_tools(tmp_path, source, ImportOptions(check=True))

    tools = Engine.open(tmp_path).tools
    locked = json.loads(next((tmp_path / "tools").glob("*.lock.json")).read_text(encoding="utf-8"))["tools"]
    names = [*tools, *(name for tool in locked for name in tool["inputSchema"].get("properties", ()))]
    assert again == 0
    assert len(tools) == 3
    assert max(map(len, names)) <= 64
    assert all(len(path.name) <= 110 for path in (tmp_path / "tools").iterdir())


def test_names_are_made_where_there_are_none_and_are_never_twice() -> None:
    paths: dict[str, Any] = {
        "/a/{id}/b.c": {"get": {}},
        "/one": {"get": {"operationId": "same"}},
        "/two": {"get": {"operationId": "same"}},
        "/three": {"get": {"operationId": "list pets (all)!"}},
        "/posts": {"get": {"operationId": "列出文章"}},
        "/ü": {"get": {"operationId": "ü"}, "delete": {}},
        "/" + "x" * 300: {"patch": {}},
        "/n": {"get": {"operationId": 7}},
    }
    names = [card.name for card in read_openapi(described(paths), "api.json").cards]

    assert names[:5] == ["get_a_id_b.c", "same", "same_2", "list_pets_all", "get_posts"]
    assert len(set(names)) == len(names) == 9
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


def test_properties_that_only_answers_have_are_no_arguments_at_any_depth() -> None:
    stamp = {"type": "string", "readOnly": True}
    base = {"type": "object", "properties": {"id": stamp, "title": {"type": "string"}}, "required": ["id", "title"]}
    author = {"type": "object", "required": ["id"], "properties": {"id": stamp, "name": {"type": "string"}}}
    item = {
        "type": "object",
        "required": ["id", "made", "title"],
        "properties": {
            "id": {"allOf": [{"$ref": "#/components/schemas/Id"}], "readOnly": True},
            "made": {"allOf": [{"$ref": "#/components/schemas/Stamp"}]},
            "title": {"type": "string"},
            "readOnly": {"type": "boolean", "default": {"required": ["id"]}},
            "author": author,
            "parts": {
                "type": "array",
                "items": {"allOf": [{"$ref": "#/components/schemas/Base"}, {"required": ["id"]}]},
            },
        },
    }
    schemas = {"Id": {"type": "integer"}, "Stamp": stamp, "Base": base}

    def body(schema: Any) -> Any:
        return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}

    whole = {"allOf": [{"$ref": "#/components/schemas/Base"}, {"required": ["id", "title"]}]}
    paths = {"/x": {"post": body(item), "put": body(whole), "patch": body({"properties": {"id": stamp}})}}
    put, post, patch = read_openapi(described(paths, components={"schemas": schemas}), "api.json").cards

    assert post.input_schema["properties"] == {
        "title": {"type": "string"},
        "readOnly": {"type": "boolean", "default": {"required": ["id"]}},
        "author": {"type": "object", "properties": {"name": {"type": "string"}}},
        "parts": {
            "type": "array",
            "items": {
                "allOf": [
                    {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]},
                    {},
                ]
            },
        },
    }
    assert post.input_schema["required"] == ["title"]
    assert put.input_schema["required"] == ["body"]
    assert put.input_schema["properties"]["body"]["allOf"][1] == {"required": ["title"]}
    assert patch.input_schema == {"type": "object", "properties": {}}


def test_each_argument_has_a_name_that_providers_accept_and_its_place() -> None:
    named = [
        ("id", "path"),
        ("id", "query"),
        ("filters[$or][0]", "query"),
        ("日本", "query"),
        ("é", "header"),
        ("c", "cookie"),
    ]
    body: Any = {"content": {"application/json": {"schema": {"properties": {"id": {}, "x" * 200: {}, "x" * 199: {}}}}}}
    parameters = [{"name": name, "in": place, "schema": {}} for name, place in named]
    value = described({"/x/{id}": {"post": {"parameters": parameters, "requestBody": body}}})
    found = read_openapi(value, "api.json")
    (operation,) = found.operations.values()

    assert {name: (each.place, each.name) for name, each in operation.arguments.items()} == {
        "id": ("path", None),
        "query_id": ("query", "id"),
        "filters_or_0": ("query", "filters[$or][0]"),
        "argument": ("query", "日本"),
        "header_argument": ("header", "é"),
        "body_id": ("body", "id"),
        "x" * 64: ("body", "x" * 200),
        f"body_{'x' * 59}": ("body", "x" * 199),
    }
    assert [*found.cards[0].input_schema["properties"]] == [*operation.arguments]


def test_a_description_in_several_files_is_one(tmp_path: Path) -> None:
    files = {
        "api.yaml": "openapi: 3.0.0\ninfo: {title: Shop}\npaths:\n  /posts: {$ref: './paths/posts.yaml'}\n"
        "  /tags: {$ref: 'paths/all.json#/~1tags'}\ncomponents: {schemas: {Id: {type: integer}}}\n",
        "paths/posts.yaml": "post:\n  operationId: createPost\n  requestBody:\n    content:\n      application/json:\n"
        "        schema: {$ref: '../schemas/post.yaml#/Post'}\n",
        "paths/all.json": '{"/tags": {"get": {"parameters": [{"$ref": "#/limit"}]}}, '
        '"limit": {"name": "limit", "in": "query", "schema": {"$ref": "../api.yaml#/components/schemas/Id"}}}',
        "schemas/post.yaml": "Post:\n  properties:\n    id: {$ref: '../api.yaml#/components/schemas/Id'}\n"
        "    tag: {$ref: tag.yaml}\n    parent: {$ref: '#/Post'}\n",
        "schemas/tag.yaml": "type: object\nproperties: {post: {$ref: post.yaml#/Post}, no: {$ref: '#/nothing'}}\n",
    }
    write(tmp_path, files)
    listing = file_listing(tmp_path / "api.yaml", openapi=True)

    assert [card.name for card in listing.cards] == ["createPost", "get_tags"]
    properties = listing.cards[0].input_schema["properties"]
    assert properties == {
        "id": {"type": "integer"},
        "tag": {"type": "object", "properties": {"post": {}, "no": {}}},
        "parent": {},
    }
    assert listing.cards[1].input_schema["properties"] == {"limit": {"type": "integer"}}
    assert [problem.message for problem in listing.dropped] == ["`schemas/tag.yaml#/nothing` does not exist"]


def test_no_reference_leads_to_another_host_or_out_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "secret.yaml").write_text("password: x\n", encoding="utf-8")
    (tmp_path / "api").mkdir()
    (tmp_path / "api" / "link.yaml").symlink_to(tmp_path / "secret.yaml")
    far = ["https://evil.example/x.json#/A", "//evil.example/x", "file:///etc/passwd", "../secret.yaml", "/etc/passwd"]
    far += ["%2e%2e/other.yaml", "link.yaml", "none.yaml#/x", "a\0b.yaml"]
    parameters = [{"name": f"p{n}", "in": "query", "schema": {"$ref": each}} for n, each in enumerate(far)]
    (tmp_path / "api/api.json").write_text(json.dumps(described({"/x": {"get": {"parameters": parameters}}})))
    with pytest.raises(SpecError) as caught:
        file_listing(tmp_path / "api/api.json", openapi=True)

    told = [problem.message for problem in caught.value.problems]
    assert len(told) == len(far)
    assert told[:3] == [f"`{each}` is an address, which is not followed" for each in far[:3]]
    assert told[3:6] == [f"`{each}` leads out of the folder" for each in far[3:6]]
    assert told[6].startswith("a link that points outside of the roots")
    assert told[7:] == ["no such file", "this is not a valid file name"]


def test_a_large_description_in_yaml_is_read_and_its_mistakes_have_their_places(tmp_path: Path) -> None:
    one = (
        "  /things{0}:\n    get:\n      operationId: get{0}\n      summary: 'a\tb{1}'\n      responses: {{200: {{}}}}\n"
    )
    text = "openapi: 3.0.0\ninfo: {title: Big}\npaths:\n" + "".join(one.format(n, "c" * 400) for n in range(600))
    assert len(text) > 262_144
    file = tmp_path / "big.yaml"
    file.write_text(text, encoding="utf-8")
    assert len(file_listing(file, openapi=True).cards) == 600

    for added, told in {
        "  /things7: {}\n": "3004:3: error[duplicate-key]: duplicate key `/things7`",
        "  - {": "3004:3: error[yaml-syntax]",
        "  /more: *x\n": "3004:10: error[yaml-refused]: an alias (`*x`)",
        "  [a]: 1\n": "3004:3: error[yaml-key]",
        f"  /deep: {'[' * 200}": "error[yaml-refused]: nested more than 100 levels deep",
        "---\n{}\n": "error[yaml-refused]: a second document",
    }.items():
        file.write_text(text + added, encoding="utf-8")
        with pytest.raises(SpecError) as caught:
            file_listing(file, openapi=True)
        assert told in str(caught.value)


@pytest.mark.parametrize(
    ("request_", "told"),
    [
        ("get /posts", "List posts"),
        ("post /posts", "Create a post"),
        ("get /posts/{id}", "Get a post"),
        ("put /posts/{id}", "Update a post"),
        ("delete /api/v2/categories/{slug}", "Delete a category"),
        ("post /posts/{id}/comments", "Create a comment of a post"),
        ("get /posts/{id}/comments", "List comments of a post"),
        ("post /posts/{id}/publish", "Publish a post"),
        ("post /auth/login", "Auth login"),
        ("get /server/info", "Get server info"),
        ("patch /settings", "Update settings"),
        ("get /blogEntries/:id", "Get a blog entry"),
        ("get /orders/{id}", "Get an order"),
        ("delete /addresses/{id}", "Delete an address"),
        ("get /", "Get the root"),
        ("get /{id}", "Get the root"),
    ],
)
def test_a_request_without_words_is_told_in_those_of_people(request_: str, told: str) -> None:
    method, _, path = request_.partition(" ")
    found = read_openapi(described({path: {method: {"summary": f"{method.upper()}: {path}"}}}), "api.json")

    assert [*found.lines.values()] == [told]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"summary": "List  posts\n"}, "List posts"),
        ({"description": "Lists **posts**. See `x`.\n\nMore."}, "Lists posts."),
        ({"description": "<p>Lists posts<br>of a blog</p>"}, "Lists postsof a blog"),
        ({"summary": " ", "description": "# Lists e.g. posts"}, "Lists e.g. posts"),
        ({"summary": "word " * 100}, f"{'word ' * 39}".rstrip() + "..."),
    ],
)
def test_an_entry_has_one_line_of_what_the_source_says(said: Any, told: str) -> None:
    found = read_openapi(described({"/x": {"get": said}}), "api.json")

    assert [*found.lines.values()] == [told]


def test_ten_thousand_operations_are_read_and_too_many_values_are_refused() -> None:
    body = {"content": {"a": {"schema": {"$ref": "#/components/schemas/A"}}}}
    paths = {f"/p{n}": {"post": {"requestBody": body}} for n in range(10_000)}
    value = described(paths, components={"schemas": {"A": {"properties": {"f": {}}}}})

    assert len(read_openapi(value, "api.json").cards) == 10_000
    references = References(value, "api.json", left=5_000)
    for _ in range(2_000):
        references.resolved(body)
    with pytest.raises(SpecError, match="its schemas have more than"):
        references.check()
