"""Snapshots: text that people read, and that tells every two prompts apart."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard import Engine, InputError, ToolResult, Turn
from cuecard.workbench.testing.difference import difference
from cuecard.workbench.testing.goldens import hold
from cuecard.workbench.testing.snapshot import Snapshot, SnapshotSection

LINES = st.lists(st.sampled_from(["", "a", "=== a | call | 1 token", "\\=== a", "\\\\===", "=== left out", " "]))
PARTS = st.builds(
    SnapshotSection,
    st.text("ab-_.", min_size=1, max_size=4),
    st.sampled_from(["static", "call", "step"]),
    st.integers(0, 10**7),
    st.one_of(LINES.map("\n".join), st.text()),
)
SNAPSHOTS = st.builds(
    Snapshot,
    st.dictionaries(st.sampled_from(["agent", "tokens"]), st.text("ab :", min_size=1).map(str.strip).filter(bool)).map(
        lambda facts: dict(sorted(facts.items()))
    ),
    st.lists(PARTS, max_size=4).map(tuple),
    st.lists(st.text("ab :|=", min_size=1).map(str.strip).filter(bool), max_size=2).map(tuple),
)


@given(SNAPSHOTS)
def test_what_is_written_is_what_is_read(snapshot: Snapshot) -> None:
    assert Snapshot.parse(snapshot.to_text(), "s.txt") == snapshot


@given(SNAPSHOTS, SNAPSHOTS)
def test_two_prompts_have_one_text_only_if_they_are_equal(one: Snapshot, other: Snapshot) -> None:
    assert (one.to_text() == other.to_text()) == (one == other)
    assert bool(difference(one, other)) == (one != other)


def test_a_checkout_with_other_line_ends_holds_the_same_snapshot(tmp_path: Path) -> None:
    engine = Engine.open("prompts/cms")
    found = Snapshot.of(engine.prepare_step(engine.prepare_call(Turn())))
    held = tmp_path / "first.txt"
    held.write_bytes(found.to_text().replace("\n", "\r\n").encode())

    assert hold(held, found).became == "equal"


def test_a_snapshot_shows_sections_tools_blocks_and_cuts() -> None:
    engine = Engine.open("prompts/cms")
    call = engine.prepare_call(Turn(model="claude-opus-4-8"))
    step = engine.prepare_step(call, [ToolResult("tool_search", {"tools": ["cms_createPage"]}, "call-1")])

    text = Snapshot.of(step).to_text()

    assert text.startswith("cuecard snapshot 1\nagent: cms\ndelivery: append\nmodel: claude-opus-4-8\n")
    assert "\n=== identity | static | " in text
    assert "\n=== appended: search result call-1 | step | " in text
    assert "cms_createPage" in text.partition("tools: ")[2].partition("\n")[0]
    for segment in step.segments:
        assert segment.text in text


def test_a_difference_names_the_section_its_lines_tokens_and_what_is_read_again() -> None:
    parts = (
        SnapshotSection("a", "static", 10, "one\n"),
        SnapshotSection("b", "call", 5, "two\nthree\n"),
        SnapshotSection("c", "call", 7, "four\n"),
    )
    before = Snapshot({"agent": "x", "model": "claude-opus-4-8", "tokens": "22"}, parts)
    after = Snapshot(
        {"agent": "x", "model": "claude-opus-4-8", "tokens": "23"},
        (parts[0], SnapshotSection("b", "call", 6, "two\n3\n"), parts[2]),
        ("c: budget: 3 tokens",),
    )

    lines = difference(before, after)

    assert lines[:2] == ["tokens: 22 -> 23", "section `b`: 5 -> 6 tokens"]
    assert {"  -three", "  +3"} <= set(lines)
    assert "left out: c: budget: 3 tokens" in lines
    assert "cache: the shared start ends after 1 of 3 sections; 13 of 23 tokens are read again" in lines
    assert lines[-1].startswith("cost: ")


def test_new_gone_and_moved_sections_are_reported() -> None:
    a, b, c = (SnapshotSection(name, "static", 1, name) for name in "abc")

    assert "section `c`: new, 1 token" in difference(Snapshot({}, (a, b)), Snapshot({}, (a, b, c)))
    assert "section `a`: removed, 1 token" in difference(Snapshot({}, (a, b)), Snapshot({}, (b,)))
    assert "order: b, a" in difference(Snapshot({}, (a, b)), Snapshot({}, (b, a)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no snapshot"),
        ("cuecard snapshot 9\n", "another version"),
        ("cuecard snapshot 1\n=== a | static\nx\n", "does not begin a section"),
    ],
)
def test_anything_but_a_snapshot_is_refused_with_a_way_out(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        Snapshot.parse(text, "s.txt")

    assert "--cue-update" in str(caught.value)
