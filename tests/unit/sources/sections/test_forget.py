"""The working memory forgets what was deleted, and shows what tools take, by the rules of the agent file."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cms_agent import cms
from cuecard import ConversationState, Entity, Memory, ToolResult, Turn
from cuecard.config.documents.validation import validate
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.results_spec import MemorySpec
from cuecard.config.words_spec import ENGLISH
from cuecard.sources.memory import memory_text, remember
from cuecard.types import Json

WORDS = ENGLISH.memory

PAGE = Entity("page", "page-4", "About Us")
SECTION = Entity("section", "sec-9", "Hero")
POST = Entity("post", "post-5", "Working from anywhere", "working-from-anywhere")
LINK = Entity("navigation item", "nav-5", "About", "About")
EVERYTHING = Memory((PAGE, SECTION, POST, LINK))


def rules(text: str) -> MemorySpec:
    return validate(read_yaml(text, "memory.yaml"), MemorySpec)


def left(tool: str, result: Json, spec: MemorySpec | None = None, **given: Any) -> tuple[Entity, ...]:
    result = ToolResult(tool, result, **given)
    return (
        remember(EVERYTHING, [result], spec, WORDS).entities if spec else cms().remember(EVERYTHING, [result]).entities
    )


@pytest.mark.parametrize(
    ("tool", "result", "expected"),
    [
        (
            "cms_deletePage",
            {
                "success": True,
                "page": {"id": "page-4", "title": "About Us"},  # shown once more, and not learned from it
                "deleted": ["page-4"],
                "deletedSections": ["sec-9"],
            },
            (POST, LINK),
        ),
        ("cms_deletePageSection", {"success": True, "deleted": ["sec-9"]}, (PAGE, POST, LINK)),
        ("cms_deletePageSections", {"success": True, "deleted": ["sec-1", "sec-9"]}, (PAGE, POST, LINK)),
        ("cms_deletePost", {"success": True, "deleted": ["post-5"]}, (PAGE, SECTION, LINK)),
        ("cms_removeNavigationItem", {"success": True, "removed": "About"}, (PAGE, SECTION, POST)),
        ("cms_deletePage", '{"success": true, "deleted": ["page-4"]}', (SECTION, POST, LINK)),
        (
            "cms_deletePage",
            [{"type": "text", "text": '{"success": true, "deleted": ["page-4"]}'}],
            (SECTION, POST, LINK),
        ),
        (
            "cms_deletePage",
            {"content": [], "structuredContent": {"success": True, "deleted": ["page-4"]}, "isError": False},
            (SECTION, POST, LINK),
        ),
    ],
)
def test_what_a_tool_says_is_gone_is_forgotten(tool: str, result: Json, expected: tuple[Entity, ...]) -> None:
    assert left(tool, result) == expected


@pytest.mark.parametrize(
    ("tool", "result"),
    [
        ("cms_deletePage", {"requiresConfirmation": True, "success": True, "deleted": ["page-4"]}),
        ("cms_deletePage", {"success": False, "deleted": ["page-4"]}),
        ("cms_deletePage", {"error": {"class": "reference"}}),
        ("cms_deletePage", {"success": True, "deleted": ["sec-9"]}),  # no page
        ("cms_deletePage", {"success": True, "deleted": ["page-40"]}),
        ("cms_deletePage", {"structuredContent": {"success": True, "deleted": ["page-4"]}, "isError": True}),
        ("cms_archivePost", {"success": True, "deleted": ["post-5"]}),  # a tool without a rule
        ("cms_deletePage", "page-4"),
        ("cms_deletePage", None),
    ],
)
def test_nothing_else_is_forgotten(tool: str, result: Json) -> None:
    assert left(tool, result) == EVERYTHING.entities


def test_an_error_deletes_nothing() -> None:
    assert left("cms_deletePage", {"success": True, "deleted": ["page-4"]}, is_error=True) == EVERYTHING.entities


@pytest.mark.parametrize(
    "gone", ["post-5", "working-from-anywhere", ["post-5"], {"id": "post-5"}, [{"id": "post-5", "title": "x"}, None]]
)
def test_what_is_gone_is_named_by_id_or_key_alone_in_a_list_or_as_an_object(gone: Json) -> None:
    spec = rules("forget: {drop: {at: result.gone}}")

    assert left("drop", {"result": {"gone": gone}}, spec) == (PAGE, SECTION, LINK)


@pytest.mark.parametrize(
    "odd", [True, None, 4.0, "", " ", [], {}, {"id": None}, "x" * 2000, pytest.param(10**5000, id="huge"), "page-4\0"]
)
def test_an_odd_id_of_what_is_gone_takes_nothing_along(odd: Json) -> None:
    keyless = Memory((Entity("page", "4", "A"), PAGE))
    spec = rules("forget: {drop: {at: gone}}")

    assert remember(keyless, [ToolResult("drop", {"gone": odd})], spec, WORDS) == keyless


def test_a_number_is_the_same_id_as_its_digits() -> None:
    spec = rules("forget: {drop: {}}")

    assert remember(Memory((Entity("page", "4", "A"),)), [ToolResult("drop", {"id": 4})], spec, WORDS) == Memory()


def test_patterns_pick_tools_and_every_rule_that_applies_is_used() -> None:
    spec = rules('forget: {"drop*": {at: a, type: page}, drop_it: [{at: b}, {at: c, when: really}]}')
    result = {"a": ["page-4", "sec-9"], "b": "post-5", "c": "About", "really": False}

    assert left("drop_it", result, spec) == (SECTION, LINK)
    assert left("drop_all", result, spec) == (SECTION, POST, LINK)


def test_the_line_of_an_entity_shows_what_tools_take() -> None:
    text, _ = memory_text(EVERYTHING, MemorySpec(per_type=3, total=10), WORDS)

    assert text.splitlines()[1:] == [
        *("pages:", '  - "About Us" (page-4)', "sections:", '  - "Hero" (sec-9)'),
        *("posts:", '  - "Working from anywhere" (working-from-anywhere)', "navigation items:", '  - "About" (About)'),
    ]


def test_a_renamed_slug_replaces_the_old_one_and_a_result_without_it_keeps_it() -> None:
    renamed = {"success": True, "post": {"id": "post-5", "title": "T", "slug": "anywhere"}}
    named = {"data": [{"id": "post-5", "type": "post", "name": "T"}]}
    memory = cms().remember(EVERYTHING, [ToolResult("cms_updatePost", renamed), ToolResult("cms_getImageUsage", named)])

    assert memory.entities[0] == Entity("post", "post-5", "T", "anywhere")


def test_this_page_is_never_the_page_that_was_just_deleted() -> None:
    chat = cms().conversation()
    chat.user(Turn())
    chat.step([ToolResult("cms_getPage", {"id": "page-1", "type": "page", "title": "Home"}, "a")])
    chat.step([ToolResult("cms_createPage", {"success": True, "page": {"id": "page-4", "title": "About Us"}}, "b")])
    chat.user(Turn())
    chat.step([ToolResult("cms_deletePage", {"success": True, "deleted": ["page-4"]}, "c")])
    chat.user(Turn())

    assert chat.memory == Memory((Entity("page", "page-1", "Home"),))
    assert "About Us" not in chat.step().appended[-1].text
    assert cms().load(cms().dump(chat)).memory == chat.memory


def test_a_key_survives_json_and_a_state_without_keys_is_read() -> None:
    state = ConversationState(memory=EVERYTHING)
    older = state.to_json()
    older["memory"]["entities"] = [{"type": "page", "id": "page-4", "name": "About Us"}]

    assert ConversationState.from_json(state.to_json()) == state
    assert ConversationState.from_json(older).memory == Memory((PAGE,))


def test_the_host_may_forget_by_key_and_an_empty_key_matches_nothing() -> None:
    chat = cms().conversation()
    chat.remember(EVERYTHING.entities)
    chat.forget("")
    assert chat.memory == EVERYTHING
    chat.forget("working-from-anywhere", "page-4")

    assert chat.memory.entities == (SECTION, LINK)


def test_the_host_may_forget_what_has_an_id_in_one_type_alone() -> None:
    chat = cms().conversation()
    chat.remember([Entity("page", "1", "Home"), Entity("post", "1", "Sale"), Entity("page", "2", "Team")])
    chat.forget("1", type="page")

    assert [(entity.type, entity.id) for entity in chat.memory.entities] == [("post", "1"), ("page", "2")]

    chat.forget(type="page")

    assert [entity.type for entity in chat.memory.entities] == ["post"]


def test_a_name_has_a_bound_and_its_cut_is_recorded() -> None:
    text, cuts = memory_text(
        Memory((Entity("page", "p", "x" * 100_000), PAGE)), MemorySpec(per_type=3, total=10), WORDS
    )

    assert f'  - "{"x" * 197}..." (p)' in text.splitlines()
    assert [(cut.what, cut.reason) for cut in cuts] == [("memory page p", "a name of more than 200 characters")]


def test_a_type_that_is_not_a_word_is_not_taken() -> None:
    result = {"id": "page-1", "type": "x" * 10_000, "title": "Home"}

    assert cms().remember(Memory(), [ToolResult("cms_getPage", result)]).entities[0].type == "page"


def test_a_star_names_the_key_of_every_other_type() -> None:
    spec = rules("{extract: [{at: a, type: page}, {at: b, type: post}], keys: {post: slug, '*': path}}")
    result = {"a": {"id": "1", "path": "/x", "slug": "y"}, "b": {"id": "2", "path": "/x", "slug": "y"}}

    assert [entity.key for entity in remember(Memory(), [ToolResult("t", result)], spec, WORDS).entities] == [
        "/x",
        "y",
    ]


IDS = st.sampled_from([f"page-{n}" for n in range(14)])
CALLS = st.lists(
    st.one_of(
        st.builds(lambda id_: ToolResult("cms_getPage", {"id": id_, "type": "page", "title": id_}), IDS),
        st.builds(lambda ids: ToolResult("cms_deletePage", {"success": True, "deleted": ids}), st.lists(IDS)),
    ),
    max_size=40,
)


@given(CALLS, st.lists(st.integers(0, 40), max_size=3).map(sorted))
def test_a_memory_is_the_same_however_its_results_were_portioned(calls: list[ToolResult], cuts: list[int]) -> None:
    memory, whole = Memory(), cms().remember(Memory(), calls)
    for start, end in zip([0, *cuts], [*cuts, len(calls)], strict=True):
        memory = cms().remember(memory, calls[start:end])
    last = {e: n for n, call in enumerate(calls) for e in call.result.get("deleted", [call.result.get("id")])}

    assert memory == whole
    assert len(whole.entities) <= 10
    assert all(calls[last[entity.id]].tool == "cms_getPage" for entity in whole.entities)


@given(CALLS)
@settings(max_examples=20)
def test_a_conversation_that_is_rebuilt_from_its_results_remembers_the_same(calls: list[ToolResult]) -> None:
    results = [replace(call, call_id=f"call-{number}") for number, call in enumerate(calls)]
    lived, rebuilt = cms().conversation(), cms().conversation()
    lived.user(Turn())
    for number, _ in enumerate(results, start=1):
        lived.step(results[:number])  # a host may hand over the whole history at each step
    rebuilt.user(Turn(), results)

    assert lived.memory == rebuilt.memory == cms().remember(Memory(), results)


def test_a_result_asks_for_confirmation_by_the_key_that_the_agent_file_names() -> None:
    spec = rules("forget: {drop: {at: gone}}")
    memory = Memory((Entity("page", "p1", "Home"),))
    asks = [ToolResult("drop", {"gone": "p1", "needsYes": True})]

    assert remember(memory, asks, spec, WORDS, asks="needsYes") == memory
    assert remember(memory, asks, spec, WORDS).entities == ()


def test_cuts_name_entities_by_type_and_id() -> None:
    entities = (*(Entity("page", str(n), "A") for n in range(1, 4)), Entity("post", "1", "B"), Entity("post", "3", "C"))

    text, cuts = memory_text(Memory(entities), MemorySpec(per_type=2, total=4), WORDS)

    assert '  - "B" (1)' in text
    assert [(cut.what, cut.reason) for cut in cuts] == [
        ("memory page 3", "more than memory.per_type"),
        ("memory post 3", "more than memory.total"),
    ]


COUNTED = """{extract: [{at: data}], types: {"*Article*": article, "*Page*": page}, forget: {"delete*": {at: gone}}}"""


def listed(tool: str, *ids: int) -> ToolResult:
    return ToolResult(tool, {"data": [{"id": n, "title": f"{tool} {n}"} for n in ids]})


def test_an_id_is_unique_within_its_type() -> None:
    memory = remember(Memory(), [listed("listArticles", 1, 2), listed("listPages", 1)], rules(COUNTED), WORDS)

    assert {(e.type, e.id) for e in memory.entities} == {("article", "1"), ("article", "2"), ("page", "1")}


@pytest.mark.parametrize(
    ("tool", "left"), [("deletePage", {"article"}), ("deleteArticle", {"page"}), ("deleteAnything", set())]
)
def test_a_rule_without_a_type_means_that_of_its_tool(tool: str, left: set[str]) -> None:
    results = [listed("listArticles", 1), listed("listPages", 1), ToolResult(tool, {"gone": 1})]

    assert {e.type for e in remember(Memory(), results, rules(COUNTED), WORDS).entities} == left


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"_id": "ab12:en:draft", "title": "Home"}, ("ab12:en:draft", "Home", "")),
        ({"id": 7, "documentId": "a1b2", "attributes": {"title": "Team", "slug": "team"}}, ("a1b2", "Team", "team")),
        ({"id": 7, "title": {"rendered": "About"}}, ("7", "About", "")),
        ({"id": 7, "title.rendered": "A key with a dot"}, ("7", "A key with a dot", "")),
        ({"id": 7, "title": ["a list"], "attributes": "a text"}, ("7", "Unnamed page", "")),
        ({"_id": None, "documentId": " ", "id": 8, "title": "Next in line"}, ("8", "Next in line", "")),
    ],
)
def test_ids_names_and_keys_stand_where_the_agent_file_says(item: Json, expected: tuple[str, str, str]) -> None:
    spec = rules(
        """{extract: [{at: data, type: page}], ids: {page: [_id, documentId, id], "*": other},
        names: {page: [title, title.rendered, attributes.title]}, keys: {page: attributes.slug}}"""
    )
    (entity,) = remember(Memory(), [ToolResult("t", {"data": [item]})], spec, WORDS).entities

    assert (entity.id, entity.name, entity.key) == expected


def test_objects_that_are_gone_have_their_ids_where_the_type_has_them() -> None:
    spec = rules("{ids: {page: _id}, forget: {drop: {at: gone}}}")
    memory = Memory((Entity("page", "a", "A"), Entity("post", "a", "B"), Entity("post", "1", "C")))
    gone = ToolResult("drop", {"gone": [{"_id": "a", "id": 1}]})

    assert remember(memory, [gone], spec, WORDS).entities == (Entity("post", "a", "B"),)
