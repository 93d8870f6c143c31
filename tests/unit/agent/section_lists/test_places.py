"""A mistake in a section is shown at the key that it is about, with all others, and never as a crash."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuecard import SpecError
from cuecard.types import Span
from unit.agent.section_lists.agents import TOOLS, opened

HEAD = "agent: a\ntools: {instructions: t.yaml, core: [tool_search]}\n"


def mistakes(folder: Path, text: str) -> list[tuple[str, str]]:
    """The code of each mistake with what is marked there."""
    with pytest.raises(SpecError) as caught:
        opened(folder, HEAD + text + '  - {id: p, text: "{{{activeProtocols}}}"}\n', t_yaml=TOOLS)
    found = []
    for problem in caught.value.problems:
        if problem.severity == "warning":
            continue
        assert problem.span, str(problem)
        start = problem.span.column - 1
        found.append((problem.code, problem.source[start : start + problem.span.length]))
    return found


@pytest.mark.parametrize(
    ("section", "found"),
    [
        ("{id: a, text: a, when: {any: [{not: usr.name}]}}", [("undeclared-input", "{any: [{not: usr.name}]}")]),
        ("{id: a, rows: {input: usr}}", [("undeclared-input", "{input: usr}")]),
        ("{id: a, facts: {labels: {usr: U, other: O}}}", [("undeclared-input", "{labels: {usr")] * 2),
        ("{id: a, skills: {roots: gone}}", [("missing-file", "gone")]),
        ("{id: a, skills: {roots: [gone, lost]}}", [("missing-file", "gone"), ("missing-file", "lost")]),
        ('{id: a, facts: {line: "{{{label}}} {{#if}}"}}', [("unclosed-block", "{{")]),
        ('{id: a, tools: {item: "{{{name}}"}}', [("unexpected-token", "}}")]),
        ('{id: a, rows: {input: x, before: "{{/x}}"}}', [("unopened-block", "{{/x}}")]),
        ('{id: a, files: {entries: [{path: a.md}], item: "{{#each}}"}}', [("unclosed-block", "{{#each")]),
        ('{id: a, files: {entries: [{path: a.md}], item: "{{name}}"}}', [("not-printed", '"{{name}}"')]),
        ("{id: a, role: user, text: '{{{activeProtocols}}}'}", [("wrong-value", "user")]),
        ("{id: a, text: a, group: g}", [("unknown-group", "g")]),
    ],
)
def test_a_mistake_is_marked_where_it_appears(tmp_path: Path, section: str, found: list[tuple[str, str]]) -> None:
    marked = mistakes(tmp_path, f"inputs: {{x: {{type: list, default: []}}}}\nsections:\n  - {section}\n")

    assert [(code, mark[: len(begins)]) for (code, mark), (_, begins) in zip(marked, found, strict=True)] == found


@pytest.mark.parametrize(
    ("layout", "found"),
    [
        ('heading: "## {{titel}}\\n"', ("undeclared-input", "titel")),
        ('heading: "## {{#if title}}\\n"', ("unclosed-block", "{{#if title")),
        ('heading: "## {{title}}\\n", groups: {g: {title: G, heading: "[{{nam}}]\\n"}}', ("undeclared-input", "nam")),
    ],
)
def test_a_mistake_in_a_heading_is_reported_with_all_others(
    tmp_path: Path, layout: str, found: tuple[str, str]
) -> None:
    sections = "sections:\n  - {id: a, title: A, text: '{{{usr}}}'}\n"

    assert mistakes(tmp_path, f"layout: {{{layout}}}\n{sections}") == [found, ("undeclared-input", "usr")]


def test_a_mistake_that_a_profile_writes_is_marked_in_the_profile(tmp_path: Path) -> None:
    patches = "{sections: [{id: p, when: {input: usr}}, {id: a, text: '{{{content}}}', rows: {input: rws}}]}"
    marked = mistakes(tmp_path, f"profiles: {{lean: {patches}}}\nsections:\n  - {{id: a, text: a}}\n")

    assert marked == [("undeclared-input", "{input: rws}"), ("undeclared-input", "{input: usr}")]


def test_a_file_that_is_missing_is_marked_where_its_list_names_it(tmp_path: Path) -> None:
    text = "tools: {instructions: [t.yaml, gone.yaml]}\nsections: [{id: a, text: a}]\n"
    with pytest.raises(SpecError) as caught:
        opened(tmp_path, f"agent: a\n{text}", t_yaml=TOOLS)
    problem = caught.value.problems[0]

    assert (problem.code, problem.span) == ("missing-file", Span(2, 32, 9))


@pytest.mark.parametrize("name", ["x" * 5000, "/" + "y" * 300 + "/a.md"])
def test_a_name_that_no_file_system_has_is_missing_like_any_other(tmp_path: Path, name: str) -> None:
    with pytest.raises(SpecError) as caught:
        opened(tmp_path, f"agent: a\nsections: [{{id: a, file: {name}}}]\nlayout: {{partials: {name}}}\n")
    with pytest.raises(SpecError, match="missing-file"):
        opened(tmp_path, f"extends: {name}\nagent: a\n")
    engine = opened(tmp_path, f"agent: a\nsections: [{{id: a, files: {{entries: [{{path: {name}}}]}}}}]\n")

    assert [problem.code for problem in caught.value.problems] == ["missing-file"] * 2
    assert [row.status for row in engine.prepare_call().record.sources] == ["missing"]
