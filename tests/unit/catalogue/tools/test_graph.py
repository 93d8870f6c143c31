from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard import ToolCard, errors
from cuecard.catalogue.graph import Edge, tool_graph
from cuecard.catalogue.unknown_names import KnownNames, strange_words, unknown_names, words_of
from cuecard.types import ToolInstructions


def card(name: str, before: str = "", next_: str = "", *, after: str = "", gotcha: str = "") -> ToolCard:
    return ToolCard(name, instructions=ToolInstructions(before, after, next_, gotcha))


def test_before_leads_to_the_tool_and_next_away_from_it() -> None:
    graph = tool_graph([card("get"), card("update", "get the page", "publish (if asked)"), card("publish")])

    assert graph.edges == (Edge("get", "update", "before"), Edge("update", "publish", "next"))


@pytest.mark.parametrize(
    "text",
    [
        "cms_getPage",
        "cms_getPage, then go",
        "(cms_getPage)",
        "`cms_getPage`.",
        "first:\n- cms_getPage",
        "cms_getPage/x",
    ],
)
def test_names_are_found_as_whole_words(text: str) -> None:
    graph = tool_graph([card("cms_getPage"), card("b", text)])

    assert graph.edges == (Edge("cms_getPage", "b", "before"),)


@pytest.mark.parametrize("text", ["cms_getPages", "my_cms_getPage", "x-cms_getPage", "cms_getPage-all", "CMS_getPage"])
def test_parts_of_words_are_not_names(text: str) -> None:
    assert tool_graph([card("cms_getPage"), card("b", text)]).edges == ()


def test_the_longest_name_wins() -> None:
    names = ("read-file", "read", "read.file/all", "read.file")
    graph = tool_graph([*map(card, sorted(names)), card("b", "", ", ".join(names))])

    assert graph.edges == tuple(Edge("b", name, "next") for name in names)


def test_names_with_characters_of_patterns_are_plain_text() -> None:
    graph = tool_graph([card("a.b"), card("c", "axb a.b")])

    assert graph.edges == (Edge("a.b", "c", "before"),)


def test_only_before_and_next_make_edges_and_none_leads_to_itself() -> None:
    graph = tool_graph([card("x"), card("y", "y", "y again", after="x", gotcha="x")])

    assert graph.edges == ()


def test_each_edge_is_there_once() -> None:
    assert tool_graph([card("x"), card("y", "x, or x")]).edges == (Edge("x", "y", "before"),)


def test_tools_without_instructions_are_only_led_to() -> None:
    assert tool_graph([ToolCard("a"), card("b", "a")]).edges == (Edge("a", "b", "before"),)
    assert tool_graph([]).edges == ()


def test_neighbours_are_named_once_each() -> None:
    graph = tool_graph([card("a", "", "c"), card("b", "", "c"), card("c", "a")])

    assert graph.before("c") == ("a", "b")
    assert graph.after("a") == ("c",)
    assert (graph.before("a"), graph.after("c"), graph.after("unheard of")) == ((), (), ())


def test_the_graph_around_one_tool_has_all_of_its_edges() -> None:
    cards = [card("a", "", "c"), card("b", "c"), card("c", "d", "e"), card("d"), card("e")]

    assert {*tool_graph(cards, "c").edges} == {*tool_graph(cards).edges}
    assert tool_graph(cards, "a").edges == (Edge("a", "c", "next"),)


KNOWN = ("cms_getPage", "pexels_getPhoto", "acknowledge", "readFile")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cms_getPgae to verify", ["cms_getPgae"]),
        ("see cms_getPage and pexels_getPhoto", []),
        ("cms_a, cms_b, cms_a", ["cms_a", "cms_b"]),
        ("readAll lines", ["readAll"]),
        ("read_all, reading, ready, Readme", ["read_all"]),
        ("publish_page, then listPages", ["publish_page", "listPages"]),
        ("pageId, imageField, confirmed:true, other_thing, acknowledged", []),
        ("start_date, search_term, list_id, in_progress, cms_id, created_at", []),
        ('with status "cms_draft" and cms_mode=cms_fast', ["cms_fast"]),
        ("cms_getPage-style answers, a read-only page, an add-on", []),
        ("see https://cms_host.example/cms_page or pages.cms_items", []),
        ("cms_", []),
        (f"cms_{'a' * 124} cms_{'b' * 125}", [f"cms_{'a' * 124}"]),  # no name is longer
    ],
)
def test_words_shaped_like_the_known_names_are_reported(text: str, expected: list[str]) -> None:
    assert [word for _, word in unknown_names(card("x", text), KnownNames.of(KNOWN))] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("get-page, then get-usr", ["get-usr"]),
        ("get-page-sections", ["get-page-sections"]),
        ("publish-page", ["publish-page"]),
        ("a follow-up, read-only, well-known, get-page-like", []),
    ],
)
def test_names_with_hyphens_are_read_whole(text: str, expected: list[str]) -> None:
    known = KnownNames.of(["get-page", "get-user", "get-page-section"])

    assert [word for _, word in unknown_names(card("x", text), known)] == expected


@pytest.mark.parametrize(
    ("known", "text", "expected"),
    [
        (
            "get_page",
            "Call order_state, never call the tool order_a; and call the the order_b",
            "order_state order_a order_b",
        ),
        ("get_page", "recall order_state, call it order_state, you call order_state", ""),
        ("get_page", "Invoke orderState, or invoke order-state, or order_state", ""),
        ("getPage", "please call orderState, calling orderState2, then call order_state", "orderState orderState2"),
        ("getPage x_y", "Use `orderState` or run `order_state`", "orderState order_state"),
        (
            "get_page",
            "use `order_id`, USING THE TOOL `order_a`, run `order_b`, via `a_b` with the `c_d`",
            "order_a order_b a_b c_d",
        ),
        ("get_page", "use order_lookup, `order_lookup`, used `order_lookup`, with the page `order_lookup`", ""),
        ("get_page", "the order_state tool, `order_lookup` tool, `order_b()` tool", "order_state order_lookup order_b"),
        ("get_page", "the order_state tools, `order_b` () tool, order_c (tool)", ""),
        ("get_page order_state", "Call order_state. The order_state tool. Use `order_state`", ""),
        ("order", "Call order_state. The orderState tool. Use `order_lookup`", ""),
        ("get_page", "Call get_pgae with the get_usr tool", "get_pgae! get_usr!"),
        ("get-page", "see get-user, get-page-like, get-user-like, get-pgae", "get-pgae!"),
        ("getPage", "see getUser-style and getPage-style, getPgae-", "getPgae!"),
        ("get_page getUser", "see get_all, getAll, GetAll and get-all", "get_all! getAll! GetAll!"),
        ("get_page", "see set_all, setAll, set-all, _set_all, set_all_ids, set_id_all", "set_all! set_id_all!"),
        ("getPage", "see set_all, setAll, set-all, SetAll", "setAll! SetAll!"),
        ("page-get", "see page-get-by-section, page-set", "page-set!"),
        ("page_get", "see set_all, page_set, pages_set", "page_set!"),
        ("getXml", """see 'it', "getIt", getHtml""", "getHtml!"),
        ("cms_x-y", "see cms_z, cms-z", "cms_z!"),
        ("__init page", "see __all_b, _set_all and page__set", ""),
    ],
)
def test_words_that_a_text_calls_tools_or_that_look_like_one(known: str, text: str, expected: str) -> None:
    """An exclamation mark stands for those that look like one."""
    found = [*strange_words(text, KnownNames.of(known.split()))]

    assert [f"{each.word}{'!' * each.alike}" for each in found] == expected.split()
    assert all(text[each.at :].startswith(each.word) for each in found)


def test_names_of_parameters_and_values_are_read_at_any_depth_that_people_write() -> None:
    inner = {"properties": {"a": {"const": "b", "default": "c"}, 1: {"enum": ("d", 2)}}, "enum": "no list"}
    schema = {"properties": [{"default": 3, "properties": {"e": {}}}], "items": [({"const": "f"},), inner]}

    assert [*words_of(schema)] == ["e", "f", "a", "1", "b", "c", "d"]
    for depth in (20, 21):
        deep: object = {"const": "x"}
        for _ in range(depth):
            deep = [deep]
        assert [*words_of(deep)] == ["x"] * (depth == 20)


def slips(name: str, at: int, letter: str) -> dict[str, str]:
    before, after = name[:at], name[at + 1 :]
    return {
        "left out": before + after,
        "added": before + letter + name[at:],
        "changed": before + letter + after,
        "swapped": before + after[:1] + name[at] + after[1:],
    }


@given(st.sampled_from(KNOWN), st.integers(0, 1_000), st.sampled_from("aZ_9"))
def test_a_name_with_one_slip_in_it_is_known_for_what_was_meant(name: str, at: int, letter: str) -> None:
    known = KnownNames.of([name])

    for kind, word in slips(name, at % len(name), letter).items():
        assert known.meant(word) == name, (kind, word)


def test_a_word_is_compared_with_few_names_of_thousands(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []
    closest: Callable[[str, Iterable[str], float], str] = errors.closest

    def spy(word: str, names: Iterable[str], cutoff: float) -> str:
        compared.extend(names := list(names))
        return closest(word, names, cutoff)

    monkeypatch.setattr("cuecard.catalogue.unknown_names.closest", spy)
    known = KnownNames.of(f"get_item_{n}" for n in range(5_000))

    assert known.meant("get_itm_42") == "get_item_42"
    assert set(compared) <= {"get_item_2", "get_item_4", "get_item_42"}


def test_parameters_at_any_depth_and_their_values_are_not_unknown_names() -> None:
    inner = {"type": "object", "properties": {"cms_state": {"enum": ["cms_draft", 3]}}}
    schema = {"properties": {"items": {"type": "array", "items": {"anyOf": [inner, {"const": "cms_none"}]}}}}
    told = ToolInstructions("cms_state is cms_draft or cms_none, never cms_other", "", "", "")

    found = unknown_names(ToolCard("x", input_schema=schema, instructions=told), KnownNames.of(KNOWN))

    assert found == [("before", "cms_other")]


def test_unknown_names_are_reported_in_every_field() -> None:
    found = unknown_names(card("x", "cms_a", "cms_c", after="cms_b", gotcha="cms_d"), KnownNames.of(KNOWN))

    assert found == [("before", "cms_a"), ("after", "cms_b"), ("next", "cms_c"), ("gotcha", "cms_d")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("order_status", ["order_status"]),
        ("`order_status`, order_state, or then page_path.\n- shipId", ["order_status", "page_path"]),
        ("order_status of the order", []),
        ("None", []),
        ("None required", []),
        ('the "order_status"', []),
    ],
)
def test_a_next_of_nothing_but_names_names_tools(text: str, expected: list[str]) -> None:
    known = KnownNames.of(["order_state", "customer"])

    assert [word for _, word in unknown_names(card("x", next_=text), known)] == expected
    assert unknown_names(card("x", text), known) == []


def test_the_tools_own_parameters_are_not_unknown_names() -> None:
    tool = ToolCard(
        "x", input_schema={"properties": {"cms_key": {}}}, instructions=ToolInstructions("cms_key", "", "", "")
    )

    assert unknown_names(tool, KnownNames.of(KNOWN)) == []
    assert unknown_names(ToolCard("x"), KnownNames.of(KNOWN)) == []


@pytest.mark.parametrize(
    ("known", "text", "expected"),
    [
        (("add_note", "search_notes"), "Look with find_notes first", ["find_notes"]),
        (("addNote", "searchNotes"), "Look with findNotes first", ["findNotes"]),
        (("add_note", "search_notes"), "Look with findNotes first; set sort_order, see note_title", []),
        (("cms_addNote", "cms_searchNotes"), "Look with find_notes first", []),
    ],
)
def test_an_old_name_is_reported_in_every_text_where_tools_are_named_by_verbs(
    known: tuple[str, ...], text: str, expected: list[str]
) -> None:
    assert [word for _, word in unknown_names(card("x", gotcha=text), KnownNames.of(known))] == expected
