"""A turn file is saved as its author wrote it: only what changed is written anew."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard.config.documents.yaml import read_yaml
from cuecard.errors import SpecError
from cuecard.studio.yaml_patch import patched, same, written

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


@pytest.mark.parametrize("text", ["{message: hello, now: null}\n", "{message: hello}"])
def test_what_stands_in_braces_is_not_rewritten(text: str) -> None:
    with pytest.raises(SpecError, match="save under another name"):
        patched(text, {"message": "hello", "query": "x"}, "turn.yaml")


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
