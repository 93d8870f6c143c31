"""What an agent file may not say beside a template: each mistake where it is written, and none that misleads."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuecard import SpecError
from unit.agent.assembly.cores import CORE, HEAD, TOOLS, child, core, errors, ids


def wrong(folder: Path, said: str, template: str = CORE, head: str = HEAD, **files: str) -> str:
    with pytest.raises(SpecError) as caught:
        core(folder, said, template, head, **files)
    return errors(caught.value, folder)


def codes(found: str) -> list[str]:
    return [line.partition("error[")[2].partition("]")[0] for line in found.splitlines() if "error[" in line]


@pytest.mark.parametrize(
    "listed",
    ["[{id: hello, text: Hi.}, {id: bye, clock: {}}]", "[{id: hello, file: agent.yaml}]"],
)
def test_a_list_of_sections_next_to_a_template_is_an_error_that_names_both(tmp_path: Path, listed: str) -> None:
    found = wrong(tmp_path, f"sections: {listed}\n")

    assert codes(found) == ["two-assemblies"]
    assert codes(wrong(tmp_path, "sections: [{text: Hi.}]\n")) == ["missing-key"]
    assert "agent.yaml:4:1: error" in found
    assert "the existing sections are defined at core.xml:1:1 (the `template` of agent.yaml:2:11)" in found


@pytest.mark.parametrize(
    "said", ["sections: []\n", "sections: [{id: tone}]\n", "profiles: {}\n", "profiles: {p: {}}\n"]
)
def test_what_changes_nothing_is_not_an_error(tmp_path: Path, said: str) -> None:
    assert ids(core(tmp_path, said)) == ["identity", "tone", "rules"]


@pytest.mark.parametrize(
    ("said", "place", "key"),
    [
        ("layout: {heading: x}\n", "4:1", "layout"),
        ("layout: {}\n", "4:1", "layout"),
        ("sections: [{id: tone, title: T}]\n", "4:23", "title"),
        ("sections: [{id: tone, group: g}]\n", "4:23", "group"),
        ("profiles: {p: {sections: [{id: tone, title: T}]}}\n", "4:38", "title"),
        ("variants: {v: {sections: [{id: tone, group: g}]}}\n", "4:38", "group"),
        ("sections: [{id: tone, remove: true, text: x}]\n", "4:37", "text"),
        ("sections: [{id: tone, remove: true, before: rules}]\n", "4:37", "before"),
    ],
)
def test_a_key_that_cannot_take_effect_says_so(tmp_path: Path, said: str, place: str, key: str) -> None:
    found = wrong(tmp_path, said)

    assert codes(found) == ["no-effect"]
    assert f"agent.yaml:{place}: error[no-effect]: `{key}` has no effect" in found


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("sections: {}\n", ["wrong-value"]),
        ("sections: [1, null]\n", ["wrong-value", "wrong-value"]),
        ("sections: [{}]\n", ["missing-key", "wrong-value"]),
        ("sections: [{id: [a]}]\n", ["wrong-value", "wrong-value"]),
        ("sections: [{id: tone, before: tone}]\n", ["wrong-value"]),
        ("sections: [{id: tone, before: null}]\n", ["unknown-section"]),
        ("sections: [{id: tone, remove: 'yes'}]\n", ["wrong-value"]),
        ("sections: [{id: tone, budget: 3}, {id: tone, text: x}]\n", ["duplicate-section"]),
        ("sections: [{id: tone, when: nosuch}]\n", ["undeclared-input"]),
        ("sections: [{id: tone, file: gone.md}]\n", ["missing-file"]),
        ("profiles: {p: {sections: [{id: tone, before: rules}]}}\n", ["unknown-key"]),
        ("profiles: {small: {include: [nosuch]}}\n", ["unknown-section"]),
        ("profiles: {p: {include: [agent]}}\n", ["unknown-section"]),
        ("profiles: {p: {sections: [{id: tone, text: '<b>'}]}}\n", ["xml"]),
        ("profiles: {p: {sections: [{id: tone, text: '{{#if user}}'}]}}\n", ["unclosed-block"]),
    ],
)
def test_mistakes_of_every_kind(tmp_path: Path, said: str, expected: list[str]) -> None:
    assert codes(wrong(tmp_path, said)) == expected


# A template that is broken is told, and nothing that follows from it.

CHANGES = "sections: [{id: tone, text: New.}, {id: gone, remove: true}]\nprofiles: {p: {include: [nowhere]}}\n"


@pytest.mark.parametrize(
    ("broken", "expected"),
    [
        (CORE.replace("</tone>", "</tune>"), ["xml"]),
        (CORE.replace("{{{user}}}", "{{#if user}}"), ["unclosed-block"]),
        ("", ["xml"]),
        ("Only words, {{user}}.", ["xml"]),
    ],
)
def test_a_broken_template_is_all_that_is_reported(tmp_path: Path, broken: str, expected: list[str]) -> None:
    assert codes(wrong(tmp_path, CHANGES, broken)) == expected


def test_a_missing_template_is_all_that_is_reported(tmp_path: Path) -> None:
    assert codes(wrong(tmp_path, CHANGES, head=HEAD.replace("core.xml", "gone.xml"))) == ["missing-file"]


def test_alongside_a_broken_template_wrong_values_are_reported_too(tmp_path: Path) -> None:
    found = wrong(tmp_path, "sections: [{id: tone, before: identity, budget: many}]\n", CORE.replace("</tone>", ""))

    assert codes(found) == ["wrong-value", "xml"]
    assert "agent.yaml:4:49: error[wrong-value]: `sections.tone.budget` should be a whole number" in found


# The place for tool instructions.

TOOLED = CORE.replace("</agent>", "<tools>\n{{{activeProtocols}}}\n</tools>\n</agent>")
WITH_TOOLS = HEAD + "tools: {instructions: tools.yaml, core: [tool_search]}\n"


def warned(folder: Path, said: str) -> str:
    """What an agent that opens is warned of."""
    warnings = core(folder, said, TOOLED, WITH_TOOLS, tools_yaml=TOOLS).agent.warnings
    return "\n\n".join(warning.picture() for warning in warnings).replace(f"{folder}/", "")


def test_an_agent_that_replaces_the_place_for_instructions_is_told_which(tmp_path: Path) -> None:
    found = warned(tmp_path, "sections: [{id: tools, text: None.}]\n")

    assert "agent.yaml:5:30: warning[no-protocols]: the placeholder for tool instructions is lost" in found
    assert "core.xml:11 has it, in <tools>" in found


def test_so_is_a_base_file_that_fills_it_from_another_file(tmp_path: Path) -> None:
    below = "tools: {instructions: ../tools.yaml}\nsections: [{id: tools, file: ../none.md}]\n"
    said = "sections: [{id: tone, text: Be brief.}]\n"
    engine = child(tmp_path, said, below, TOOLED, tools_yaml=TOOLS, none_md="None.")
    (warning,) = (each for each in engine.warnings if each.code == "no-protocols")

    assert warning.picture().startswith(f"{tmp_path}/house/agent.yaml:5:12: warning[no-protocols]")


def test_an_agent_that_removes_it_is_told_where(tmp_path: Path) -> None:
    found = warned(tmp_path, "sections: [{id: tools, remove: true}]\n")

    assert "warning[no-protocols]" in found
    assert "core.xml:11 has it, in <tools>" in found
    assert "the element is removed at agent.yaml:5:17" in found


def test_another_section_may_have_it_instead(tmp_path: Path) -> None:
    said = "sections: [{id: tools, remove: true}, {id: tone, text: 'Tools: {{{activeProtocols}}}'}]\n"

    assert warned(tmp_path, said) == ""


def test_what_is_replaced_is_read_no_more(tmp_path: Path) -> None:
    engine = child(tmp_path, "sections: [{id: identity, text: You help.}]\n")

    assert [warning.code for warning in engine.warnings] == ["unused-input"]
