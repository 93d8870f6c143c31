"""YAML laid out: what changes is white space, and never what it says."""

from __future__ import annotations

import re
from io import StringIO
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from cuecard import SpecError
from cuecard.config.documents.yaml import read_yaml
from cuecard.files.safe_read import read_text
from cuecard.workbench.fmt.yaml_layout import KeptError, formatted_yaml

ROOT = Path(__file__).parents[4]
FOLDERS = ("prompts", "tool_instructions", "examples", "tests", "docs", "clients")
FILES = sorted(
    path
    for path in chain.from_iterable((ROOT / folder).rglob("*.y*ml") for folder in FOLDERS)
    if path.suffix in {".yaml", ".yml"} and "node_modules" not in path.parts
)

MESSY = """\
# top
   # odd

a:   1   # c
b :   [ a,b , c ]
list:
- x
-   y: 1
    z:   |
       text\x20\x20
         more

    # after z
- - q
  -   r
# before c
c:
        # deep comment
        d: "quoted
           more\x20\x20
        end"
        e: plain
         more
        # end of c
   # half
f: { a: 1, "b": 2,c: 3 }
g: |2
    two
   x
h: |+
  keep


i: >-
      folded
      text


j:
    [a,
     b,   # in flow
   c]
k:\x20
  - |
    x
  -
    l: 1

  # trailing
m: ""\x20


"""

TIDY = """\
# top
# odd

a: 1   # c
b: [a, b, c]
list:
  - x
  - y: 1
    z: |
      text\x20\x20
        more

    # after z
  - - q
    - r
# before c
c:
  # deep comment
  d: "quoted
     more\x20\x20
  end"
  e: plain
   more
  # end of c
# half
f: {a: 1, "b": 2, c: 3}
g: |2
    two
   x
h: |+
  keep


i: >-
  folded
  text

j:
  [a,
   b,   # in flow
 c]
k:
  - |
    x
  -
    l: 1

  # trailing
m: ""
"""


def comments(text: str) -> list[str]:
    """Every comment, as another reader finds them."""
    tokens = YAML().scan(text)
    found: list[str] = []
    for token in tokens:
        for each in (token.comment or []) if isinstance(token.comment, list) else [token.comment]:
            for comment in each if isinstance(each, list) else [each]:
                found += [line.strip() for line in getattr(comment, "value", "").split("\n") if line.strip()]
    return found


def holds(text: str) -> str:
    """The promises, for one text that is YAML; the text as it is laid out, empty where it is kept."""
    try:
        once = formatted_yaml(text, "x")
    except KeptError:
        return ""
    assert once.endswith("\n")
    if once == text:  # so it says the same, and is done
        return once
    before, after = read_yaml(text, "x"), read_yaml(once, "x")
    assert formatted_yaml(once, "x") == once
    assert repr(after.value) == repr(before.value)
    assert re.sub(r"\s", "", once) == re.sub(r"\s", "", text)
    assert [key for key, _ in after.keys.items()] == [key for key, _ in before.keys.items()]
    return once


def test_a_messy_file_is_laid_out() -> None:
    assert formatted_yaml(MESSY, "x") == TIDY
    assert formatted_yaml(TIDY, "x") == TIDY
    assert comments(MESSY) == comments(TIDY) != []


@pytest.mark.repeats
@pytest.mark.parametrize("folder", FOLDERS)
def test_every_file_of_the_repository_says_the_same_and_is_done_after_once(folder: str) -> None:
    for path in FILES:
        if not path.is_relative_to(ROOT / folder):
            continue
        text = ""
        try:
            text = read_text(path).text
            once = holds(text)
        except SpecError:  # an example of what cannot be read
            with pytest.raises(SpecError):
                read_yaml(text or read_text(path).text, "x")
            continue
        assert once, path
        assert once == text or sorted(comments(once)) == sorted(comments(text)), path


def test_there_are_files_to_try() -> None:
    assert len(FILES) > 300


PIECES = ["a: 1", "b:", "- x", "-", "- - y", "- k: v", "c:   d", "e: [1,", "2 ]", "{ f: 1,g: 2 }", "h: |", "i: >-"]
PIECES += ["j: |2", "k: |+", "# comment", "l: m # n", '"o p"', "q: 'r", "s'", '- "t', 'u"', "text", "", "? v", ": w"]
PIECES += ["---", "...", "x : y", "&z 1", "*z", "\tt", "<<: 1", "a: é", '"\\', "- # c", "- |", "- |-", "k: # c", "b: ~"]
PIECES += ["1.0: 2", "- [a,b]", "'#': '#'", "z: a#b", "!!str x"]
LINES = st.tuples(st.integers(0, 9), st.sampled_from(PIECES), st.sampled_from(["", "", "", " ", "   ", "\t"]))


@given(st.lists(LINES, max_size=14))
@example([(0, "k: |+", ""), (2, "x", ""), (0, "", "   "), (0, "", "")])
def test_whatever_can_be_read_says_the_same(lines: list[tuple[int, str, str]]) -> None:
    text = "\n".join(" " * depth + piece + end for depth, piece, end in lines)
    try:
        read_yaml(text, "x")
    except SpecError:
        return
    holds(text)


KEYS = st.sampled_from(["a", "b", "c", "a b", "é", "x-y", "null"])
WORDS = st.one_of(st.text(max_size=30), st.integers(-5, 5), st.booleans(), st.none(), st.floats(allow_nan=False))
VALUES = st.recursive(
    WORDS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=12,
)


@given(st.dictionaries(KEYS, VALUES, min_size=1, max_size=5), st.integers(2, 7), st.integers(8, 90), st.data())
def test_what_another_printer_writes_says_the_same(
    value: dict[str, object], indent: int, width: int, data: st.DataObject
) -> None:
    printer, out = YAML(typ="safe", pure=True), StringIO()
    printer.default_flow_style, printer.allow_unicode = data.draw(st.booleans()), True
    printer.indent(mapping=indent, sequence=indent, offset=0)
    printer.width = width
    try:
        printer.dump(value, out)
        read_yaml(out.getvalue(), "x")
    except (YAMLError, SpecError):
        return
    holds(out.getvalue())


def test_levels_are_as_deep_as_they_should_be_whatever_they_were() -> None:
    for depth in (1, 3, 4, 8):
        deep = " " * depth
        text = f"a:\n{deep}b:\n{deep * 2}c: 1\n{deep * 2}d:\n{deep * 2}- x\n{deep}e: 2\n"
        assert formatted_yaml(text, "x") == "a:\n  b:\n    c: 1\n    d:\n      - x\n  e: 2\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [("? a\n: b\n", "written with `?`"), ('a: "x\x85y"\n', "U+0085"), ("a: 'x\u2028y'\n", "U+2028")],
)
def test_what_cannot_be_laid_out_stays_and_says_why(text: str, why: str) -> None:
    with pytest.raises(KeptError, match=re.escape(why)):
        formatted_yaml(text, "x")


@pytest.mark.parametrize("text", ["a: &x 1\nb: *x\n", "a: {<<: *x}\n", "a: 1\n---\nb: 2\n", "%YAML 1.2\n---\na: 1\n"])
def test_what_cuecard_cannot_read_is_an_error(text: str) -> None:
    with pytest.raises(SpecError):
        formatted_yaml(text, "x")


def test_a_very_long_line_stays_one_line() -> None:
    text = f"a: {'word ' * 20_000}end\nb: [{', '.join('x' * 1_000)}]\n"
    assert formatted_yaml(text, "x") == text


def test_a_document_that_says_where_it_begins() -> None:
    assert formatted_yaml("--- # begin\na:   1\n...\n", "x") == "--- # begin\na: 1\n...\n"
