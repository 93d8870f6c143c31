"""What a file's values are told when they are not what its model has: at their place, with the way out."""

from __future__ import annotations

import pytest

from cuecard import Problem, SpecError
from cuecard.config.agent_file import AgentFile
from cuecard.config.documents.document import problem_at
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
    sources = [problem_at("a.yaml", "one\ntwo\n", Span(line, 1), "code", "told").source for line in (0, 1, 2, 3)]

    assert sources == ["", "one", "two", ""]


@pytest.mark.parametrize(
    ("line", "told", "hint"),
    [
        ("agent: 3.10", "1:8:4 wrong-value: `agent` should be a text", "write it as text: '3.10'"),
        (
            "agent: # Heading",
            "1:6:1 wrong-value: `agent` should be a text",
            "what follows its `#` is a comment: quote the text, or write it as a block: `|`",
        ),
        ("inputs: {a: {type: strng}}", f"2:20:5 wrong-value: `inputs.a.type` {TYPES}", "did you mean `string`?"),
        ("inputs: {a: {type: Bool}}", f"2:20:4 wrong-value: `inputs.a.type` {TYPES}", "did you mean `boolean`?"),
        ("inputs: {a: {type: ran}}", f"2:20:3 wrong-value: `inputs.a.type` {TYPES}", ""),
        ("inputs: {a: {type: }}", f"2:18:1 wrong-value: `inputs.a.type` {TYPES}", ""),
        ("inputs: {a: 7}", "2:13:1 wrong-value: `inputs.a` should be a mapping", PAIRS),
        ("inputs: [a]", "2:9:3 wrong-value: `inputs` should be a mapping", PAIRS),
        (
            "tools: {core: ['a b']}",
            "2:16:5 wrong-value: `tools.core.0` does not match ^[A-Za-z0-9_.:/*?-]{1,128}$",
            "use letters, digits, `_` and `-`, starting with a letter",
        ),
        ("sections: [{id: a, file: [b]}]", "2:26:3 wrong-value: `sections.0.file` should be a text", ""),
        ("sections: [{id: a, budgt: 5}]", "2:20:5 unknown-key: unknown key `budgt`", "did you mean `budget`?"),
        (
            "sections: [{text: x}]",
            "2:12:9 missing-key: `id` is missing",
            "add `id:` - the section's name, in manifests and in files that extend this one",
        ),
        (
            "sections: [{id: a, budget: 0}]",
            "2:28:1 wrong-value: `sections.0.budget` should be greater than or equal to 1",
            "",
        ),
        (
            "run: {requests: two}",
            "2:7:8 unknown-key: unknown key `requests`",
            "known here: `always`, `failures`, `first_tool`, `force_first`, `kept_tools`, `retries`, `steps`",
        ),
        (
            "layout: {partials: }",
            "2:18:1 wrong-value: `layout.partials` should be a text",
            "leave the key out, or give it a value",
        ),
        (
            "run: {force_first: true}",
            f"2:6:19 {WRONG} `run` has `force_first` without `first_tool`, the tool to call first",
            "",
        ),
        ("tools: {cues: {on_discovery: [before], on_result: [after, next]}}", f"2:15:50 {CUES}", ""),
        ("tools: {cues: {on_discovery: [], on_result: [before, after, next, gotcha]}}", f"2:15:60 {CUES}", ""),
        (
            "tools: {core: tool}",
            f"2:15:4 {WRONG} `tools.core` should be `all`, or a list of tools and patterns such as `calendar_*`",
            "",
        ),
        (
            "tools: {instructions: 7}",
            f"2:23:1 {WRONG} `tools.instructions` should be a text, or a list of texts",
            "write it as text: '7'",
        ),
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
        ("history: [{search: a, result: b}]", "1:23: unknown key `result`"),
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
