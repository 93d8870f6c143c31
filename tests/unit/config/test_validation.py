"""What a file's values are told when they are not what its model has: at their place, with the way out."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from cuecard import Problem, SpecError
from cuecard.config.agent_file import AgentFile
from cuecard.config.documents.document import Path as Place
from cuecard.config.documents.document import inline_problem, problem_at
from cuecard.config.documents.validation import validate
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.turn_file import TurnFile
from cuecard.errors import Span

TYPES = "should be 'string', 'integer', 'number', 'boolean', 'list' or 'object'"
WRONG = "wrong-value:"
CUES = (
    f"{WRONG} `tools.cues` should name each of before, after, next and gotcha once, in `on_discovery` or `on_result`, "
    "and not all of them in `on_result`"
)
NOTHING = f"{WRONG} `results.a` would leave nothing of a result: give `head` or `tail` a number above 0"
PAIRS = "write `key: value` pairs, indented"


def test_a_place_behind_the_end_shows_no_line() -> None:
    sources = [problem_at("a.yaml", "one\ntwo\n", Span(line, 1), "code", "told", "").source for line in (0, 1, 2, 3)]

    assert sources == ["", "one", "two", ""]


TEXTS = """\
block: |
  one BAD

    three BAD
indent: |2
    two BAD
folded: >-
  one BAD
  two BAD, BAD

  three BAD
quoted: 'it is BAD'
double: "it is BAD"
escape: "\\t BAD"
plain: one BAD
  two BAD
  three BAD
rows: "one BAD
  two BAD

  three BAD"
list:
  - BAD one BAD
  - |
    x
    BAD
  - BAD
    and BAD
  - BAD-
    BAD
short: 'it''s BAD'
deep:
  in: >
    one
    BAD
  next: BAD
braces: {a: "x BAD",
  b: BAD}
"""


def test_a_place_in_a_text_is_a_place_in_its_file_however_it_is_written() -> None:
    document = read_yaml(TEXTS, "a.yaml")
    found = []
    for path in document.values:
        for number, row in enumerate(str(document.at(path)).split("\n"), 1) if document.is_scalar(path) else ():
            for word in re.finditer("BAD", row):
                inside = Problem(
                    "c", "m", "h", "b", Span(number, word.start() + 1, 3), chain=("d",), severity="warning"
                )
                found.append(inline_problem(document, path, inside))

    assert found == [
        Problem("c", "m", "h", "a.yaml", Span(number, word.start() + 1, 3), row, "warning", ("d",))
        for number, row in enumerate(TEXTS.split("\n"), 1)
        for word in re.finditer("BAD", row)
    ]


ESCAPED = """\
a: "\\x41 B"
b: A
c:
  "\\x41 B
  and Z"
d:
  e: "\\x41"
  f: 'A'
g: ""
h: |+


i: >-
  one
  two
"""
WORDS = [
    *((("a",), Span(1, 1), Span(1, 4, 8)), (("b",), Span(1, 2), Span(2, 5)), (("c",), Span(1, 1), Span(4, 3))),
    *((("c",), Span(1, 9), Span(5, 7)), (("d", "e"), Span(1, 1), Span(7, 6, 6)), (("d", "f"), Span(1, 2), Span(8, 8))),
    *((("g",), Span(1, 1), Span(9, 5)), (("h",), Span(1, 1), Span(11, 1)), (("i",), None, Span(13, 4))),
    *((("i",), Span(9, 9), Span(13, 4)), (("i",), Span(1, 40, 2), Span(13, 4)), (("i",), Span(1, 1, 9), Span(13, 4))),
]


@pytest.mark.parametrize(("path", "inside", "span"), WORDS)
def test_a_place_that_is_not_found_in_a_file_is_that_of_the_text(path: Place, inside: Span | None, span: Span) -> None:
    told = inline_problem(read_yaml(ESCAPED, "a.yaml"), path, Problem("c", "m", span=inside))

    assert told.span == span


@pytest.mark.parametrize(
    ("line", "told", "hint"),
    [
        (
            "agent: # Heading",
            "1:6:1 wrong-value: `agent` should be a text",
            "what follows its `#` is a comment: quote the text, or write it as a block: `|`",
        ),
        ("inputs: {a: {type: Bool}}", f"2:20:4 wrong-value: `inputs.a.type` {TYPES}", "did you mean `boolean`?"),
        ("inputs: {a: {type: ran}}", f"2:20:3 wrong-value: `inputs.a.type` {TYPES}", ""),
        ("inputs: {a: {type: }}", f"2:18:1 wrong-value: `inputs.a.type` {TYPES}", ""),
        ("inputs: [a]", "2:9:3 wrong-value: `inputs` should be a mapping", PAIRS),
        (
            "tools: {core: ['a b']}",
            "2:16:5 wrong-value: `tools.core.0` does not match ^[A-Za-z0-9_.:/*?-]{1,128}$",
            "use letters, digits, `_` and `-`, starting with a letter",
        ),
        (
            "run: {force_first: true}",
            f"2:6:19 {WRONG} `run` has `force_first` without `first_tool`, the tool to call first",
            "",
        ),
        ("tools: {cues: {on_discovery: [before], on_result: [after, next]}}", f"2:15:50 {CUES}", ""),
        ("tools: {cues: {on_discovery: [], on_result: [before, after, next, gotcha]}}", f"2:15:60 {CUES}", ""),
        (
            "results: {a: {text: x, file: y}}",
            f"2:14:18 {WRONG} `results.a` has two of what it may have once: text, file",
            "",
        ),
        ("results: {a: {head: 0, tail: 0}}", f"2:14:18 {NOTHING}", ""),
        ("results: {a: {tail: 0}}", f"2:14:9 {NOTHING}", ""),
        (
            "results: {a: {marker: x}}",
            f"2:14:11 {WRONG} `results.a` has a `marker` and cuts nothing: add `head` or `tail`",
            "",
        ),
        (
            "results: {a: {head: 1, marker: '{n}'}}",
            f"2:32:5 {WRONG} `results.a.marker` contains the unknown placeholder {{n}}; known here: {{count}}",
            "",
        ),
        ("results: {a: 7}", f"2:14:1 {WRONG} `results.a` should be a mapping", PAIRS),
        ("helpers: [7]", f"2:11:1 {WRONG} `helpers.0` should be a mapping", PAIRS),
        ("template: 7", f"2:11:1 {WRONG} `template` should be a mapping", PAIRS),
        ("memory: {forget: {a: 7}}", f"2:22:1 {WRONG} `memory.forget.a` should be a mapping", PAIRS),
        ("memory: {extract: {t: {}}}", "2:19:7 wrong-value: `memory.extract` should be a list", ""),
        (
            "history: {policy: last, limit: 1.5}",
            "2:32:3 wrong-value: `history.limit` should be a whole number",
            "",
        ),
        (
            "history: {policy: blok}",
            f"2:10:14 {WRONG} `history` should name its `policy`: window, tokens, last or blocks",
            "did you mean `blocks`?",
        ),
    ],
)
def test_a_wrong_value_is_told_at_its_place_with_the_way_out(line: str, told: str, hint: str) -> None:
    text = line if line.startswith("agent") else f"agent: a\n{line}"
    with pytest.raises(SpecError) as caught:
        validate(read_yaml(f"{text}\n", "agent.yaml"), AgentFile)
    (problem,) = caught.value.problems
    assert problem.span
    place = f"{problem.span.line}:{problem.span.column}:{problem.span.length}"

    assert f"{place} {problem.code}: {problem.message}" == told
    assert problem.hint == hint


@pytest.mark.parametrize(
    ("written", "code", "told"),
    [
        ("append", "removed-setting", "`reload: append` was removed"),
        ("other", "unknown-key", "unknown key `reload`"),
        ("[append]", "unknown-key", "unknown key `reload`"),
    ],
)
def test_a_value_that_was_removed_is_told_as_such_and_others_of_its_key_are_not(
    written: str, code: str, told: str
) -> None:
    with pytest.raises(SpecError) as caught:
        validate(read_yaml(f"reload: {written}\n", "turn.yaml"), TurnFile)
    (problem,) = caught.value.problems

    assert (problem.code, problem.message, problem.span) == (code, told, Span(1, 1, 6))
    assert problem.hint.startswith("leave it out; in the agent file, " if code == "removed-setting" else "known here: ")


ALL_MISTAKES = Path(__file__).with_name("mistakes.txt")


def test_every_mistake_is_told_at_once_in_the_order_of_the_file() -> None:
    """Below the text of an agent, what it is told; `make golden` writes it anew, to be read."""
    text = ALL_MISTAKES.read_text(encoding="utf-8").partition("=====\n")[0]
    with pytest.raises(SpecError) as caught:
        validate(read_yaml(text, "agent.yaml"), AgentFile)
    told = ""
    for p in caught.value.problems:
        assert p.span
        told += f"{p.span.line}:{p.span.column}:{p.span.length} {p.code}: {p.message}{p.hint and f' = {p.hint}'}\n"
    if os.environ.get("CUECARD_GOLDEN"):
        ALL_MISTAKES.write_text(f"{text}=====\n{told}", encoding="utf-8")

    assert ALL_MISTAKES.read_text(encoding="utf-8").partition("=====\n")[2] == told


ZONE = "such as 2026-11-20T09:00:00+00:00"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("now: 2026-11-20T09:00:00+00:00", ""),
        ("now: 2026-11-20", f"1:6: `now` should have a zone, {ZONE}"),
        ("now: soon", f"1:6: `now` should be an ISO 8601 time with a zone, {ZONE}"),
        ("now: 7", "1:6: `now` should be a valid datetime"),
        ("now: null", ""),
        (
            "expect: {}",
            "1:9: `expect` asks for nothing: write what the prompt must hold, such as `contains: hello`",
        ),
        ("expect: {snapshot: false}", ""),
        ("history: [7]", "1:11: `history.0` should be a mapping"),
        ("history: [{tool: a}]", "1:11: `result` is missing"),
        ("history: [{search: a, result: b}]", "1:23: `result` does not go with the other keys here"),
        ("summary: 7", "1:10: `summary` should be a mapping"),
        ("summary: So far.", ""),
        ("tools: x", "1:8: `tools` should be a list"),
        ("discovered: [a b]", "1:14: `discovered.0` does not match ^[A-Za-z0-9_.:/-]{1,128}$"),
    ],
)
def test_a_wrong_value_of_a_turn_is_told_as_well(line: str, told: str) -> None:
    found: tuple[Problem, ...] = ()
    try:
        validate(read_yaml(f"{line}\n", "turn.yaml"), TurnFile)
    except SpecError as error:
        found = error.problems

    assert "".join(f"{each.span.line}:{each.span.column}: {each.message}" for each in found if each.span) == told
