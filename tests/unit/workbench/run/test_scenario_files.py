"""Scenario and assistant files: references between steps, and where files are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard import SpecError
from cuecard.config.scenario_file import UnresolvedError, names_used, resolve, resolved_at
from cuecard.workbench.run.assistant_file import read_assistant

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text().filter(lambda text: "${" not in text),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(alphabet="abc"), inner),
    max_leaves=20,
)


@given(PLAIN)
def test_a_value_without_references_stays_unchanged(value: object) -> None:
    assert resolve(value, {}) == value
    assert list(names_used(value)) == []


@given(PLAIN)
def test_a_text_that_is_one_reference_becomes_the_value_itself(value: object) -> None:
    assert resolve({"at": ["${saved}"]}, {"saved": value}) == {"at": [value]}


def test_references_work_in_keys_and_tell_where_they_are() -> None:
    value = {"pages.${page.id}.slug": ["${slug}", "x"]}

    assert list(names_used(value)) == [((), "page"), (("pages.${page.id}.slug", 0), "slug")]
    assert resolve(value, {"page": {"id": "p-1"}, "slug": "about"}) == {"pages.p-1.slug": ["about", "x"]}


@pytest.mark.parametrize(
    ("path", "message", "hint"),
    [
        ("page.titel", "`page.titel` does not exist: there is no `titel`", "did you mean `title`?"),
        ("page.tags.9", "`page.tags.9` does not exist: there is no `9`", "the list has 1 items; count from 0"),
        (
            "page.title.x",
            "`page.title.x` does not exist: there is no `x`",
            "the value here is of type str and has no keys",
        ),
        ("page.tags.1", "`page.tags.1` does not exist: there is no `1`", "the list has 1 items; count from 0"),
        ("page.tags.x", "`page.tags.x` does not exist: there is no `x`", "the list has 1 items; count from 0"),
        ("page.empty.x", "`page.empty.x` does not exist: there is no `x`", "there are no keys here"),
    ],
)
def test_a_path_that_leads_nowhere_says_which_key_and_what_there_is(path: str, message: str, hint: str) -> None:
    with pytest.raises(UnresolvedError) as caught:
        resolved_at({"page": {"title": "About", "tags": ["a"], "empty": {}}}, path)

    assert str(caught.value) == message
    assert caught.value.hint == hint


def test_inside_a_text_only_texts_and_numbers_can_stand() -> None:
    saved = {"page": {"title": "About", "tags": ["a", {"b": 2.5}], "live": True}}

    assert resolve(["${page.title}!", "${page.tags.1.b} ${page.tags.0}", 7], saved) == ["About!", "2.5 a", 7]
    assert resolve("${page.live}", saved) is True
    assert resolved_at(saved, "") == saved
    for path, kind in (("page.live", "bool"), ("page.tags", "list"), ("page", "dict")):
        with pytest.raises(UnresolvedError) as caught:
            resolve(f"It is ${{{path}}}", saved)
        assert str(caught.value) == f"`{path}` is of type {kind} and cannot be put inside a text"
        assert caught.value.hint == "name one of its values"


def test_all_problems_of_an_assistant_and_its_scenarios_are_reported_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("assistant.yaml").write_text(ASSISTANT, encoding="utf-8")
    Path("plays").mkdir()
    Path("plays/one.yaml").write_text(UNSAVED, encoding="utf-8")
    Path("plays/two.yaml").write_text(MALFORMED, encoding="utf-8")

    with pytest.raises(SpecError) as caught:
        read_assistant(Path("assistant.yaml"))

    assert [line for line in str(caught.value).splitlines() if ": error[" in line] == PROBLEMS
    assert [each.hint for each in caught.value.problems if each.code == "unsaved-name"] == HINTS
    assert [each.hint for each in caught.value.problems if each.code == "unknown-placeholder"] == [
        "did you mean `data`?",
        "known here: `data`, `here`, `now`, `python`",
        "did you mean `here`?",
    ]


ASSISTANT = """\
agent: agent.yaml
server:
  command: [server, "{date}", "{now} {here}"]
  snapshot: [shot, "{x}"]
  env: {A: "{hree}"}
scenarios: plays
"""
UNSAVED = """\
title: One
now: "2026-11-20T09:00:00+00:00"
turns:
  - user: Hello
    steps:
      - calls:
          - {tool: make, args: {slug: "${page.slug}"}, save: {page: page}}
          - {tool: make, args: {slug: ["${page.slug}"]}}
      - calls:
          - {tool: make, args: {"${a}": "${page.slug} ${b}"}, save: {a: b}}
    answer: ${pag.title}
expect: {"${c}": 1, "${a}": "${page}"}
"""
MALFORMED = """\
title: Two
now: "2026-11-20T09:00:00"
turns:
  - user: Hello
    steps: [{calls: []}]
    anwser: done
"""
SAVE = "save it in an earlier step: `save: {name: path.in.the.result}`"
HINTS = [SAVE, SAVE, "known here: `page`", "known here: `page`", "did you mean `page`?", "known here: `a`, `page`"]
PROBLEMS = [
    "assistant.yaml:1:8: error[missing-file]: `agent.yaml` does not exist",
    "assistant.yaml:3:21: error[unknown-placeholder]: unknown placeholder `{date}`",
    "assistant.yaml:4:20: error[unknown-placeholder]: unknown placeholder `{x}`",
    "assistant.yaml:5:12: error[unknown-placeholder]: unknown placeholder `{hree}`",
    "plays/one.yaml:7:39: error[unsaved-name]: no earlier step saves `page`",
    "plays/one.yaml:8:40: error[unsaved-name]: no earlier step saves `page`",
    "plays/one.yaml:10:32: error[unsaved-name]: no earlier step saves `a`",
    "plays/one.yaml:10:41: error[unsaved-name]: no earlier step saves `b`",
    "plays/one.yaml:11:13: error[unsaved-name]: no earlier step saves `pag`",
    "plays/one.yaml:12:9: error[unsaved-name]: no earlier step saves `c`",
    "plays/two.yaml:2:6: error[wrong-value]: `now` should have a zone, such as 2026-11-20T09:00:00+00:00",
    "plays/two.yaml:4:5: error[missing-key]: `answer` is missing",
    "plays/two.yaml:5:21: error[wrong-value]: `turns.0.steps.0.calls` should not be empty",
    "plays/two.yaml:6:5: error[unknown-key]: unknown key `anwser`",
]
