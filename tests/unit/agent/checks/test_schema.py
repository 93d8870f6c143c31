from __future__ import annotations

import pytest

from shipped import content_root
from unit.agent.checks.agents import checked, codes, place


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("<a>\nBe brief.\n</a>", "agent.xml:2:1 Be brief."),
        ("<a>\n<b>x</b>\nBe brief.\n<c/>\n</a>", "agent.xml:3:1 Be brief."),
        ("<a/>", "agent.xml:1:1 <a"),
        ("<a>\n<b>x</b>\n{{name}}\n</a>", "agent.xml:3:1 {{name}}"),
        ("<a>\n<b>x</b>\n<?keep this?>\n<c/>\n</a>", "agent.xml:3:1 <?keep"),
        ('<a>\n<b xml:lang="en">x</b>\n</a>', "agent.xml:2:1 <b"),
        ('<a xmlns="urn:x">\n<b>x</b>\n</a>', "agent.xml:1:1 <a"),
        ('<a>\n<b>\n<x:c xmlns:x="urn:x"/>x</b>\n</a>', "agent.xml:3:1 <x:c"),
    ],
)
def test_anything_but_a_section_is_reported_where_it_appears(template: str, expected: str) -> None:
    (problem,) = checked(template)

    assert (problem.code, problem.severity) == ("xml-schema", "error")
    assert place(problem) == expected


@pytest.mark.parametrize(
    "template",
    [
        "<a>\n<b>mixed <c>text</c> and <d/> elements</b>\n</a>",
        '<a of="x">\n<b by="y"/>\n</a>',
        "<!-- a comment -->\n<a>\n<!-- another -->\n<b>x</b>\n</a>\n",
        "<a>\n{{#if name}}<b>x</b>{{else}}<c>x</c>{{/if}}\n</a>",
        "<a>\n{{! later }}\n{{> p}}\n</a>",
        '<a>\n<b of="{{> p}}">{{#each tasks}}{{this}}{{/each}}</b>\n</a>',
    ],
)
def test_placeholders_blocks_and_partials_break_no_rule(template: str) -> None:
    found = codes(template, {"p.hbs": "x"} if "{{> p" in template else {})

    assert "xml-schema" not in found


def test_a_rule_that_only_the_last_branch_breaks_is_reported() -> None:
    (problem,) = checked("<a>\n<b>x</b>\n{{#if name}}<c>x</c>{{else}}no section{{/if}}\n</a>")

    assert place(problem) == "agent.xml:3:29 no section"


def test_what_is_not_well_formed_is_reported_once_and_not_held_against_the_schema() -> None:
    assert codes("<a>\n<b>x\n</a>") == ["xml"]


def test_the_shipped_templates_are_valid() -> None:
    for path in (content_root() / "prompts").rglob("*.xml"):
        found = codes(path.read_text(encoding="utf-8"))

        assert "xml-schema" not in found, path
