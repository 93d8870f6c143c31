"""A YAML file is saved as its author wrote it: only what changed is written anew."""

import json
import os
import re
from difflib import unified_diff
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
    assert patched("a: 1", {"a": 1}, "") == "a: 1"
    assert patched("a: 0.0", {"a": -0.0}, "") == "a: -0.0\n"
    assert patched("a: 1", {"a": 1, "b": 2}, "") == "a: 1\nb: 2\n"


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


EDITS = sorted(Path(__file__).with_name("edits").iterdir())


def rows_of(text: str, edit: str) -> str:
    """The rows that an edit changes: `a.b = VALUE`, perhaps with an order of keys, or `a.b gone`."""
    place, _, value = edit.removesuffix(" gone").partition(" = ")
    path = tuple(int(part) if part.isdigit() else part for part in place.split("."))
    value, _, order = value.partition(" in ")
    try:
        made = with_value(text, path, json.loads(value), order=order.split()) if value else without(text, path)
    except InputError as error:
        return f"! {error}\n".replace("\n  = ", "; ")
    except LookupError:
        return "! it is not there\n"
    return "".join([*unified_diff(text.splitlines(keepends=True), made.splitlines(keepends=True), n=0)][2:])


@pytest.mark.parametrize("path", EDITS, ids=lambda path: path.stem)
def test_each_edit_changes_these_rows_alone(path: Path) -> None:
    """Below a text, each edit with what it changes; `make golden` writes it anew, to be read."""
    text, line, table = path.read_text(encoding="utf-8").partition("=====\n")
    edits = [row for row in table.splitlines() if row[:1] not in {"", "@", "-", "+", "!"}]
    told = text + line + "".join(f"{edit}\n{rows_of(text, edit)}" for edit in edits)
    if os.environ.get("CUECARD_GOLDEN"):
        path.write_text(told, encoding="utf-8")

    assert told == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("text", ["one \ntwo", " one\ntwo", "one\n two", "one\n\n\ntwo", "a\a\nb"])
def test_a_folded_text_may_become_one_that_cannot_be_folded(text: str) -> None:
    new = {**value(), "message": text}
    assert read_yaml(patched(TURN, new, "turn.yaml"), "turn.yaml").value == new


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: &x {b: c}\nd: *x\n", "an anchor"),
        ("a: {b: c}\na: {b: d}\n", "duplicate key"),
        ("a: {b: c\n", "yaml-syntax"),
        (
            "a: {b: c, # why\n  d: e}\n",
            "{file}: error[wrong-edit]: {what} is written in a way that cannot be changed alone\n  = {way}",
        ),
    ],
)
def test_what_cannot_be_edited_is_refused_with_its_reason(text: str, told: str) -> None:
    new = {"b": "x", "f": "g"}
    with pytest.raises(CuecardError) as one:
        with_value(text, ("a",), new)
    with pytest.raises(CuecardError) as all_of_it:
        patched(text, {"a": new}, "mine.yaml")

    assert told.format(file="edit", what="`a`", way="edit the file itself") in str(one.value)
    assert told.format(file="mine.yaml", what="the file", way="save under another name") in str(all_of_it.value)


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


def test_a_new_file_is_written_as_people_write_it() -> None:
    new = {"a": {"b c": 1.5, "no": None}, "d": [1, "x, y"], "e": [{"f": "two\nrows"}], "g": "", "h": "é: \u200b"}
    assert written(new).splitlines() == [
        *("a:", '  "b c": 1.5', '  "no": null', 'd: [1, "x, y"]', "e:", "  - f: |-", "      two", "      rows"),
        *('g: ""', 'h: "é: \\U0000200B"'),
    ]


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
