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
        ("page.title.x", "`page.title.x` does not exist: there is no `x`", "the value here is of type str"),
        ("page.empty.x", "`page.empty.x` does not exist: there is no `x`", "there are no keys here"),
    ],
)
def test_a_path_that_leads_nowhere_says_which_key_and_what_there_is(path: str, message: str, hint: str) -> None:
    with pytest.raises(UnresolvedError) as caught:
        resolved_at({"page": {"title": "About", "tags": ["a"], "empty": {}}}, path)

    assert str(caught.value) == message
    assert caught.value.hint.startswith(hint)


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


ASSISTANT = """\
agent: agent.yaml
server:
  command: [server, "{date}"]
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
    answer: ${pag.title}
"""
MALFORMED = """\
title: Two
now: "2026-11-20T09:00:00"
turns:
  - user: Hello
    steps: [{calls: []}]
    anwser: done
"""
PROBLEMS = [
    "assistant.yaml:1:8: error[missing-file]: `agent.yaml` does not exist",
    "assistant.yaml:3:21: error[unknown-placeholder]: unknown placeholder `{date}`",
    "plays/one.yaml:7:39: error[unsaved-name]: no earlier step saves `page`",
    "plays/one.yaml:8:13: error[unsaved-name]: no earlier step saves `pag`",
    "plays/two.yaml:2:6: error[wrong-value]: `now` should have a zone, such as 2026-11-20T09:00:00+00:00",
    "plays/two.yaml:4:5: error[missing-key]: `answer` is missing",
    "plays/two.yaml:5:21: error[wrong-value]: `turns.0.steps.0.calls` should not be empty",
    "plays/two.yaml:6:5: error[unknown-key]: unknown key `anwser`",
]
