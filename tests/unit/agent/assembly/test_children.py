"""An agent file over another one with a template: what it may say of the sections, and which template then holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuecard import Engine, SpecError
from unit.agent.assembly.cores import CORE, HEAD, agent, body, child, errors, ids, opened, refused, step, write

LIST = "agent: list\nlayout: {heading: '# {{title}}: '}\nsections: [{id: tone, title: Tone, text: Be dry.}]\n"
OWN = "<agent>\n<tone>\nBe loud.\n</tone>\n</agent>\n"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("{id: tone, remove: true}", ["identity", "rules"]),
        ("{id: tone, before: identity}", ["tone", "identity", "rules"]),
        ("{id: identity, after: rules}", ["tone", "rules", "identity"]),
        ("{id: new, before: identity, text: New.}", ["new", "identity", "tone", "rules"]),
        ("{id: new, after: rules, text: New.}", ["identity", "tone", "rules", "new"]),
        (
            "{id: new, after: tone, text: New.}, {id: newer, after: new, text: N.}",
            ["identity", "tone", "new", "newer", "rules"],
        ),
    ],
)
def test_a_child_removes_moves_and_adds(tmp_path: Path, said: str, expected: list[str]) -> None:
    assert ids(child(tmp_path, f"sections: [{said}]\n")) == expected


def test_what_is_only_moved_stays_as_it_is_written(tmp_path: Path) -> None:
    system = step(child(tmp_path, "sections: [{id: rules, before: identity, priority: 3}]\n")).system

    assert system == CORE.replace("<rules>\nPromise nothing.\n</rules>\n", "").replace(
        "<identity>", "<rules>\nPromise nothing.\n</rules>\n<identity>"
    ).replace("{{{user}}}", "Ann")


def test_grandchildren_change_what_children_have_changed(tmp_path: Path) -> None:
    child(tmp_path, "sections: [{id: new, after: tone, text: New.}, {id: tone, remove: true}]\n")
    (tmp_path / "agent.yaml").rename(tmp_path / "mid.yaml")
    engine = opened(tmp_path, "extends: mid.yaml\nsections: [{id: new, text: Newer.}, {id: tone, after: new}]\n")

    assert ids(engine) == ["identity", "new", "tone", "rules"]
    assert body(engine, "new") == "<new>\nNewer.\n</new>\n"
    assert body(engine, "tone") == "<tone>\nBe kind.\n</tone>\n"


def test_several_files_below_change_one_template(tmp_path: Path) -> None:
    write(tmp_path / "mix.yaml", "sections: [{id: new, after: tone, text: Of the mix.}]\n")
    agent(tmp_path / "house", HEAD, core_xml=CORE)
    engine = opened(tmp_path, "extends: [house, mix.yaml]\nsections: [{id: new, priority: 1}]\n")

    assert ids(engine) == ["identity", "tone", "new", "rules"]
    assert step(engine).manifest.origins["sections.new.text"] == "mix.yaml:1"


@pytest.mark.parametrize(
    ("below", "said"),
    [
        ("sections: [{id: rules, budget: 300}]\n", "sections: [{id: tone, file: tone.md}]\n"),
        ("sections: [{id: tone, budget: 300}]\n", "sections: [{id: tones, after: tone, file: tone.md}]\n"),
        ("sections: [{id: tones, after: tone, text: x}]\n", "sections: [{id: tone, file: tone.md}]\n"),
    ],
)
def test_a_text_in_a_file_is_read_whatever_else_is_changed(tmp_path: Path, below: str, said: str) -> None:
    assert "From a file." in step(child(tmp_path, said, below, tone_md="From a file.")).system


# Which template holds.


def over(folder: Path, below: str, said: str) -> Engine:
    agent(folder / "house", below, core_xml=CORE)
    return opened(folder, f"extends: house\n{said}", own_xml=OWN)


@pytest.mark.parametrize(
    ("below", "said", "expected"),
    [
        (HEAD + "sections: [{id: tone, text: Hi.}, {id: rules, remove: true}]\n", "template: own.xml\n", OWN),
        (HEAD + "sections: [{id: tone, text: Hi.}]\n", "template: {file: own.xml}\n", OWN),
        (LIST, "template: own.xml\n", OWN),
        (LIST, "template: own.xml\nsections: [{id: tone, text: Hi.}]\n", OWN.replace("Be loud", "Hi")),
        (
            HEAD + "sections: [{id: x, after: tone, text: X}]\n",
            "template: null\nsections: [{id: tone, text: Hi.}]\n",
            "Hi.",
        ),
        (LIST, "template: null\nsections: [{id: more, text: Hi.}]\n", "# Tone: Be dry.\n\nHi."),
        (
            HEAD + "layout: {separator: '-'}\nsections: [{id: x, after: tone, text: X}]\n",
            "template: null\nsections: [{id: tone, text: Hi}, {id: more, text: there}]\n",
            "Hi-there",
        ),
        (
            HEAD + "sections: [{id: rules, remove: true}]\n",
            "template: {file: house/core.xml, escaping: names}\n",
            CORE.replace("{{{user}}}", "Ann").replace("<rules>\nPromise nothing.\n</rules>\n", ""),
        ),
    ],
)
def test_a_file_that_names_another_template_starts_over(tmp_path: Path, below: str, said: str, expected: str) -> None:
    assert step(over(tmp_path, below, said)).system == expected


def test_a_template_that_is_taken_away_with_nothing_in_its_place(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"agent\.yaml:2:11: error\[wrong-value\]: an agent needs either `template`"):
        over(tmp_path, HEAD, "template: null\n")
    with pytest.raises(SpecError, match=r"agent\.yaml:2:18: error\[wrong-value\]: `template\.file` should be a text"):
        over(tmp_path, HEAD, "template: {file: 3}\n")


def test_a_change_below_the_template_says_where_that_is_named(tmp_path: Path) -> None:
    write(tmp_path / "mix.yaml", "sections: [{id: tone, budget: 300}, {id: new, after: tone, text: x}]\n")
    agent(tmp_path / "house", HEAD, core_xml=CORE)
    with pytest.raises(SpecError) as caught:
        opened(tmp_path, "extends: [mix.yaml, house]\n")

    said = errors(caught.value, tmp_path)
    assert "mix.yaml:1:17: error[unknown-section]: the base of this file has no section `tone`" in said
    assert "mix.yaml:1:42: error[unknown-section]: the base of this file has no section `new`" in said
    assert said.count("= a later file names the template, at house/agent.yaml:2:11") == 2
    assert step(opened(tmp_path, "extends: [mix.yaml, house]\ntemplate: own.xml\n", own_xml=OWN)).system == OWN


def test_a_profile_below_that_needs_a_section_of_the_other_template(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        over(tmp_path, LIST.replace("tone", "rules") + "profiles: {p: {include: [rules]}}\n", "template: own.xml\n")

    said = errors(caught.value, tmp_path)
    assert "house/agent.yaml:4:26: error[unknown-section]: there is no section `rules`" in said
    assert "it is removed at agent.yaml:2:11" in said


# Mistakes name both places.

STAND = "the existing sections are defined at house/core.xml:1:1 (the `template` of house/agent.yaml:2:11)"


@pytest.mark.parametrize(
    ("said", "column", "name"),
    [
        ("{id: tonne, text: New.}", 17, "tonne"),
        ("{id: tonne, remove: true}", 17, "tonne"),
        ("{id: nothing-like-it, remove: true}", 17, "nothing-like-it"),
        ("{id: nothing-like-it, text: New.}, {id: tone, when: user}", 17, "nothing-like-it"),
        ("{id: new, before: tonne, text: New.}", 30, "tonne"),
        ("{id: tone, after: agent}", 30, "agent"),
        ("{id: agent, when: user}", 17, "agent"),
    ],
)
def test_a_section_that_does_not_exist(tmp_path: Path, said: str, column: int, name: str) -> None:
    found = refused(tmp_path, f"sections: [{said}]\n")

    assert f"agent.yaml:2:{column}: error[unknown-section]: the base of this file has no section `{name}`" in found
    assert STAND in found


@pytest.mark.parametrize(
    ("below", "said"),
    [
        ("profiles: {p: {include: [tone]}}\n", "sections: [{id: tone, remove: true}]\n"),
        ("profiles: {p: {exclude: [tone]}}\n", "sections: [{id: tone, remove: true}]\n"),
        ("variants: {v: {sections: [{id: tone, text: x}]}}\n", "sections: [{id: tone, remove: true}]\n"),
        ("", "sections: [{id: tone, remove: true}, {id: new, after: tone, text: New.}]\n"),
    ],
)
def test_a_section_that_another_needs_is_not_removed(tmp_path: Path, below: str, said: str) -> None:
    found = refused(tmp_path, said, below)

    assert "no section `tone`" in found
    assert "it is removed at agent.yaml:2:17" in found


def test_a_section_that_a_file_below_has_removed(tmp_path: Path) -> None:
    found = refused(tmp_path, "sections: [{id: tone, remove: true}]\n", "sections: [{id: tone, remove: true}]\n")

    assert "agent.yaml:2:17: error[unknown-section]: the base of this file has no section `tone`" in found
    assert "it is removed at house/agent.yaml:4:17" in found


@pytest.mark.parametrize(("below", "said"), [("sections: 3\n", "sections: []\n"), ("", "sections: 3\n")])
def test_no_file_can_wipe_out_the_sections_of_the_template(tmp_path: Path, below: str, said: str) -> None:
    found = refused(tmp_path, said, below)

    assert "error[wrong-value]: `sections` should be a list" in found
    assert found.count("error[") == 1
