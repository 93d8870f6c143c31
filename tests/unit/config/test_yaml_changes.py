"""Of a file that changes in an entry, the entry alone is read; what is known then is what the whole text says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cuecard import SpecError
from cuecard.config.documents.document import Document
from cuecard.config.documents.yaml import MAX_DEPTH, MAX_NODES, read_yaml
from cuecard.config.documents.yaml_changes import read_change
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
        ("    before: |", "    before: |+"),
        ("described:", "  described:"),
        ("Know its id.", "{a: " * MAX_DEPTH + "}" * MAX_DEPTH),
        ("Know its id.", f"[{'a, ' * MAX_NODES}]"),
    ],
)
def test_what_reaches_beyond_an_entry_is_read_as_a_whole(old: str, new: str) -> None:
    text = TOOLS.replace(old, new)
    found = read_change(text, read_yaml(TOOLS, "tools.yaml"))
    assert found is None or said(found) == said(read_yaml(text, "tools.yaml"))


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
