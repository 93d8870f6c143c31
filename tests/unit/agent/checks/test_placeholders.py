from __future__ import annotations

import pytest

from unit.agent.checks.agents import checked, codes, place


def section(text: str) -> str:
    return f"<a>\n<user>{text}</user>\n</a>"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('<p of="{{name}}"/>', []),
        ('<p of="{{{name}}}"/>', ["attribute-placeholder"]),
        ('<p of="{{&name}}"/>', ["attribute-placeholder"]),
        ('<p of="a {{#if name}}{{{name}}}{{/if}}"/>', ["attribute-placeholder"]),
        ('<p of="it\'s {{{name}}}"/>', ["attribute-placeholder"]),
        ("<p of='{{name}}'/>", ["attribute-quotes"]),
        ("<p of='say \"hi\" {{{name}}}'/>", ["attribute-quotes"]),
        ('<p {{name}}="x"/>', ["tag-placeholder"]),
        ("<p-{{name}}/>", ["tag-placeholder"]),
        ("<{{name}}/>", ["tag-placeholder"]),
        ("<{{name}}></{{name}}>", ["tag-placeholder", "tag-placeholder"]),
        ('<p of="x">{{{name}}}</p>', []),
        ('<p of="x > y">{{{name}}}</p>', []),
        ('<!-- <p of="{{{name}}}"> -->', ["xml-place"]),
    ],
)
def test_where_a_placeholder_appears_in_a_tag_decides(text: str, expected: list[str]) -> None:
    assert codes(section(text)) == expected


def test_every_one_is_reported_with_its_place() -> None:
    found = checked(section('<p of="{{{name}}}"/>\n<q of="{{name}}" by="{{{ name }}}"/>'))

    assert [place(problem) for problem in found] == ["agent.xml:2:14 {{{name}}}", "agent.xml:3:22 {{{ name }}}"]
    assert found[0].hint == "write `{{name}}`"


def test_partials_are_checked_too() -> None:
    (problem,) = checked(section("{{> p}}"), {"p.hbs": "<p of='{{name}}'/>"})

    assert place(problem) == "p.hbs:1:8 {{name}}"
