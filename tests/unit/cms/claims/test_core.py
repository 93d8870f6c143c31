"""What the instructions of the core tools say, tried on the engine that answers them."""

from __future__ import annotations

from functools import cache

import pytest

from cuecard import Engine, ToolResult, Turn
from unit.cms.claims.claims import CMS, holds


@cache
def engine() -> Engine:
    return Engine.open(CMS)


@holds("tool_search", "Topics find nothing, or the wrong tools.")
@pytest.mark.parametrize("topic", ["summer sale", "mountains", "bees", "our new colleague Mira", "bakery"])
def test_a_topic_finds_nothing_that_writes_about_it(topic: str) -> None:
    assert "cms_createPost" not in engine().search_tools(topic).tools[:4]


@holds("tool_search", "Name the action as verb and object, two to five words")
@holds("tool_search", "No hit means other words, not that it cannot be done.")
@pytest.mark.parametrize(
    ("other", "words", "tool"),
    [
        ("Pinterest board", "search stock photos", "pexels_searchPhotos"),
        ("summer sale", "create blog post", "cms_createPost"),
        ("wipe", "delete a page", "cms_deletePage"),
        ("sandwich", "hide menu item", "cms_toggleNavigationItem"),
        ("kittens", "attach image to section", "cms_updateSectionImage"),
    ],
)
def test_a_verb_and_an_object_find_the_tool_where_other_words_did_not(other: str, words: str, tool: str) -> None:
    assert tool not in engine().search_tools(other).tools
    assert engine().search_tools(words).tools[0] == tool


@holds("tool_search", "Find tools by what they can do, and activate them")
@holds("tool_search", "Found tools can be called from the next step on", "read their instructions first")
@holds("acknowledge", "tool_search, or a tool that is already active")
@holds("acknowledge", "the turn continues")
@holds("tool_search", "tool_search again for the next capability", "Never search twice for a tool you have.")
def test_found_tools_are_active_in_the_next_step_with_their_instructions_and_stay() -> None:
    chat = engine().conversation()
    chat.user(Turn())
    first = chat.step([ToolResult("acknowledge", {"ok": True}, "a")])
    found = engine().search_tools("delete a page")
    second = chat.step([ToolResult("tool_search", found.to_json(), "b")])
    again = chat.step([ToolResult("tool_search", found.to_json(), "c")])
    other = chat.step([ToolResult("tool_search", engine().search_tools("create blog post").to_json(), "d")])

    assert "cms_deletePage" not in first.active_tools
    assert "tool_search" in first.active_tools
    assert "cms_deletePage" in second.active_tools
    assert "<cms_deletePage>\nBEFORE: " in second.appended[-1].text
    assert again.appended == second.appended
    assert {"cms_deletePage", "cms_createPost"} <= set(other.active_tools)
