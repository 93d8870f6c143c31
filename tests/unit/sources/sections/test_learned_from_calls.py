"""The working memory learns from what the model asked for, not only from what a tool returned."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cms_agent import cms
from command_line import run
from cuecard import Engine, Entity, InputError, Memory, Recorder, ToolResult, Turn

PAGE, POST = Entity("page", "page-4", "About"), Entity("post", "post-5", "News")
COLLECTIONS = """\
agent: shop
sections: [{id: role, text: You keep a shop.}]
tools: {core: all}
memory:
  extract:
    - {from: arguments, type: {at: collection}}
    - {at: item, type: {from: result, at: kind}}
  forget:
    deleteItem: {from: arguments, at: id, type: {at: collection}}
"""


@pytest.fixture
def shop(tmp_path: Path) -> Engine:
    (tmp_path / "agent.yaml").write_text(COLLECTIONS, encoding="utf-8")
    return Engine.open(tmp_path)


@pytest.mark.parametrize("arguments", [{"pageId": "page-4"}, '{"pageId": "page-4"}'])
def test_success_alone_forgets_the_page_that_was_asked_for(arguments: Any) -> None:
    chat = cms().conversation()
    chat.remember([PAGE, POST])
    chat.user(Turn())
    chat.step([ToolResult("cms_deletePage", {"success": True}, "c1", arguments=arguments)])

    assert chat.memory.entities == (POST,)


@pytest.mark.parametrize(
    "result",
    [
        ToolResult("cms_deletePage", {"success": True}, arguments={"pageId": "page-9"}),
        ToolResult("cms_deletePage", {"success": False}, arguments={"pageId": "page-4"}),
        ToolResult("cms_deletePage", {"success": True}, pending=True, arguments={"pageId": "page-4"}),
        ToolResult("cms_deletePage", {"success": True}, arguments="not JSON"),
        ToolResult("cms_deletePage", {"success": True}),
        ToolResult("cms_deletePost", {"success": True}, arguments={"slug": "page-4"}),
    ],
)
def test_nothing_else_forgets_it(result: ToolResult) -> None:
    assert cms().remember(Memory((PAGE,)), [result]).entities == (PAGE,)


@pytest.mark.parametrize("body", [None, "", "null", {}])
def test_one_tool_serves_all_collections_and_a_204_without_a_body_forgets(shop: Engine, body: Any) -> None:
    def call(tool: str, **arguments: str) -> ToolResult:
        return ToolResult(tool, body, arguments=arguments)

    made = [call("updateItem", collection=kind, id=f"{kind}-1", title=kind.upper()) for kind in ("post", "page")]
    memory = shop.remember(Memory(), made)
    assert memory.entities == (Entity("page", "page-1", "PAGE"), Entity("post", "post-1", "POST"))

    gone = shop.remember(memory, [call("deleteItem", collection="page", id="page-1")])
    assert [entity.id for entity in gone.entities] == ["post-1"]
    assert shop.remember(memory, [call("deleteItem", collection="post", id="page-1")]) == memory
    assert shop.remember(memory, [call("deleteItem", id="page-1")]) == memory, "a type that nobody says is not any type"


def test_a_type_may_stand_in_the_result(shop: Engine) -> None:
    found = ToolResult("getItem", {"kind": "tag", "item": {"id": "t-1", "name": "Blue"}})

    assert shop.remember(Memory(), [found]).entities == (Entity("tag", "t-1", "Blue"),)


def test_a_section_with_an_id_and_a_title_but_no_name_is_remembered() -> None:
    found = ToolResult("cms_updateSection", {"success": True, "section": {"id": "sec-1", "title": "Hero"}})

    assert cms().remember(Memory(), [found]).entities == (Entity("section", "sec-1", "Hero"),)


def test_no_state_keeps_the_arguments() -> None:
    chat = cms().conversation()
    chat.user(Turn())
    chat.step([ToolResult("cms_listPages", [], "c1", arguments={"secret": "hush"})])

    assert "hush" not in json.dumps(chat.to_json())


def test_arguments_that_are_no_json_are_refused_with_their_place() -> None:
    class Broken(dict[str, Any]):
        def items(self) -> Any:
            raise RuntimeError("no")

    with pytest.raises(InputError) as caught:
        cms().remember(Memory(), [ToolResult("cms_listPages", [], arguments=Broken(a=1))])

    assert caught.value.problems[0].name.startswith("results[0].arguments")


def test_a_recording_shows_what_was_learned_and_forgotten_by_which_rule(tmp_path: Path) -> None:
    with Recorder(tmp_path / "r.jsonl", texts=True) as recorder:
        chat = recorder.instrument(cms()).conversation()
        chat.user(Turn(conversation="c-1"))
        chat.step()
        made = {"success": True, "page": {"id": "page-4", "name": "About"}}
        chat.step([ToolResult("cms_createPage", made, "c1", arguments={"title": "About"})])
        chat.step([ToolResult("cms_getTheme", {"colour": "blue"}, "c2", arguments={})])
        chat.step([ToolResult("cms_deletePage", {"success": True}, "c3", arguments={"pageId": "page-4"})])
    shown = run("memory", "prompts/cms", str(tmp_path / "r.jsonl"))

    assert shown.stdout.splitlines() == [
        "conversation c-1",
        "  cms_createPage",
        '    + page "About" (page-4) by memory.extract[1]',
        "  cms_getTheme: no rule touched it",
        "  cms_deletePage",
        '    - page "About" (page-4) by memory.forget.cms_deletePage[1]',
        "at the end of c-1: nothing",
    ]
    told = json.loads(run("memory", "prompts/cms", str(tmp_path), "--json").stdout)
    assert [len(each["learned"]) + len(each["forgotten"]) for each in told["changes"]] == [1, 0, 1]


def test_a_recording_of_another_agent_or_without_texts_is_refused_in_clear_words(tmp_path: Path) -> None:
    for texts in (False, True):
        with Recorder(tmp_path / f"{texts}.jsonl", texts=texts) as recorder:
            chat = recorder.instrument(cms()).conversation()
            chat.user(Turn())
            chat.step()
            chat.step([ToolResult("cms_listPages", [], "c1")])

    other = run("memory", "prompts/mushroom", str(tmp_path / "True.jsonl"))
    bare = run("memory", "prompts/cms", str(tmp_path / "False.jsonl"))
    assert (other.exit_code, bare.exit_code) == (2, 2)
    assert "of the agent `cms`, not of `mushroom`" in " ".join(other.stderr.split())
    assert "record with texts" in bare.stderr
