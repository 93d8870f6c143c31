"""An API that changes between imports: what authors wrote and decided stays, and every change is told as what it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cuecard import Engine
from cuecard.config.tool_listing import Listing, lock_text
from cuecard.model import ToolCard
from unit.workbench.run.talking import Ran, cuecard, write

AGENT = """\
agent: helper
sections: [{id: role, text: Hello.}, {id: told, text: "{{{activeProtocols}}}"}]
tools: {instructions: tools, core: [tool_search]}
"""
CORE = "category: core\ndescribed: {tool_search: {description: Find tools}}\n"
LOCK = Path("tools/mini.lock.json")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"agent.yaml": AGENT, "tools/core.yaml": CORE})


def operation(name: str = "", summary: str = "", *tags: str, **more: Any) -> dict[str, Any]:
    said = {"operationId": name, "summary": summary, "tags": [*tags]}
    return {**{key: value for key, value in said.items() if value}, **more}


def imported(monkeypatch: pytest.MonkeyPatch, paths: Any, *words: str, title: str = "Mini", agent: str = ".") -> Ran:
    """What the command says of an API with these paths, each of them with its operations by method."""
    Path("api.json").write_text(json.dumps({"openapi": "3.1.0", "info": {"title": title}, "paths": paths}))
    return cuecard(monkeypatch, "tools", "import", agent, "--openapi", "api.json", *words)


def reported(monkeypatch: pytest.MonkeyPatch, paths: Any, *words: str, **more: str) -> dict[str, Any]:
    ran = imported(monkeypatch, paths, "--json", *words, **more)
    assert ran.err == ""
    found: dict[str, Any] = json.loads(ran.out)
    return found


def entries(file: str = "tools/mini.yaml") -> str:
    return Path(file).read_text(encoding="utf-8")


POSTS = {"/posts": {"get": operation("listPosts", "List posts"), "post": operation("createPost", "Write a post")}}
POST = {"/posts/{id}": {"patch": operation("updatePost", "Change a post"), "delete": operation("dropPost", "Drop it")}}


def test_a_renamed_operation_keeps_its_entry_word_for_word(monkeypatch: pytest.MonkeyPatch) -> None:
    imported(monkeypatch, POSTS | POST)
    cuecard(monkeypatch, "tools", "add", "updatePost", ".")
    written = entries().replace("TODO: the tools that usually follow", "updatePost again  # or not")
    Path("tools/mini.yaml").write_text(written, encoding="utf-8")
    now = {
        "/posts/{postId}": {"patch": operation("patchPost", "Change a post"), "delete": POST["/posts/{id}"]["delete"]}
    }

    told = imported(monkeypatch, POSTS | now, "--check")
    assert told.code == 1
    (line,) = [line for line in told.out.splitlines() if line.startswith("  renamed")]
    place = f"tools/mini.yaml:{written[: written.index('  updatePost:')].count(chr(10)) + 1}"
    assert line.startswith(f"  renamed  updatePost -> patchPost  its entry is {place}; still named in tools/mini.yaml:")
    assert entries() == written

    assert reported(monkeypatch, POSTS | now)["new"] == []
    assert entries() == written.replace("  updatePost:", "  patchPost:")
    assert Engine.open(".").tools["patchPost"].instructions
    assert imported(monkeypatch, POSTS | now, "--check").code == 0


def test_a_renamed_operation_is_told_wherever_the_agent_file_has_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = 'results: {updatePost: "{{{content}}}"}\nmemory:\n  types:\n    updatePost: post\n    updatePost:x: post\n'
    Path("agent.yaml").write_text(AGENT + rules)
    imported(monkeypatch, POST)
    now = {"/posts/{id}": POST["/posts/{id}"] | {"patch": operation("patchPost", "Change a post")}}

    first = AGENT.count("\n") + 1
    (line,) = [line for line in imported(monkeypatch, now).out.splitlines() if line.startswith("  renamed")]
    assert line.endswith(f"still named in agent.yaml:{first}, agent.yaml:{first + 3}")


def test_the_tools_of_an_agent_that_extends_another_are_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    extended = "agent: own\nextends: ../agent.yaml\ntools: {instructions: [../tools, tools], core: [tool_search]}\n"
    write(Path(), {"own/agent.yaml": extended, "own/tools/own.yaml": CORE.replace("tool_search", "greet")})
    own = reported(monkeypatch, POST, agent="own")
    assert own["written"] == ["own/tools/mini.yaml", "own/tools/mini.lock.json"]
    assert "updatePost" not in Engine.open(".").tools

    shared = reported(monkeypatch, POSTS, "--source", "shared")
    assert shared["written"] == ["tools/shared.yaml", "tools/shared.lock.json"]
    more = POSTS | {"/tags": {"get": operation("listTags", "List tags")}}
    assert reported(monkeypatch, more, "--source", "shared", agent="own")["written"][0] == "tools/shared.yaml"


def test_a_removal_is_told_until_its_entry_is_gone_or_kept_on_purpose(monkeypatch: pytest.MonkeyPatch) -> None:
    imported(monkeypatch, POSTS | POST)
    for _ in range(2):
        assert [each["tool"] for each in reported(monkeypatch, POSTS)["removed"]] == ["dropPost", "updatePost"]
    assert imported(monkeypatch, POSTS, "--check").code == 1
    assert imported(monkeypatch, POSTS, "--keep", "createPost").code == 2

    kept = reported(monkeypatch, POSTS, "--keep", "dropPost")
    assert ([each["tool"] for each in kept["removed"]], kept["kept"]) == (["updatePost"], ["dropPost"])
    Path("tools/mini.yaml").write_text(entries().replace("  updatePost:\n    description: Change a post\n", ""))
    assert imported(monkeypatch, POSTS, "--check").code == 0
    assert "updatePost" not in LOCK.read_text() or imported(monkeypatch, POSTS).code == 0
    assert json.loads(LOCK.read_text())["gone"] == [{"name": "dropPost", "kept": True}]
    assert reported(monkeypatch, POSTS | POST)["new"] == ["updatePost"]


def test_what_authors_take_out_stays_out_and_can_be_brought_back(monkeypatch: pytest.MonkeyPatch) -> None:
    imported(monkeypatch, POSTS | POST)
    Path("tools/mini.yaml").write_text(entries().replace("  dropPost:\n    description: Drop it\n", ""))

    assert imported(monkeypatch, POSTS | POST, "--check").code == 0
    assert "left out on purpose, having no entry: dropPost" in imported(monkeypatch, POSTS | POST).out
    assert "dropPost" not in Engine.open(".").tools
    now = {"/posts/{id}": {"patch": POST["/posts/{id}"]["patch"], "delete": operation("erasePost", "Drop it")}}
    assert reported(monkeypatch, POSTS | now)["left_out"] == ["erasePost"]
    assert imported(monkeypatch, POSTS, "--check").code == 1  # the source has fewer tools, and no entry is concerned
    imported(monkeypatch, POSTS | now)

    cuecard(monkeypatch, "tools", "add", "erasePost", ".")
    assert Engine.open(".").tools["erasePost"].description == "Drop it"
    assert reported(monkeypatch, POSTS | now, "--check") | {"written": []} == reported(monkeypatch, POSTS | now) | {
        "written": []
    }
    assert "left_out" not in LOCK.read_text()


def test_a_file_for_each_tag_and_an_entry_stays_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    tags = ["Posts", "posts", "日本", " ", "x" * 200]
    paths = {f"/p{n}": {"get": operation(f"get{n}", "It", tag)} for n, tag in enumerate(tags)} | POSTS
    imported(monkeypatch, paths)

    found = {name: card.category for name, card in Engine.open(".").tools.items()}
    assert found == {"tool_search": "core", "get3": "Mini", "listPosts": "Mini", "createPost": "Mini"} | {
        f"get{n}": tags[n] for n in (0, 1, 2, 4)
    }
    before = {path.name: path.read_bytes() for path in Path("tools").glob("*.yaml")}
    assert {"core.yaml", "mini.yaml", "mini-posts.yaml", "mini-posts-2.yaml"} < before.keys()
    paths["/p0"]["get"]["tags"] = ["articles"]
    told = reported(monkeypatch, paths)
    assert told["moved"] == [{"tool": "get0", "what": ["tag `Posts` -> `articles`"]}]
    assert {path.name: path.read_bytes() for path in Path("tools").glob("*.yaml")} == before
    imported(monkeypatch, paths | {"/more": {"get": operation("getMore", "It", "posts")}})
    assert "getMore" in entries("tools/mini-posts-2.yaml")


def test_the_same_name_at_another_path_has_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    imported(monkeypatch, POSTS)
    told = reported(monkeypatch, {"/v2/posts": POSTS["/posts"]})

    assert [each["tool"] for each in told["moved"]] == ["listPosts", "createPost"]
    assert told["moved"][0]["what"] == ["`GET /posts` -> `GET /v2/posts`"]
    assert (told["new"], told["removed"], told["renamed"]) == ([], [], [])


def test_two_sources_with_one_name_clash_and_a_prefix_tells_them_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    imported(monkeypatch, POSTS)
    before = {path.name: path.read_bytes() for path in Path("tools").iterdir()}
    shop = {"/goods": {"get": operation("listPosts", "List goods"), "post": operation("sell", "Sell it")}}
    for words in ([], ["--check"]):
        ran = imported(monkeypatch, shop, *words, title="Shop")
        assert ran.code == 1
        assert "mini.lock.json: error[duplicate-tool]: `listPosts` is a tool of the source `mini` already" in ran.err
    assert {path.name: path.read_bytes() for path in Path("tools").iterdir()} == before

    assert reported(monkeypatch, shop, "--prefix", "shop_", title="Shop")["new"] == ["shop_listPosts", "shop_sell"]
    assert imported(monkeypatch, shop, "--check", title="Shop").code == 0
    assert imported(monkeypatch, POSTS, "--check").code == 0
    assert imported(monkeypatch, shop, "--prefix", "über ", title="Shop").code == 2


def test_a_source_is_the_same_under_another_title_and_another_one_under_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    imported(monkeypatch, POSTS | POST)
    ran = imported(monkeypatch, POSTS, title="Mini API, second edition")
    assert ran.out.startswith("Mini API, second edition (`mini` here): 2 tools listed, 2 removed\n")
    assert [path.name for path in Path("tools").glob("*.lock.json")] == ["mini.lock.json"]

    other = {"/carts": {"get": operation("listCarts", "List carts")}}
    ran = imported(monkeypatch, other)
    assert ran.code == 2
    assert "its title is that of tools/mini.lock.json, but they have no tool in common" in ran.err
    assert reported(monkeypatch, other, "--source", "Carts")["lock"] == "tools/carts.lock.json"
    assert imported(monkeypatch, other, "--check").code == 0
    assert [each["tool"] for each in reported(monkeypatch, POSTS, "--check")["removed"]] == ["dropPost", "updatePost"]


def first_format(paths: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files as the first format had them: no operations, method and path for a missing description, one file."""
    imported(monkeypatch, paths)
    value = json.loads(LOCK.read_text())
    for tool in value["tools"]:
        request = tool.pop("operation")
        tool["description"] = tool["description"] or f"{request['method']} {request['path']}"
    LOCK.write_text(json.dumps({"tools": value["tools"]}, indent=1) + "\n")


def test_a_lock_of_the_first_format_is_completed_and_nothing_else_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = {"/notes": {"get": operation()}} | POSTS
    first_format(plain, monkeypatch)
    text = entries()
    tagged = {path: {method: {**each, "tags": ["t"]} for method, each in of.items()} for path, of in plain.items()}

    told = reported(monkeypatch, tagged)
    kinds = ("new", "changed", "renamed", "moved", "removed", "left_out", "mapped")
    assert {kind: told[kind] for kind in kinds} == {kind: [] for kind in kinds} | {"mapped": {}}
    assert told["written"] == ["tools/mini.lock.json"]
    assert entries() == text
    assert json.loads(LOCK.read_text())["tools"][0]["operation"] == {"method": "GET", "path": "/notes", "tags": ["t"]}
    assert imported(monkeypatch, tagged, "--check").code == 0


def test_a_lock_of_the_first_format_is_known_under_another_title(monkeypatch: pytest.MonkeyPatch) -> None:
    first_format(POSTS | POST, monkeypatch)

    assert [each["tool"] for each in reported(monkeypatch, POSTS, title="New")["removed"]] == ["dropPost", "updatePost"]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"version": 2', '"version": 3', "written by a later version of cuecard (format 3; this one knows up to 2)"),
        ('"version": 2', '"version": "2"', "mini.lock.json:2:13: error[wrong-value]: `version`"),
        ('"version": 2', '"version": 0', "mini.lock.json:2:13: error[wrong-value]: `version`"),
        ('"createPost"', '"a b"', "error[wrong-value]: `tools.1.name`"),
        ('"source"', '"sauce"', "mini.lock.json:3:2: error[unknown-key]: unknown key `sauce`"),
        ('"method"', '"methods"', "add `method:` - its method, such as GET"),
        ('"path"', '"paths"', "add `path:` - its path, with parameters in braces"),
        ('"name": "createPost"', '"called": "x"', "add `name:` - its name"),
        ('"createPost"', '"listPosts"', "names a tool twice under `tools`: listPosts"),
        ('"tools": [', '"tools": [7,', "mini.lock.json:4:12: error[wrong-value]: `tools.0` should be a mapping"),
        ('{\n "version"', '{\n\n<<<<<<< HEAD\n "version"', "mini.lock.json:3:1: error[json-syntax]"),
        ('"tools": [', '"tool": [', "this is not a file of `cuecard tools import`"),
    ],
)
def test_a_lock_that_was_edited_by_hand_is_one_clear_error(
    old: str, new: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    imported(monkeypatch, POSTS)
    LOCK.write_text(LOCK.read_text().replace(old, new, 1))
    before = {path.name: path.read_bytes() for path in Path("tools").iterdir()}
    ran = imported(monkeypatch, POSTS | POST)

    assert ran.code in {1, 2}
    assert told in ran.err
    assert "Traceback" not in ran.err
    assert {path.name: path.read_bytes() for path in Path("tools").iterdir()} == before


def test_half_a_character_is_kept_as_an_escape() -> None:
    text = lock_text(Listing("mini", (ToolCard("listPosts", "\ud800"),), ()), "mini")

    assert text.isascii()
    assert json.loads(text)["tools"][0]["description"] == "\ud800"


def test_a_number_in_a_name_stays_when_the_operation_before_it_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    paths = {f"/p{n}": {"get": operation("same", f"Get {n}")} for n in range(3)}
    ran = imported(monkeypatch, paths)
    assert "the `operationId` `same` is that of `GET /p0` and of `GET /p1`" in ran.err
    del paths["/p0"]
    told = json.loads(imported(monkeypatch, paths, "--json").out)

    assert [each["tool"] for each in told["removed"]] == ["same"]
    assert (told["new"], told["renamed"], told["moved"]) == ([], [], [])
    assert [tool["name"] for tool in json.loads(LOCK.read_text())["tools"]] == ["same_2", "same_3"]


def test_names_that_providers_refuse_are_told_once_and_kept_with_their_places(monkeypatch: pytest.MonkeyPatch) -> None:
    query = [{"name": f"pagination[{key}]", "in": "query", "schema": {}} for key in ("page", "pageSize")]
    paths = {"/posts/{id}": {"get": operation("posts/find one", "Find", parameters=query)}}
    assert imported(monkeypatch, paths).out.splitlines()[2:5] == [
        "  mapped   `posts/find one` -> `posts_find_one`",
        "  mapped   `pagination[page]` -> `pagination_page`",
        "  mapped   `pagination[pageSize]` -> `pagination_pageSize`",
    ]
    assert json.loads(LOCK.read_text())["tools"][0]["operation"]["arguments"] == {
        "pagination_page": {"in": "query", "name": "pagination[page]"},
        "pagination_pageSize": {"in": "query", "name": "pagination[pageSize]"},
    }
    assert "mapped" not in imported(monkeypatch, paths).out


def test_an_operation_id_of_two_requests_is_told_with_both_names_once(monkeypatch: pytest.MonkeyPatch) -> None:
    twice = {path: {"get": operation("same", f"Read {path}")} for path in ("/a", "/b", "/c")}
    first = imported(monkeypatch, twice)

    assert "the second one is named `same_2`" in first.err
    assert "`same` -> `same_3`" in first.out
    assert "mapped" not in imported(monkeypatch, twice).out


def test_entries_without_a_description_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    write(Path.cwd(), {"tools/mine.yaml": "tools:\n  listPosts:\n    before: None required\n"})
    ran = imported(monkeypatch, POSTS)

    assert "  1 without a description in their entries, found by their names only: listPosts\n" in ran.out
    assert reported(monkeypatch, POSTS, "--check")["undescribed"] == ["listPosts"]


def test_a_request_in_the_words_of_http_is_found_by_those_of_people(monkeypatch: pytest.MonkeyPatch) -> None:
    things = ("posts", "users", "categories", "media-files", "boxes", "roles", "pages")
    of_all: dict[str, Any] = {f"/api/v1/{name}": {"get": {}, "post": {}} for name in things}
    of_one: dict[str, Any] = {
        f"/api/v1/{name}/{{id}}": {m: {} for m in ("get", "put", "patch", "delete")} for name in things
    }
    imported(monkeypatch, of_all | of_one)
    engine = Engine.open(".")

    def best(query: str) -> str:
        return engine.search_tools(query).hits[0].tool.removeprefix("get_").replace("api_v1_", "")

    assert [best(f"create a {name}") for name in ("post", "user", "category", "page")] == [
        "post_posts",
        "post_users",
        "post_categories",
        "post_pages",
    ]
    assert (best("delete a post"), best("update a page"), best("list posts")) == (
        "delete_posts_id",
        "patch_pages_id",
        "posts",
    )


def test_two_thousand_operations_are_imported_and_the_next_change_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole command; `tests/bench/test_import.py` holds that its time grows with the operations alone."""
    paths = {f"/p{n}": {"get": operation(f"get{n}", f"Read number {n}", f"t{n % 40}")} for n in range(2_000)}
    first = imported(monkeypatch, paths)
    paths["/p7"]["get"]["operationId"] = "readSeven"
    del paths["/p1999"]
    told = reported(monkeypatch, paths)

    assert first.out.startswith("Mini: 2,000 tools listed, 2,000 new")
    assert [(each["tool"], each["now"]) for each in told["renamed"]] == [("get7", "readSeven")]
    assert [each["tool"] for each in told["removed"]] == ["get1999"]
    assert (told["new"], told["changed"], told["moved"]) == ([], [], [])
