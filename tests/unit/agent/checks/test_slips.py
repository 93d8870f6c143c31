"""The slips that authors make most: each is told at its place, with the way to write what was meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuecard import Engine, ToolResult
from cuecard.errors import Problem, SpecError


def problem_of(folder: Path, files: dict[str, str]) -> Problem:
    """The first problem of an agent made of these files."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    with pytest.raises(SpecError) as caught:
        Engine.open(folder)
    return caught.value.problems[0]


@pytest.mark.parametrize(
    "text",
    [
        "{{{q}}} is here",
        "[IMPORTANT] never lie",
        "**Bold** first",
        '"Hello" he said',
        "'don't lie'",
        "{name} is",
        "# A",
    ],
)
def test_a_text_that_yaml_reads_otherwise_has_to_be_quoted(tmp_path: Path, text: str) -> None:
    agent = f"agent: a\ninputs: {{q: {{default: x}}}}\nsections:\n  - id: s\n    text: {text}\n"

    problem = problem_of(tmp_path, {"agent.yaml": agent})

    assert "quote the" in problem.hint
    assert "a block: `|`" in problem.hint


def test_a_heading_behind_a_cue_is_a_comment(tmp_path: Path) -> None:
    agent = "agent: a\ntools: {instructions: t.yaml, core: all}\nsections: [{id: s, text: '{{{activeProtocols}}}'}]\n"
    tools = "category: c\ntools:\n  save:\n    before: # Save first\n    after: b\n"

    problem = problem_of(tmp_path, {"agent.yaml": agent, "t.yaml": tools})

    assert problem.span
    assert (problem.name.rpartition("/")[2], problem.span.line) == ("t.yaml", 4)
    assert "comment" in problem.hint


@pytest.mark.parametrize(
    ("entry", "told", "way_out"),
    [
        ("null", "null removes texts of an entry, not the entry", "`exclude_tools`"),
        ("{phrases: [save, ' ']}", "should not hold blank texts", "leave the key out"),
    ],
)
def test_an_entry_that_says_nothing_names_a_way_out(tmp_path: Path, entry: str, told: str, way_out: str) -> None:
    agent = "agent: a\ntools: {instructions: [t.yaml, more.yaml]}\nsections: [{id: s, text: '{{{activeProtocols}}}'}]\n"
    files = {"t.yaml": "tools:\n  save: {before: Ask.}\n", "more.yaml": f"tools:\n  save: {entry}\n"}

    problem = problem_of(tmp_path, {"agent.yaml": agent, **files})

    assert (told in problem.message, way_out in problem.hint) == (True, True)


def test_a_tool_in_both_lists_of_a_file_is_told_at_the_second_with_the_first(tmp_path: Path) -> None:
    agent = "agent: a\ntools: {instructions: t.yaml, core: all}\nsections: [{id: s, text: '{{{activeProtocols}}}'}]\n"
    lists = "tools:\n  save: {before: Ask.}\n", "described:\n  save: {description: Save it.}\n"

    for text in ("".join(lists), "".join(reversed(lists))):
        problem = problem_of(tmp_path, {"agent.yaml": agent, "t.yaml": text})

        assert problem.span
        assert (problem.code, problem.span.line, problem.span.column) == ("duplicate-tool", 4, 3)
        assert problem.hint.endswith("t.yaml:2:3; keep one")


@pytest.mark.parametrize("places", ["tools/t.yaml, tools/t.yaml", "tools, tools/t.yaml"])
def test_a_file_of_tools_that_is_named_twice_is_told_as_that(places: str, tmp_path: Path) -> None:
    agent = f"agent: a\ntools: {{instructions: [{places}], core: all}}\nsections: [{{id: s, text: Hi}}]\n"

    problem = problem_of(tmp_path, {"agent.yaml": agent, "tools/t.yaml": "tools: {save: {before: Ask.}}\n"})

    assert problem.code == "duplicate-tool"
    assert "names this file twice" in problem.hint


@pytest.mark.parametrize("key", ["BEFORE", "Gotcha"])
def test_a_key_in_other_letters_is_known(key: str, tmp_path: Path) -> None:
    agent = "agent: a\ntools: {instructions: t.yaml, core: all}\nsections: [{id: s, text: '{{{activeProtocols}}}'}]\n"

    problem = problem_of(tmp_path, {"agent.yaml": agent, "t.yaml": f"tools: {{save: {{{key}: Ask.}}}}\n"})

    assert problem.hint == f"did you mean `{key.lower()}`?"


@pytest.mark.parametrize(("said", "code"), [("true", "wrong-value"), ("'true'", "no-effect"), ("[a]", "no-effect")])
def test_an_input_is_not_made_optional_by_that_word(said: str, code: str, tmp_path: Path) -> None:
    agent = f"agent: a\ninputs:\n  draft: {{optional: {said}}}\nsections: [{{id: s, text: '{{{{draft}}}}'}}]\n"

    problem = problem_of(tmp_path, {"agent.yaml": agent})

    assert (problem.code, problem.span and problem.span.line) == (code, 3)
    assert "write `default: null`" in problem.hint


@pytest.mark.parametrize("path", ["$.data", "data[]", "data[0].id", "data.*.id", "/data", "data..id", ".data", "data."])
@pytest.mark.parametrize(
    "at",
    [
        "memory: {extract: [{at: 'PATH'}]}",
        "memory: {extract: [{at: data, type: {at: 'PATH'}}]}",
        "memory: {forget: {x: {at: 'PATH'}}}",
        "memory: {names: {post: [title, 'PATH']}}",
        "results: {x: {field: 'PATH'}}",
    ],
)
def test_a_path_of_another_language_is_told_where_it_would_find_nothing(at: str, path: str, tmp_path: Path) -> None:
    rule = at.replace("PATH", path)
    (tmp_path / "agent.yaml").write_text(f"agent: a\nsections: [{{id: s, text: Hi}}]\n{rule}\n")
    with pytest.raises(SpecError) as caught:
        Engine.open(tmp_path)

    (problem,) = caught.value.problems
    assert (problem.code, problem.span and problem.span.line) == ("wrong-value", 3)
    assert "keys with dots between them" in problem.message


@pytest.mark.parametrize("path", ["data", "result.items", "_id.$oid", "$ref", "@odata.id", "a-b.c d", "0.a"])
def test_keys_of_any_letters_are_a_path(path: str, tmp_path: Path) -> None:
    rules = f"memory: {{extract: [{{at: data}}], ids: {{post: '{path}'}}}}\nresults: {{x: {{field: '{path}'}}}}\n"
    (tmp_path / "agent.yaml").write_text(f"agent: a\nsections: [{{id: s, text: Hi}}]\n{rules}")

    assert Engine.open(tmp_path).agent.spec.memory.ids == {"post": (path,)}


@pytest.mark.parametrize(
    ("text", "way"),
    [
        ('{"query": {{{q}}}}', "`{{!}}`"),
        ("on: ${{ github.event }}", "\\{{"),
        (r"\frac{{a}}{{b}}", "\\{{"),
        ("^{{Ω}rel } {{{q}}}", "\\{{"),
        ("{{ .Values.x }}", "\\{{"),
    ],
)
def test_literal_braces_have_a_way_to_be_written(tmp_path: Path, text: str, way: str) -> None:
    agent = "agent: a\ninputs: {q: {default: x}}\nsections: [{id: s, file: s.md}]\n"

    assert way in problem_of(tmp_path, {"agent.yaml": agent, "s.md": f"{text} {{{{{{q}}}}}}\n"}).hint


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("on: \\{{ a }} ${{{user}}} {{usr}}", "usr"),
        ("Run ${{{ user }}} as {{{usr}}}.", "usr"),
        (r"\frac\{{a}} then {{usr}}", "usr"),
        ("Costs $5, {{usr}}", "usr"),
        ("In $ {{usr}}: {{user}}", "usr"),
    ],
)
def test_a_misspelt_name_beside_foreign_braces_is_told_as_one(tmp_path: Path, text: str, name: str) -> None:
    agent = "agent: a\ninputs: {user: {default: x}}\nsections: [{id: s, file: s.md}]\n"

    problem = problem_of(tmp_path, {"agent.yaml": agent, "s.md": f"{text}\n"})

    assert problem.message == f"`{name}` is not an input"
    assert problem.hint.startswith("did you mean `user`?")


def test_each_name_of_a_line_has_its_own_hint(tmp_path: Path) -> None:
    agent = "agent: a\ninputs: {user: {default: x}}\nsections: [{id: s, file: s.md}]\n"
    (tmp_path / "agent.yaml").write_text(agent)
    (tmp_path / "s.md").write_text(r"${{ env.x }} {{usr}} \frac{{a}}{{b}} {{usre}}" + "\n")
    with pytest.raises(SpecError) as caught:
        Engine.open(tmp_path)

    assert [each.hint.partition("\n")[0] for each in caught.value.problems[:5]] == [
        "write `\\{{` for literal braces",
        "did you mean `user`?",
        "write `\\{{` for literal braces",
        "write `\\{{` for literal braces",
        "did you mean `user`?",
    ]


def test_the_ways_to_write_literal_braces_are_right(tmp_path: Path) -> None:
    (tmp_path / "s.md").write_text('{"query": {{{q}}}{{!}}} \\{{ github.event }}\n')
    (tmp_path / "agent.yaml").write_text(
        "agent: a\ninputs: {q: {type: integer, default: 1}}\nsections: [{id: s, file: s.md}]\n"
    )
    engine = Engine.open(tmp_path)

    assert engine.prepare_step(engine.prepare_call()).system == '{"query": 1} {{ github.event }}'


def test_a_tag_that_a_text_mentions_is_shown_where_it_stands(tmp_path: Path) -> None:
    core = "<agent>\n<r>\nPut your thoughts in <thinking> tags first.\n</r>\n</agent>\n"

    problem = problem_of(tmp_path, {"agent.yaml": "agent: a\ntemplate: agent.xml\n", "agent.xml": core})

    assert problem.span
    assert (problem.span.line, problem.message) == (3, "`<thinking>` is never closed")
    assert "&lt;thinking>" in problem.hint


@pytest.mark.parametrize(
    ("template", "content", "told"),
    [
        ("{{{content}}}\nbash-$", "bash-$ ls\n# Title", "bash-$ ls\n# Title\nbash-$"),
        ("# {{{tool}}}\n{{{content}}}", "# T", "# run\n# T"),
    ],
)
def test_a_result_keeps_its_bytes_where_its_author_is_trusted(
    tmp_path: Path, template: str, content: str, told: str
) -> None:
    (tmp_path / "t.md").write_text(template)
    agent = "agent: a\nsections: [{id: s, text: x}]\nresults: {run: {trust: author, file: t.md}}\n"
    (tmp_path / "agent.yaml").write_text(agent)

    assert Engine.open(tmp_path).render_result(ToolResult("run", content, "c")).text == told


def test_skills_are_found_in_any_case_and_survive_keys_that_nobody_reads(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text("agent: a\nsections: [{id: k, skills: {roots: skills}}]\n")
    fronts = {
        "a/skill.md": "name: a\ndescription: does a\nargument-hint: [--strict] [--json]",
        "b/SKILL.MD": "name: b\ndescription:\n  Pairs with it: plan first,\n  then does b.",
        "c/SKILL.md": "name: c\ndescription: does c\nmetadata:\n  trigger: when: asked",
        "c/skill.md": "name: other\ndescription: is not read",
    }
    for path, front in fronts.items():
        (tmp_path / "skills" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "skills" / path).write_text(f"---\n{front}\n---\nx\n")
    engine = Engine.open(tmp_path)

    shown = engine.prepare_step(engine.prepare_call()).system
    assert all(said in shown for said in ("does a", "then does b.", "does c"))
    assert "is not read" not in shown
    assert any("`argument-hint` is not valid YAML" in warning.message for warning in engine.warnings)
