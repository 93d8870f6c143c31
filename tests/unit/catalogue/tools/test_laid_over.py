"""Entries of a later item of `tools: instructions:` change those of an earlier one, in an agent with `extends`."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuecard import Engine, SpecError
from cuecard.types import ToolInstructions

BASE = """category: posts
described: {tool_search: {description: Find tools}, list: {description: List posts}}
tools:
  publish:
    {description: Publish a post, phrases: go live, before: Check it., after: Say so., next: list, gotcha: Once.}
"""


def opened(folder: Path, *overlays: str, extends: bool = True) -> Engine:
    """An agent whose items are `base`, and one folder for each overlay."""
    for name, text in (("base", BASE), *((f"over{n}", text) for n, text in enumerate(overlays))):
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "tools.yaml").write_text(text, encoding="utf-8")
    items = ", ".join(["base", *(f"over{n}" for n in range(len(overlays)))])
    sections = "sections: [{id: role, text: You help.}, {id: i, text: '{{{activeProtocols}}}'}]\n"
    (folder / "house.yaml").write_text(f"agent: house\n{sections}", encoding="utf-8")
    start = "extends: house.yaml\n" if extends else sections
    tools = f"tools: {{instructions: [{items}], core: [tool_search]}}\n"
    (folder / "agent.yaml").write_text(f"agent: a\n{start}{tools}", encoding="utf-8")
    return Engine.open(folder)


def test_what_an_entry_gives_replaces_and_what_it_does_not_give_stays(tmp_path: Path) -> None:
    card = opened(tmp_path, "tools: {publish: {gotcha: [Only the owner., Never on Sundays.]}}").tools["publish"]

    assert card.instructions == ToolInstructions("Check it.", "Say so.", "list", "Only the owner.\n- Never on Sundays.")
    assert (card.description, card.phrases, card.category) == ("Publish a post", ("go live",), "posts")
    assert card.source == "over0/tools.yaml:1"


def test_null_removes_a_text_and_later_items_go_on_from_there(tmp_path: Path) -> None:
    engine = opened(
        tmp_path,
        "category: own\ntools: {publish: {before: null, phrases: null, description: Put online}}",
        "tools: {publish: {after: null, gotcha: null}}",
    )
    card = engine.tools["publish"]

    assert card.instructions == ToolInstructions(next="list")
    assert (card.description, card.phrases, card.category) == ("Put online", (), "own")
    assert engine.warnings == ()


def test_a_tool_without_instructions_may_get_some_and_lose_them(tmp_path: Path) -> None:
    told = opened(tmp_path, "tools: {list: {after: Show ten.}}").tools["list"]
    silent = opened(tmp_path, "tools: {publish: {before: null, after: null, next: null, gotcha: null}}")

    assert (told.instructions, told.description) == (ToolInstructions(after="Show ten."), "List posts")
    assert silent.tools["publish"].instructions is None
    assert [problem.code for problem in silent.warnings] == ["no-instructions"]


def test_a_description_alone_keeps_the_instructions(tmp_path: Path) -> None:
    engine = opened(tmp_path, "described: {publish: {description: Veröffentlichen}}")

    assert engine.tools["publish"].description == "Veröffentlichen"
    assert "BEFORE: Check it." in engine.instructions["publish"]
    assert list(engine.tools) == list(opened(tmp_path).tools)


@pytest.mark.parametrize(
    ("overlay", "extends", "code"),
    [
        ("tools: {publish: {gotcha: Mine.}}", False, "duplicate-tool"),
        ("tools: {save: {gotcha: null}}", True, "wrong-value"),
        ("tools: {publish: {gotcha: null}}", False, "wrong-value"),
        ("tools: {publish: null}", True, "wrong-value"),
        ("tools: {publish: {gotch: Mine.}}", True, "unknown-key"),
    ],
)
def test_what_is_no_overlay_stays_an_error(tmp_path: Path, overlay: str, *, extends: bool, code: str) -> None:
    with pytest.raises(SpecError) as caught:
        opened(tmp_path, overlay, extends=extends)

    assert {problem.code for problem in caught.value.problems} == {code}


def test_two_entries_within_one_item_stay_an_error(tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "more.yaml").write_text("tools: {publish: {gotcha: Twice.}}", encoding="utf-8")

    with pytest.raises(SpecError, match="instructions in two places") as caught:
        opened(tmp_path, "tools: {publish: {gotcha: Mine.}}")

    assert [problem.code for problem in caught.value.problems] == ["duplicate-tool"]


def test_a_name_that_no_tool_has_is_told_where_it_is_in_force(tmp_path: Path) -> None:
    overridden = opened(tmp_path, "tools: {publish: {next: publish_page}}")
    again = opened(tmp_path, "tools: {publish: {next: publish_page}}", "tools: {publish: {next: list}}")

    assert [problem.code for problem in overridden.warnings] == ["unknown-tool"]
    assert again.warnings == ()


def test_an_entry_that_misses_the_one_below_by_a_letter_is_told(tmp_path: Path) -> None:
    engine = opened(tmp_path, "tools:\n  publsh: {gotcha: Only the owner.}\n  archive: {gotcha: Ask.}\n")
    own = opened(tmp_path, "tools: {publsh: {description: Put a press release online, gotcha: Only the owner.}}")

    (warning,) = engine.warnings
    assert (warning.code, warning.hint, warning.span and warning.span.line) == (
        "unknown-tool",
        "did you mean `publish`?",
        2,
    )
    assert own.warnings == ()


@pytest.mark.parametrize(
    ("below", "over", "told"),
    [
        ("get_post", "get_posts", False),
        ("getPosts", "getPost", False),
        ("get_post", "set_post", False),
        ("get_post_v1", "get_post_v2", False),
        ("get_post", "get-post", True),
        ("getPost", "getpost", True),
        ("get_post", "gte_post", True),
    ],
)
def test_an_entry_of_another_tool_of_the_program_is_none_that_misses_one(
    tmp_path: Path, below: str, over: str, *, told: bool
) -> None:
    engine = opened(tmp_path, f"tools: {{{below}: {{gotcha: Once.}}}}", f"tools: {{{over}: {{gotcha: Twice.}}}}")

    assert [each.code for each in engine.warnings] == ["unknown-tool"] * told
