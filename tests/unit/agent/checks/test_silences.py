"""What an agent file names and nobody has is told, with the place and the way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_line import problems
from cuecard import SpecError
from unit.agent.section_lists.agents import TOOLS, agent, opened


def told(folder: Path, text: str, /, **files: str) -> list[tuple[str, str, str, int]]:
    found = problems(agent(folder, text, **files))
    return [(each.code, each.message, each.hint, each.span.line if each.span else 0) for each in found]


ASKING = """\
agent: a
delivery: frozen
sections:
  - {id: text, text: '{{#if (tool "gte_page")}}Get.{{/if}}'}
  - {id: condition, when: {any: [{not: {tool: putt_page}}, {tool: get_page}]}, text: Put.}
  - {id: choice, choose: [{when: {tool: get_pge}, text: Get.}, {text: '{{#if (tool "put_pag")}}P{{/if}}'}]}
  - {id: fine, when: {tool: get_page}, text: '{{#if (tool "put_page")}}Put.{{/if}} {{{activeProtocols}}}'}
tools: {instructions: tools.yaml, core: [tool_search]}
"""


def test_a_tool_that_a_text_or_a_condition_asks_for_has_to_exist(tmp_path: Path) -> None:
    unknown = [each for each in told(tmp_path, ASKING, tools_yaml=TOOLS) if each[0] == "unknown-tool"]

    assert sorted((message, hint, line) for _, message, hint, line in unknown) == [
        ("no tool is called `get_pge`", "did you mean `get_page`?", 6),
        ("no tool is called `gte_page`", "did you mean `get_page`?", 4),
        ("no tool is called `put_pag`", "did you mean `put_page`?", 6),
        ("no tool is called `putt_page`", "did you mean `put_page`?", 5),
    ]


def test_without_instructions_nobody_knows_which_tools_exist(tmp_path: Path) -> None:
    asking = ASKING.replace("tools: {instructions: tools.yaml, core: [tool_search]}\n", "")

    assert "unknown-tool" not in [code for code, *_ in told(tmp_path, asking.replace(" {{{activeProtocols}}}", ""))]


def test_a_group_without_a_section_is_reported(tmp_path: Path) -> None:
    text = """\
agent: a
layout:
  groups:
    outer: {title: Outer}
    inner: {title: Inner, group: outer}
    spare: {title: Spare}
sections: [{id: a, group: inner, text: A}]
"""
    hint = "give a section `group: spare`, or remove the group"

    assert told(tmp_path, text) == [("no-effect", "no section is in the group `spare`", hint, 6)]


def test_a_group_whose_sections_another_file_removes_is_fine(tmp_path: Path) -> None:
    base = "agent: a\nlayout: {groups: {g: {title: G}}}\nsections: [{id: a, text: A}, {id: b, group: g, text: B}]\n"

    assert told(tmp_path, "extends: base.yaml\nsections: [{id: b, remove: true}]\n", base_yaml=base) == []


@pytest.mark.parametrize(
    ("history", "section", "is_told"),
    [
        ("{policy: window}", "text: A", True),
        ("{policy: window}", 'text: "{{{conversationSummary}}}"', False),
        ("{policy: window}", 'choose: [{when: brief, text: A}, {text: "{{{conversationSummary}}}"}]', False),
        ("{policy: window, summarize: never}", "text: A", False),
        ("{policy: window, summary: {show: message}}", "text: A", False),
        ("{policy: blocks}", "text: A", False),
        ("{policy: blocks, summary: {show: section}}", "text: A", True),
        ("{policy: last}", "text: A", False),
    ],
)
def test_a_summary_that_no_section_shows_is_reported(
    tmp_path: Path, history: str, section: str, *, is_told: bool
) -> None:
    inputs = "inputs: {brief: {type: boolean, default: false}}"
    text = f"agent: a\n{inputs}\nhistory: {history}\nsections: [{{id: a, {section}}}]\n"
    message = "summaries of earlier messages are made, but no section shows them"

    assert [told[:2] + told[3:] for told in told(tmp_path, text) if told[0] == "no-effect"] == (
        [("no-effect", message, 3)] if is_told else []
    )


FILES = "agent: a\nsections: [{id: a, text: A}, {id: b, files: {entries: [ENTRY]}}]\n"


@pytest.mark.parametrize("path", ["notes", "notes/", "./notes"])
def test_an_entry_that_names_a_folder_is_an_error(tmp_path: Path, path: str) -> None:
    place = r"agent\.yaml:2:\d+: error\[missing-file\]: "
    with pytest.raises(SpecError, match=place + r"`\S*notes/?` is a folder") as caught:
        opened(tmp_path, FILES.replace("ENTRY", f"{{path: [HOUSE.md, {path}]}}"), notes__a_md="A note.")

    assert "name a file in it, or show all of them with `glob:" in str(caught.value)


SECTION = "sections: [{id: a, text: A}, {id: b, %s}]"
EMPTY = [
    *(SECTION % each for each in ('file: ""', 'files: {entries: [{path: ""}]}', 'choose: [{file: ""}]')),
    *(SECTION % f"skills: {{roots: {each}}}" for each in ('""', '["", " "]')),
    *(f"roots: {each}\n{SECTION % 'text: B'}" for each in ('""', '[".", ""]')),
    'template: ""',
    'template: {file: " "}',
    *(f"{each}\n{SECTION % 'text: B'}" for each in ('tools: {instructions: ["", " "]}', 'extends: ""')),
    *(f"{each}\n{SECTION % 'text: B'}" for each in ('results: {search: {file: ""}}', 'extends: [" "]')),
]


@pytest.mark.parametrize("said", EMPTY)
def test_an_empty_path_is_an_error(tmp_path: Path, said: str) -> None:
    with pytest.raises(SpecError, match=r"agent\.yaml:2:\d+: error\[missing-file\]: a path is empty") as caught:
        opened(tmp_path, f"agent: a\n{said}\n")

    assert {each.code for each in caught.value.problems} == {"missing-file"}


def test_a_folder_that_is_not_there_is_told_where_it_is_named(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"agent\.yaml:2:\d+: error\[missing-file\]: `skils` is not a folder"):
        opened(tmp_path, f"agent: a\n{SECTION % 'skills: {roots: [., skils]}'}\n")

    ((code, message, _, line),) = told(tmp_path, f"agent: a\nroots: [., ../shraed]\n{SECTION % 'text: B'}\n")
    assert (code, message, line) == ("no-effect", "`../shraed` is not a folder: no link can lead there", 2)


def test_what_the_host_supplies_may_have_the_name_of_a_folder(tmp_path: Path) -> None:
    supplied = FILES.replace("entries: [ENTRY]", "supplied: true, entries: [{path: notes}]")
    assert told(tmp_path, supplied, notes__a_md="A note.") == []


def test_the_name_of_a_shipped_agent_is_not_a_path(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"agent\.yaml:1:10: error\[missing-file\]: `cms` does not exist") as caught:
        opened(tmp_path, "extends: cms\nagent: a\n")

    assert "`cms` is shipped with cuecard, but `extends` takes the path of an agent file: copy" in str(caught.value)
