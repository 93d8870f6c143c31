"""A YAML file is saved as its author wrote it: only what changed is written anew."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cuecard.config.documents.yaml import read_yaml
from cuecard.config.documents.yaml_edits import patched, same, with_value, without, written
from cuecard.errors import CuecardError, InputError

TURN = """\
# yaml-language-server: $schema=turn.schema.json
# A private conversation.
now: 2026-11-20T09:05:00+00:00  # a Friday

inputs:
  # where it came from
  channel: telegram # as the host calls it
  names: [Jana, Ben]
  days:
    # newest last
    - {date: "2026-11-17", summary: Rain.} # dull
    - {date: "2026-11-18", summary: Sun.}
    # nothing yet for today
memory:
  - type: page   # the page
    id: p-1
    name: |
      Home
      # not a comment
message: >-
  What happened
  this week?
# the end
"""


def value() -> dict[str, Any]:
    return read_yaml(TURN, "turn.yaml").value


def lines_that_changed(after: str) -> list[str]:
    before = TURN.splitlines()
    return [line for line in after.splitlines() if line not in before]


def test_a_file_that_need_not_change_stays_as_it_is() -> None:
    assert patched(TURN, value(), "turn.yaml") == TURN


def test_a_value_changes_on_its_line_and_keeps_the_comment_behind_it() -> None:
    new = value()
    new["inputs"]["channel"] = "slack"
    assert lines_that_changed(patched(TURN, new, "turn.yaml")) == ["  channel: slack # as the host calls it"]


def test_an_item_changes_alone() -> None:
    new = value()
    new["inputs"]["days"][0]["summary"] = "Hail: much"
    changed = lines_that_changed(patched(TURN, new, "turn.yaml"))
    assert changed in (
        ['    - {date: 2026-11-17, summary: "Hail: much"} # dull'],
        ['    - {date: "2026-11-17", summary: "Hail: much"} # dull'],
    )


def test_new_keys_and_items_stand_where_people_would_put_them() -> None:
    new = value()
    new["inputs"]["days"].append({"date": "today", "summary": "Fog."})
    new["memory"].insert(0, {"type": "page", "id": "p-2", "name": "About"})
    new["model"] = "claude-opus-5"
    made = patched(TURN, new, "turn.yaml", order=("now", "model", "inputs", "memory", "message"))
    assert lines_that_changed(made) == [
        "model: claude-opus-5",
        "    - {date: today, summary: Fog.}",
        "  - {type: page, id: p-2, name: About}",
    ]
    assert made.index("model:") < made.index("inputs:")


def test_a_key_leaves_and_its_neighbours_keep_their_comments() -> None:
    new = value()
    del new["inputs"]["channel"], new["message"]
    made = patched(TURN, new, "turn.yaml")
    assert read_yaml(made, "turn.yaml").value == new
    assert "# where it came from" in made
    assert "# the end" in made
    assert "newest last" in made


ENTRY = """\
tools:
  # the first
  one:   # with a comment
    description: Search by meaning
    phrases: [find it, "look for: it"]  # two
    before: 'None: required'   # why
    next: "two"
    gotcha: >-
      Spell out
      short queries
  two: {before: 'a, b', next: one, gotcha: x} # in braces
  three:
    before: |  # as a block
      one
      two
    after: "over
      two rows" # behind
"""


@pytest.mark.parametrize(
    ("path", "value", "row"),
    [
        (("one", "description"), "Search, by its meaning", "    description: Search, by its meaning"),
        (("one", "description"), "Search: all", '    description: "Search: all"'),
        (("one", "description"), "Search # all", '    description: "Search # all"'),
        (("one", "description"), "yes", '    description: "yes"'),
        (("one", "before"), "it's: so", "    before: 'it''s: so'   # why"),
        (("one", "before"), "blank at the end ", "    before: 'blank at the end '   # why"),
        (("one", "next"), "three", '    next: "three"'),
        (("one", "phrases"), ["find it", "see it"], '    phrases: [find it, "see it"]  # two'),
        (("two", "gotcha"), "y", "  two: {before: 'a, b', next: one, gotcha: \"y\"} # in braces"),
        (("two", "after"), "z", "  two: {before: 'a, b', next: one, gotcha: x, after: z} # in braces"),
    ],
)
def test_a_text_keeps_its_quotes_where_it_can(path: tuple[str, str], value: Any, row: str) -> None:
    made = with_value(ENTRY, ("tools", *path), value)
    assert [new for old, new in zip(ENTRY.splitlines(), made.splitlines(), strict=True) if old != new] == [row]


def test_a_folded_text_stays_folded_and_a_block_a_block() -> None:
    words = " ".join(["many"] * 40)
    made = with_value(with_value(ENTRY, ("tools", "one", "gotcha"), words), ("tools", "three", "before"), "only one\n")
    assert "gotcha: >-\n      many" in made
    assert max(map(len, made.splitlines())) <= 120
    assert "    # as a block\n    before: |\n      only one\n    after" in made


@pytest.mark.parametrize("text", ["one \ntwo", " one\ntwo", "one\n two", "one\n\n\ntwo", "a\a\nb"])
def test_a_folded_text_may_become_one_that_cannot_be_folded(text: str) -> None:
    new = {**value(), "message": text}
    assert read_yaml(patched(TURN, new, "turn.yaml"), "turn.yaml").value == new


def test_a_comment_behind_a_text_of_several_rows_stays() -> None:
    made = with_value(ENTRY, ("tools", "three", "after"), "one row")
    assert made.endswith('    # behind\n    after: "one row"\n')


def test_a_new_key_stands_where_its_order_has_it_and_another_leaves() -> None:
    order = ("description", "phrases", "before", "after", "next", "gotcha")
    made = with_value(ENTRY, ("tools", "one", "after"), "Say it", order=order)
    assert made.replace("    after: Say it\n", "", 1) == ENTRY
    assert made.index("after: Say it") < made.index("next: ")
    assert without(made, ("tools", "one", "after")) == ENTRY
    assert "{before: 'a, b', gotcha: x} # in braces" in without(ENTRY, ("tools", "two", "next"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: &x {b: c}\nd: *x\n", "an anchor"),
        ("a: {b: c}\na: {b: d}\n", "duplicate key"),
        ("a: {b: c\n", "yaml-syntax"),
        (
            "a: {b: c, # why\n  d: e}\n",
            "{file}: error[wrong-edit]: {what} is written in a way that cannot be changed alone",
        ),
    ],
)
def test_what_cannot_be_edited_is_refused_with_its_reason(text: str, told: str) -> None:
    new = {"b": "x", "f": "g"}
    with pytest.raises(CuecardError) as one:
        with_value(text, ("a",), new)
    with pytest.raises(CuecardError) as all_of_it:
        patched(text, {"a": new}, "mine.yaml")

    assert told.format(file="edit", what="`a`") in str(one.value)
    assert told.format(file="mine.yaml", what="the file") in str(all_of_it.value)


def test_a_refused_edit_says_the_way_out() -> None:
    text = "a: {b: c, # why\n  d: e}\n"
    edits: dict[str, Callable[[], str]] = {
        "edit the file itself": lambda: without(text, ("a", "b")),
        "save under another name": lambda: patched(text, {"a": {"f": "g"}}, ""),
    }
    for way, edit in edits.items():
        with pytest.raises(InputError) as caught:
            edit()
        assert [problem.hint for problem in caught.value.problems] == [way]


def test_what_is_not_there_is_not_edited() -> None:
    for path in (("tools", "four", "next"), ("tools", "one", "phrases", 2)):
        with pytest.raises(LookupError):
            with_value(ENTRY, path, "x")
    with pytest.raises(LookupError):
        without(ENTRY, ("tools", "four"))


SHIPPED = sorted(Path("prompts").rglob("turns/*.yaml"))
TEXTS = st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(
    ["a\nb", "- x", "yes", "1", "# no", "a: b", "a # b", "  x", "x\n", "\n", "{", "@a", "a\n b\n", "2026-11-17"]
)
SCALARS = st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    SCALARS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS.filter(bool), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(TEXTS, VALUES, min_size=1, max_size=4))
def test_a_new_file_reads_back_as_it_was(new: dict[str, Any]) -> None:
    assert same(read_yaml(written(new), "new.yaml").value, new)


@given(st.data(), st.sampled_from(SHIPPED))
def test_any_value_of_a_shipped_turn_can_change_and_no_comment_line_is_lost(data: st.DataObject, path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    new = read_yaml(text, path.name).value
    for key in data.draw(st.lists(st.sampled_from([*new]), max_size=2, unique=True)):
        new[key] = data.draw(VALUES)
    new["inputs"] = {**(new.get("inputs") if isinstance(new.get("inputs"), dict) else {}), "x": data.draw(VALUES)}  # type: ignore[dict-item]  # mypy sees one call's type, and not the other's
    made = patched(text, new, path.name)
    read = read_yaml(made, path.name).value
    assert same(dict(sorted(read.items())), dict(sorted(new.items())))
    for comment in re.findall(r"(?m)^#.*$", text):
        assert comment in made


ENTRIES = sorted(Path("tool_instructions").rglob("*.yaml"))


@given(st.data(), st.sampled_from(ENTRIES), TEXTS)
def test_an_edit_of_a_shipped_entry_changes_no_line_of_another(data: st.DataObject, path: Path, text: str) -> None:
    before = path.read_text(encoding="utf-8")
    tools = read_yaml(before, path.name).value["tools"]
    tool = data.draw(st.sampled_from([*tools]))
    key = data.draw(st.sampled_from(["description", "before", "after", "next", "gotcha"]))
    made = with_value(before, ("tools", tool, key), text)
    assert read_yaml(made, path.name).value["tools"] == {**tools, tool: {**tools[tool], key: text}}
    old, new = before.splitlines(), made.split("\n")
    at = old.index(f"  {tool}:")
    assert new[: at + 1] == old[: at + 1]
    rest = next((n for n in range(at + 1, len(old)) if not old[n].startswith("    ")), len(old))
    assert new[len(new) - 1 - len(old[rest:]) : -1] == old[rest:]


@given(st.sampled_from(["", "'", '"', "|", ">"]), TEXTS, TEXTS.filter(bool))
def test_any_text_takes_the_place_of_any_other(style: str, old: str, new: str) -> None:
    opened = {"": "x", "'": "'x'", '"': '"x"', "|": "|\n    x\n    y", ">": ">\n    x\n    y"}[style]
    behind = written({"l": old})
    assume("\n" not in behind[:-1])
    text = f"a:\n  k: {opened}\n  # between\n  {written({'l': old})}"
    made = with_value(text, ("a", "k"), new)
    assert read_yaml(made, "").value == {"a": {"k": new, "l": old}}
    assert "  # between\n" in made


@pytest.mark.parametrize(
    ("path", "value", "text"),
    [
        (("a", "b"), 3, "a: {\n  b: 3, c: [2,\n  x]} # why\n"),
        (("a", "c", 1), "y: z", 'a: {\n  b: 1, c: [2,\n  "y: z"]} # why\n'),
        (("a", "c"), [2], "a: {\n  b: 1, c: [2]} # why\n"),
        (("a",), {"b": 1, "c": [2, "x"], "d": None}, "a: {b: 1, c: [2,\n  x], d: null} # why\n"),
        (("a",), {"d": "no", "b": 1}, 'a: {b: 1, d: "no"} # why\n'),
    ],
)
def test_a_value_in_braces_changes_alone(path: tuple[str | int, ...], value: Any, text: str) -> None:
    assert with_value("a: {\n  b: 1, c: [2,\n  x]} # why\n", path, value) == text
