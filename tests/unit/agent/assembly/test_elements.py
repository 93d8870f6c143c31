"""Texts as elements: whose tags they get, which ids can be elements, and what a section of a template is."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuecard import SpecError, Turn
from unit.agent.assembly.cores import CORE, body, core, errors, ids, is_xml, step

NOTES = "<agent>\n<note>\nOne\n</note>\n<note>\nTwo\n</note>\n</agent>\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\n\n# Tone\n\n- Be brief.\n\n", "<tone>\n# Tone\n\n- Be brief.\n</tone>\n"),
        ("Hello <tone>x</tone>", "<tone>\nHello <tone>x</tone>\n</tone>\n"),
        ("<tone>x</tone><tone>y</tone>", "<tone>\n<tone>x</tone><tone>y</tone>\n</tone>\n"),
        ("<tones>x</tones>", "<tone>\n<tones>x</tones>\n</tone>\n"),
        ("{{#if user}}<tone>x</tone>{{else}}none{{/if}}", "<tone>\n<tone>x</tone>\n</tone>\n"),
        ("{{user}}<tone>x</tone>", "<tone>\nAnn<tone>x</tone>\n</tone>\n"),
    ],
)
def test_a_text_gets_the_tags_of_its_section(tmp_path: Path, text: str, expected: str) -> None:
    engine = core(tmp_path, f"sections: [{{id: tone, text: {text!r}}}]\n".replace("\\\\n", "\\n").replace("'", '"'))

    assert body(engine, "tone") == expected


@pytest.mark.parametrize(
    "text",
    [
        "<tone>x</tone>",
        '<tone kind="a">\n<deep>x</deep>\n</tone>',
        "<tone/>",
        "<!-- why --> <tone>x</tone>",
        "{{! why }}<tone>{{user}}</tone>",
        "{{#if user}}<tone>x</tone>{{/if}}",
        "{{#if user}}\n<tone>x</tone>\n{{else}}\n<tone>y</tone>\n{{/if}}",
        "{{#if user}}{{#unless user}}<tone>x</tone>{{else}}<tone>y</tone>{{/unless}}{{/if}}",
    ],
)
def test_a_text_that_brings_these_tags_gets_no_others(tmp_path: Path, text: str) -> None:
    engine = core(tmp_path, "sections: [{id: tone, file: tone.md}]\n", tone_md=text)

    shown = body(engine, "tone")
    assert shown.count("<tone") == 1
    assert shown.endswith(">\n")


def test_a_text_that_says_nothing_leaves_no_tags(tmp_path: Path) -> None:
    engine = core(tmp_path, 'sections: [{id: tone, text: "{{{user}}}"}]\n')
    made = step(engine, Turn({"user": " \n"}))

    assert "<tone>" not in made.system
    assert [(cut.what, cut.reason) for cut in made.manifest.cuts] == [("tone", "empty")]


def test_the_second_element_of_a_name_is_changed_by_its_number_and_keeps_its_name(tmp_path: Path) -> None:
    engine = core(tmp_path, "sections: [{id: note-2, text: Three}]\n", NOTES, head="agent: a\ntemplate: core.xml\n")

    assert ids(engine) == ["note", "note-2"]
    assert step(engine).system == NOTES.replace("Two", "Three")


def test_ids_are_unlike_each_other_whatever_elements_are_called(tmp_path: Path) -> None:
    template = "<agent><note>1</note><note>2</note><note-2>3</note-2><note>4</note><agent>5</agent></agent>"
    engine = core(tmp_path, "", template, head="agent: a\ntemplate: core.xml\n")

    assert ids(engine) == ["note", "note-3", "note-2", "note-4", "agent-2"]
    assert step(engine).system == template


@pytest.mark.parametrize("name", ["a·b", "日本", "_a", "a.b", "x-1", "XML"])
def test_an_element_may_be_called_what_xml_allows(tmp_path: Path, name: str) -> None:
    said = f"sections: [{{id: {name}, text: New.}}, {{id: {name}er, after: {name}, text: Newer.}}]\n"
    system = step(core(tmp_path, said, CORE.replace("tone>", f"{name}>"))).system

    assert f"<{name}>\nNew.\n</{name}>\n<{name}er>\nNewer.\n</{name}er>\n" in system
    assert is_xml(system)


@pytest.mark.parametrize("name", ["01-x", "'a:'", "'a:b'"])
def test_a_new_section_cannot_be_called_what_no_element_is(tmp_path: Path, name: str) -> None:
    with pytest.raises(SpecError) as caught:
        core(tmp_path, f"sections: [{{id: {name}, after: tone, text: New.}}]\n")

    assert "agent.yaml:4:17: error[wrong-value]: " in errors(caught.value, tmp_path)
    assert "is not a valid element name" in errors(caught.value, tmp_path)


def test_a_new_section_cannot_be_called_like_the_root(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        core(tmp_path, "sections: [{id: agent, after: tone, text: New.}]\n")

    assert "agent.yaml:4:17: error[duplicate-section]: `agent` is the template's root element" in str(caught.value)
    assert "the root is at core.xml:1" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a < b", "4:32: error[xml]: "),
        ("a & b", "4:33: error[xml]: "),
        ("<b>x", "4:30: error[xml]: "),
        ("x</tone><evil>y</evil><tone>", "4:31: error[xml]: "),
        ("{{#if user}}<b>{{/if}}x</b>", "4:42: error[xml-branch]: "),
        ("<!-- {{user}} -->", "4:35: error[xml-place]: "),
        ("<!DOCTYPE x>", "4:30: error[xml-doctype]: "),
    ],
)
def test_a_text_that_is_not_xml_is_an_error_where_it_is_written(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(SpecError) as caught:
        core(tmp_path, f"sections: [{{id: tone, text: '{text}'}}]\n")

    assert f"agent.yaml:{problem}" in errors(caught.value, tmp_path)


ROOTS = {
    "comments, CDATA and text belong to the element before them": (
        "<?xml version='1.0'?>\n<agent>\nIntro.\n<!-- -->\n<a>1</a>\n<![CDATA[ <x> & ]]>\nWords.\n<b>2</b>\n</agent>\n",
        ["a", "b"],
    ),
    "blocks with and without elements": (
        "<agent>\n{{#if user}}\n<a>1</a>\n<b>2</b>\n{{else}}\n<c>3</c>\n{{/if}}\n{{#if user}}\nHi\n{{/if}}\n</agent>\n",
        ["a", "if-user"],
    ),
    "one line": ("<agent><a>1</a><b>2</b> <c/></agent>", ["a", "b", "c"]),
    "nothing": ("<agent/>", []),
    "nothing between the tags": ("<agent>\n</agent>\n", []),
    "indented": ("<agent>\n  <a>\n    1\n  </a>\n  <b>2</b>\n</agent>\n", ["a", "b"]),
}


@pytest.mark.parametrize("root", ROOTS)
def test_the_sections_of_a_template(tmp_path: Path, root: str) -> None:
    template, expected = ROOTS[root]
    head = "agent: a\ntemplate: core.xml\n" + ("inputs: {user: {default: Ann}}\n" if "user" in template else "")
    engine = core(tmp_path, "", template, head=head)

    assert ids(engine) == expected
    assert is_xml(step(engine).system)


@pytest.mark.parametrize("root", [name for name, (_, expected) in ROOTS.items() if expected])
def test_each_of_them_can_be_removed_replaced_and_moved(tmp_path: Path, root: str) -> None:
    template, names = ROOTS[root]
    head = "agent: a\ntemplate: core.xml\ninputs: {user: {default: Ann}}\n"
    for name in names:
        changes: list[dict[str, object]] = [{"id": name, "remove": True}, {"id": name, "text": "New."}]
        changes += [{"id": name, "before": other} for other in names if other != name]
        for change in changes:
            made = step(core(tmp_path, f"sections: [{change}]\n", template, head=head))

            assert is_xml(made.system)
            assert ("New." in made.system) is ("text" in change)
            assert sum(s.tokens for s in made.segments) == made.manifest.tokens.system
