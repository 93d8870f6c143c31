"""What people write who come from elsewhere, what only follows from a mistake, and files of another kind."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cuecard import CuecardError, Engine, SpecError, compile_template
from cuecard.agent.build import make_draft
from cuecard.agent.lint import lint
from cuecard.agent.world import Memo
from cuecard.config.file_kinds import _MARKS
from cuecard.config.turn_file import TurnFile
from cuecard.files.folder import read_agent
from cuecard.workbench.run.assistant_file import read_assistant
from shipped import content_root
from unit.agent.checks.agents import place
from unit.robustness.agents import AGENT, TEMPLATE, TOOLS, write_agent

SCHEMA = (content_root() / "schemas" / "core-template.rng").read_text(encoding="utf-8")
ROOT = Path(__file__).parents[4]
ENTRY = "{before: none, after: done, next: get_pages, gotcha: none}"


def told(folder: Path, files: dict[str, str]) -> list[tuple[str, str]]:
    """Every problem of the agent with these texts: its code and its place."""
    draft = make_draft(read_agent(write_agent(folder, files)), Memo())
    found = [*draft.problems, *lint(draft, count=len, schema=SCHEMA)]
    return [(each.code, place(each) if each.span else Path(each.name).name) for each in found]


def test_a_text_that_is_printed_with_escapes_is_a_warning_outside_of_attributes(tmp_path: Path) -> None:
    text = TEMPLATE.replace("{{{user}}}", "{{user}}, {{#if user}}{{@root.user}}{{/if}}, {{{user}}}, {{> p}}")

    assert told(tmp_path, {"agent.xml": text, "partials/p.hbs": "{{user}}"}) == [
        ("escaped-text", "agent.xml:3:10 {{user}}"),
        ("escaped-text", "agent.xml:3:32 {{@root.user}}"),
        ("escaped-text", "p.hbs:1:1 {{user}}"),
    ]


@pytest.mark.parametrize("declared", ["type: integer", "type: list", "trust: author, default: Ann", "type: boolean"])
def test_text_without_escapes_does_not_count(declared: str, tmp_path: Path) -> None:
    agent = AGENT.replace("type: string, default: Ann", declared)

    assert told(tmp_path, {"agent.yaml": agent, "agent.xml": TEMPLATE.replace("{{{user}}}", "{{user}}")}) == []


def test_the_warning_says_what_is_printed(tmp_path: Path) -> None:
    write_agent(tmp_path, {"agent.xml": "<a>\n<b>{{user}}</b>\n<c>{{{activeProtocols}}}</c>\n</a>"})
    draft = make_draft(read_agent(tmp_path), Memo())
    (problem,) = lint(draft, count=len, schema=SCHEMA)

    assert "O'Neil as O&#x27;Neil" in problem.message
    assert "{{{user}}}" in problem.hint
    assert compile_template("{{user}} {{{user}}}").render({"user": "O'Neil"}) == "O&#x27;Neil O'Neil"


@pytest.mark.parametrize(
    ("text", "marked", "hint"),
    [
        ("{% if user %}x{% endif %}", ["{% if user %}", "{% endif %}"], "write `{{#if value}}`"),
        ("{%- for x in xs -%}", ["{%- for x in xs -%}"], "write `{{#each items as |item|}} ... {{/each}}`"),
        ("{% unless user %}{% else %}", ["{% unless user %}", "{% else %}"], "write `{{#unless value}}`"),
        ("Hi {user}, ${user}", ["{user}", "${user}"], "write `{{{user}}}`"),
        ("Hi { user }: {workingMemory}", ["{ user }", "{workingMemory}"], "write `{{{user}}}`"),
        ("{id}, {user.name}, {{{user}}}, `{user}`, \\{user}, {user}}", [], ""),
        ("{# a note #} {#- b -#}", ["{# a note #}", "{#- b -#}"], "write `{{! ... }}`"),
        ("```jinja\n{% if x %}{# note #}\n```\nSet `a {% if x %} b`, {#id}, {# or #.", [], ""),
        ("Set `a {% if x %} b` {% if user %}", ["{% if user %}"], "write `{{#if value}}`"),
        ("`{user}`, `a {user}` {user}", ["{user}"], "write `{{{user}}}`"),
        ("5{% off, {%x%}, `{% if x %}`, \\{% if x %}, {{! {% if x %} }}", [], ""),
    ],
)
def test_a_tag_of_another_language_is_a_warning(text: str, marked: list[str], hint: str, tmp_path: Path) -> None:
    folder = write_agent(tmp_path, {"agent.xml": TEMPLATE.replace(' title="{{user}}"', "").replace("You help", text)})
    found = lint(make_draft(read_agent(folder), Memo()), count=len, schema=SCHEMA)

    assert [place(each).partition(" ")[2] for each in found] == marked
    assert {each.code for each in found} <= {"foreign-tag"}
    assert [each.hint for each in found[:1]] == [hint] * bool(hint)


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("user?.name", "write `user` without `?`: a key that is missing has no value"),
        ("today", "the date of a user message is `currentDate`"),
    ],
)
def test_a_name_of_another_language_gets_what_to_write(tmp_path: Path, written: str, hint: str) -> None:
    text = TEMPLATE.replace("{{{user}}}", f"{{{{{{user}}}}}} {{{{{{{written}}}}}}}")
    (problem,) = make_draft(read_agent(write_agent(tmp_path, {"agent.xml": text})), Memo()).problems

    assert (problem.code, problem.hint.partition("\n")[0]) == ("undeclared-input", hint)


def test_an_input_that_is_a_word_of_another_language_gets_the_word_of_this_one(tmp_path: Path) -> None:
    text = TEMPLATE.replace("{{{user}}}", "{{#if user}}x{{elseif}}y{{/if}}")
    (problem,) = make_draft(read_agent(write_agent(tmp_path, {"agent.xml": text})), Memo()).problems

    assert (problem.code, problem.hint.partition("\n")[0]) == ("undeclared-input", "write `{{else if value}}`")


def test_where_a_tool_file_cannot_be_read_no_tool_is_called_unknown(tmp_path: Path) -> None:
    agent = AGENT.replace("[tool_search]", "[tool_search, get_page]")
    whole = {"agent.yaml": agent, "tools/search.yaml": f"tools: {{tool_search: {ENTRY}}}"}

    assert [code for code, _ in told(tmp_path / "a", whole)] == ["unknown-tool"] * 2
    assert told(tmp_path / "b", {**whole, "tools/b.yaml": "tools: [\n"}) == [("yaml-syntax", "b.yaml:2:1 ")]
    assert [code for code, _ in told(tmp_path / "c", {**whole, "tools/b.yaml": "tool: {}"})] == ["unknown-key"]


def test_where_a_tool_file_is_missing_no_tool_is_called_unknown(tmp_path: Path) -> None:
    agent = AGENT.replace("instructions: tools", "instructions: [tools, more]").replace(
        "[tool_search]", "[tool_search, x]"
    )

    assert [code for code, _ in told(tmp_path, {"agent.yaml": agent})] == ["missing-file"]


def test_where_a_tool_file_is_not_text_no_tool_is_called_unknown(tmp_path: Path) -> None:
    write_agent(tmp_path, {"agent.yaml": AGENT.replace("[tool_search]", "[tool_search, x]")})
    (tmp_path / "tools" / "b.yaml").write_bytes(b"tools: \xff")

    assert [problem.code for problem in make_draft(read_agent(tmp_path), Memo()).problems] == ["encoding"]


def test_where_a_section_does_not_compile_nothing_is_called_unused(tmp_path: Path) -> None:
    sections = "sections: [{id: a, text: '{{#if user}}'}, {id: b, text: '{{{activeProtocols}}}'}]\n"
    agent = AGENT.replace("template: {file: agent.xml}\n", f"layout: {{partials: partials}}\n{sections}")

    found = told(tmp_path, {"agent.yaml": agent, "partials/p.hbs": "Be kind."})
    assert [code for code, _ in found] == ["unclosed-block"]


def test_where_a_partial_does_not_compile_nothing_is_called_unused(tmp_path: Path) -> None:
    agent = AGENT.replace("{user:", "{city: {}, user:").replace("agent.xml", "agent.xml, partials: partials")
    files = {
        "agent.yaml": agent,
        "agent.xml": TEMPLATE.replace("You", "{{> p}}"),
        "partials/p.hbs": "{{city}}{{#if a}}",
    }

    assert [code for code, _ in told(tmp_path, files)] == ["unclosed-block"]


def xml_problems(text: str) -> list[str]:
    with pytest.raises(CuecardError) as caught:
        compile_template(text).outline()
    assert {problem.code for problem in caught.value.problems} == {"xml"}
    return [place(problem).removeprefix("template:") for problem in caught.value.problems]


def test_every_mistake_of_an_xml_text_is_reported_at_once() -> None:
    text = "<a>\n<b>x</c>\n<d>R&D &nbsp;</d>\n<e f=1/>\n<g>1 < 2</g>\n<h></i>\n</a>\n"

    assert [found.partition(" ")[0] for found in xml_problems(text)] == ["2:5", "3:7", "3:14", "4:6", "5:6", "6:4"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<a>\n<b>\n<c>x</c>\n</a>\n", ["2:1 <b"]),
        ("<a><b></c></b><d></d></a>", ["1:7 </c>"]),
        ("<a>\n</b>\n<c></c>\n</a>", ["2:1 </b>"]),
        ("<a/>\n<b/>\n<c/>", ["2:1 <"]),
        ("text\n<a/>", ["1:1 t"]),
    ],
)
def test_what_only_follows_from_a_mistake_in_xml_is_not_reported(text: str, found: list[str]) -> None:
    assert xml_problems(text) == found


def test_at_most_a_hundred_mistakes_are_reported() -> None:
    assert len(xml_problems("<a>" + "\n1 < 2" * 5_000 + "</a>")) <= 101


def test_the_mistakes_of_a_partial_are_reported_alongside_those_of_its_template(tmp_path: Path) -> None:
    files = {"agent.xml": TEMPLATE.replace("You help", "{{> p}} a & b"), "partials/p.hbs": "<b>"}

    assert {where.partition(":")[0] for _, where in told(tmp_path, files)} == {"agent.xml", "p.hbs"}


def test_both_endings_of_yaml_files_count(tmp_path: Path) -> None:
    write_agent(tmp_path)
    (tmp_path / "agent.yaml").rename(tmp_path / "agent.yml")
    (tmp_path / "tools" / "search.yaml").rename(tmp_path / "tools" / "search.yml")
    (tmp_path / "tools" / "more.yaml").write_text(TOOLS.replace("tool_search", "save"), encoding="utf-8")

    assert set(Engine.open(tmp_path).tools) == {"tool_search", "save"}


def test_an_assistant_and_its_scenarios_may_end_in_yml(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "tests" / "cases" / "checks" / "base", tmp_path, dirs_exist_ok=True)
    for path in list(tmp_path.rglob("*.yaml")):
        path.rename(path.with_suffix(".yml"))
    assistant = tmp_path / "assistant.yml"
    assistant.write_text(assistant.read_text(encoding="utf-8").replace("agent.yaml", "agent.yml"), encoding="utf-8")

    assert read_assistant(tmp_path).scenarios


@pytest.mark.parametrize(
    ("text", "kind", "hint"),
    [
        ("now: 2026-11-20T00:00:00Z\n", "a turn file", "name the agent file, and pass this one as `--turn FILE`"),
        (
            "inputs: {user: Ann}\nmessage: hi\n",
            "a turn file",
            "name the agent file, and pass this one as `--turn FILE`",
        ),
        (TOOLS, "a file of tool instructions", "name the agent file; it names this one under `tools: instructions:`"),
        (
            "category: x\ntools: {}\n",
            "a file of tool instructions",
            "name the agent file; it names this one under `tools: instructions:`",
        ),
        (
            "agent: a\nserver: {command: [x]}\n",
            "an assistant file",
            "name the agent file that it names under `agent:`; `cuecard run` accepts this file",
        ),
        (
            "title: a\nturns: []\n",
            "a scenario",
            "name the agent file; `cuecard run` plays the scenarios of an assistant file",
        ),
        ("turns: []\n", "a file of several turns", "name the agent file; `cuecard test AGENT` reads this file"),
        ("models: {}\n", "a file of model profiles", "name the agent file; it names this one under `models:`"),
    ],
)
def test_a_file_of_another_kind_says_what_it_is(text: str, kind: str, hint: str, tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        Engine.open(tmp_path)

    (problem,) = caught.value.problems
    assert str(problem.name) == str(tmp_path / "agent.yaml")
    assert (problem.code, problem.message, problem.hint) == ("wrong-file", f"this is {kind}, not an agent file", hint)


@pytest.mark.parametrize(
    "text",
    [
        "inputs: {user: {type: string}}\n",
        "template: a.xml\n",
        "tools: {core: [a]}\n",
        "tools: {search: {tool: find}}\n",
        "tools: {find: {phrases: [a]}, search: {tool: find}}\n",
        "tools: [a]\n",
        "models: {}\ntools: {}\n",
        "turns: []\ninputs: {}\n",
        "{}\n",
    ],
)
def test_an_agent_file_without_its_name_is_not_a_file_of_another_kind(text: str, tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        Engine.open(tmp_path)

    assert "missing-key" in {problem.code for problem in caught.value.problems}


def test_every_key_of_a_turn_file_identifies_one() -> None:
    needed, only = _MARKS["turn"]

    assert set(TurnFile.model_fields) == set(only)
    assert not needed


def test_run_says_what_it_takes(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        read_assistant(write_agent(tmp_path) / "agent.yaml")

    (problem,) = caught.value.problems
    assert (problem.code, problem.message) == ("wrong-file", "this is an agent file, not an assistant file")
    assert problem.hint == (
        "an assistant file names an agent file under `agent:` and a tool server under `server:`; `cuecard run` can "
        "also chat with an agent file directly"
    )

    (tmp_path / "tools.yaml").write_text("tools: {a: {before: b}}\n", encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        read_assistant(tmp_path / "tools.yaml")

    (problem,) = caught.value.problems
    told = "this is a file of tool instructions, not an assistant file"
    assert (problem.code, problem.message, problem.hint) == ("wrong-file", told, "name another file")
