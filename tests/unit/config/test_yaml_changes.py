"""Of a file that changes in an entry, the entry alone is read; what is known then is what the whole text says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cuecard import SpecError
from cuecard.config.documents.document import Document
from cuecard.config.documents.yaml import MAX_CHARACTERS, MAX_DEPTH, MAX_NODES, read_yaml
from cuecard.config.documents.yaml_changes import Lately, read_change
from unit.config.test_yaml_readers import PIECE, small

TOOLS = """\
category: pages
tools:
  get_page:
    before: Know its id.
    next: publish_page.
  # Of all, the most careful one.
  publish_page:
    before: |
      Ask first.

      Then ask again.
  drop_page: {before: Ask., gotcha: "It is gone."}
  list_pages:
    before: Nothing.
    phrases:
    - every page
    - what is there
described:
  ping: {description: answers}
"""
CHANGES = {
    "a text": ("Know its id.", "Know its id, or ask."),
    "a key": ("    next: publish_page.\n", ""),
    "a key more": (
        "    next: publish_page.\n",
        "    next: publish_page.\n    gotcha: |\n      It\n\n      may be new.\n",
    ),
    "a block": ("      Then ask again.\n", "      Then wait.\n\n"),
    "braces": ("{before: Ask., gotcha:", "{before: Ask twice., gotcha:"),
    "an item": ("    - what is there\n", "    - what is there\n    - all of them\n"),
    "how a block ends": ("    before: |", "    before: |+"),
    "how deep a block is": ("      Ask first.\n", "     Ask first.\n"),
    "a comment that goes": ("  # Of all, the most careful one.\n", ""),
    "a comment behind a key": ("  list_pages:\n", "  list_pages: # all\n"),
    "the order of items": ("    - every page\n    - what is there\n", "    - what is there\n    - every page\n"),
    "a key of another": ("ping: {description: answers}", "ping: {description: says}"),
    "a comment": ("    before: Nothing.\n", "    # Nothing at all.\n    before: Nothing.\n"),
}


def said(document: Document) -> tuple[Any, ...]:
    """All that a document says, in order; as texts, since 1 and true do not differ."""
    return repr(document.value), [*document.keys.items()], [*document.values.items()], document.warnings


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_read_by_itself(change: str) -> None:
    text = TOOLS.replace(*CHANGES[change])
    assert text != TOOLS
    found = read_change(text, read_yaml(TOOLS, "tools.yaml"))
    assert found is not None
    assert said(found) == said(read_yaml(text, "tools.yaml"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Know its id.", "Know *its* id. # or not\n  - x"),
        ("get_page:", "list_pages:"),
        ("Know its id.", '"Know its id.'),
        ("  # Of all", "...\n  # Of all"),
        ("described:", "  described:"),
        ("category: pages", "category: sites"),
        ('  drop_page: {before: Ask., gotcha: "It is gone."}\n', ""),
        ("Know its id.", "Know its #id."),
        ("Know its id.", "Know\tits id."),
        ("answers}\n", "answers}"),
        ("    next: publish_page.", "   next: publish_page."),
        ("tools:\n", "tools:\n\n"),
        ("      Ask first.", "    Ask first."),
        ("      Ask first.", "   # Ask first.\n      Ask first."),
        ("Know its id.", "x" * MAX_CHARACTERS),
        ("Know its id.", "{a: " * MAX_DEPTH + "}" * MAX_DEPTH),
        ("Know its id.", f"[{'a, ' * MAX_NODES}]"),
    ],
)
def test_what_reaches_beyond_an_entry_is_read_as_a_whole(old: str, new: str) -> None:
    assert old in TOOLS
    assert read_change(TOOLS.replace(old, new), read_yaml(TOOLS, "tools.yaml")) is None


def test_the_texts_read_last_are_known_by_text_and_name() -> None:
    lately = Lately()
    known = [lately("a: 1\n", f"{number}.yaml") for number in range(8)]
    assert [each.name for each in known] == [f"{number}.yaml" for number in range(8)]
    assert lately("a: 1\n", "0.yaml") is known[0]
    lately("a: 1\n", "8.yaml")

    assert lately("a: 1\n", "0.yaml") is known[0]
    assert lately("a: 1\n", "2.yaml") is known[2]
    assert lately("a: 1\n", "1.yaml") is not known[1]


def test_the_next_state_of_a_file_is_read_from_the_last_one() -> None:
    lately, other = Lately(), TOOLS.replace("Ask first.", "Ask them first.")
    first, second = lately(TOOLS, "tools.yaml"), lately(other, "tools.yaml")
    third = lately(other.replace("Know its id.", "Know it."), "tools.yaml")
    strange = lately(TOOLS.replace("Know its id.", "Know it."), "other.yaml")

    pages = [each.value["tools"]["publish_page"] for each in (first, second, third, strange)]
    assert third.value["tools"]["get_page"]["before"] == "Know it."
    assert [page is pages[1] for page in pages] == [False, True, True, False]
    assert strange.value["tools"]["drop_page"] is not first.value["tools"]["drop_page"]
    assert second.value["tools"]["drop_page"] is first.value["tools"]["drop_page"]


@st.composite
def changed(draw: Callable[[st.SearchStrategy[Any]], Any]) -> tuple[str, str]:
    """A file, and the same with some characters cut out and others put in."""
    text = "".join(draw(small()))
    at = draw(st.integers(0, len(text)))
    put = draw(PIECE | st.text(max_size=3) | st.sampled_from(["\n", "  ", "\n  ", " more", ": ", "- ", "#"]))
    return text, text[:at] + put + text[at + draw(st.integers(0, 12)) :]


@given(changed())
def test_any_change_says_what_the_whole_text_says(texts: tuple[str, str]) -> None:
    before, text = texts
    try:
        known = read_yaml(before, "a.yaml")
    except SpecError:
        assume(False)  # noqa: FBT003 - so its signature
    found = read_change(text, known)
    assert found is None or said(found) == said(read_yaml(text, "a.yaml"))
