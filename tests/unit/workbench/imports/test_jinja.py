# ruff: noqa: E501 - templates stay on one line
"""A Jinja template that is translated prints what Jinja prints; whatever it holds, only our own errors are raised."""

from __future__ import annotations

from collections.abc import Mapping

import jinja2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard import CuecardError, compile_template
from cuecard.types import InputType
from cuecard.workbench.imports.jinja import from_jinja
from cuecard.workbench.imports.prompt import Notes
from cuecard.workbench.imports.writer import escaped

TYPES: Mapping[str, InputType] = {
    "name": "string",
    "items": "list",
    "vip": "boolean",
    "facts": "object",
    "n": "integer",
}
VALUES = st.fixed_dictionaries(
    {
        "name": st.sampled_from(["", "Jana", "O'Neil & <i>", "two words "]),
        "items": st.sampled_from([[], ["rye"], ["rye", "rolls"]]),
        "vip": st.booleans(),
        "facts": st.sampled_from([{}, {"town": "Graz"}]),
        "n": st.integers(-2, 2),
    }
)
TEXTS = st.sampled_from(["a", "\n", " ", "  \n", "{", "}", "\\", "- ", "<b>", "`"])
PRINTED = st.sampled_from([
    "{{ name }}", "{{ name|upper }}", "{{ name | trim | lower }}", "{{ items | join('; ') }}", "{{ items|length }}", "{{ n }}",
    "{{ 'x' if vip else name }}", "{{ name or 'nobody' }}", "{{- name -}}", "{# remark #}", "{% raw %}{{ x }}{% endraw %}",
])  # fmt: skip
ASKED = st.sampled_from([
    "vip", "not vip", "facts", "not facts", "name == 'Jana'", "n > 0", "n <= 1", "vip and items", "name in items", "n != 0 or vip",
    "name|length > 3",
])  # fmt: skip
DASH = st.sampled_from(["", "-"])


def _blocks(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    body = st.lists(inner, max_size=4).map("".join)
    asked = st.builds(
        lambda a, b, c, d, e: f"{{%{d} if {a} {e}%}}{b}{{% else %}}{c}{{%{e} endif {d}%}}",
        ASKED,
        body,
        body,
        DASH,
        DASH,
    )
    looped = st.builds(
        lambda b, c, d, e: f"{{%{d} for item in items {e}%}}{b}{{{{ item }}}}{{% if loop.first %}}!{{% endif %}}{{% else %}}{c}"
        f"{{% endfor {d}%}}",
        body, body, DASH, DASH,
    )  # fmt: skip
    return asked | looped


PLAIN = st.lists(st.recursive(TEXTS | PRINTED, _blocks, max_leaves=8), max_size=8).map("".join)
TAGS = st.sampled_from(
    [
        "{{",
        "}}",
        "{%",
        "%}",
        "{#",
        "#}",
        " if ",
        " for x in ",
        "endif",
        "endfor",
        "name",
        "|",
        ".",
        "[",
        "(",
        "'",
        "set",
    ]
)


@given(PLAIN, VALUES)
def test_it_prints_what_jinja_prints(text: str, values: dict[str, object]) -> None:
    try:
        expected = jinja2.Environment(keep_trailing_newline=True).from_string(text).render(values)  # noqa: S701 - prompts are no pages
    except jinja2.TemplateSyntaxError:
        return
    notes = Notes("mail.prompty", text)
    written, _ = from_jinja(text, TYPES, notes, 1)

    assert notes.problems == []
    assert compile_template(written, escaping="names").render(values) == expected


@given(st.lists(TEXTS | TAGS | PRINTED, max_size=12).map("".join))
def test_any_text_is_translated_or_reported(text: str) -> None:
    notes = Notes("mail.prompty", text)
    try:
        written, reads = from_jinja(text, TYPES, notes, 1)
    except CuecardError:
        return
    compile_template(written)

    assert all(name.isidentifier() for name in reads)


@given(st.text("{}\\ax\n!", max_size=12))
def test_an_escaped_text_is_printed_unchanged(text: str) -> None:
    assert compile_template(f"{escaped(text)}{{{{{{x}}}}}}").render({"x": "!"}) == f"{text}!"


@pytest.mark.parametrize(
    "text", ["{{ " + "(" * 3000 + "x" + ")" * 3000 + " }}", "{% if x %}" * 2000 + "{% endif %}" * 2000]
)
def test_deep_nesting_is_an_error_of_ours_or_none(text: str) -> None:
    told = _codes(text)

    assert told in ([], ["jinja-syntax"])


def _codes(text: str) -> list[str]:
    notes = Notes("mail.prompty", text)
    try:
        from_jinja(text, TYPES, notes, 1)
    except CuecardError as error:
        return [problem.code for problem in error.problems]
    return [problem.code for problem in notes.problems if problem.severity == "error"]


@pytest.mark.parametrize("facts", [{}, {"town": "Graz"}, {"k": "v", "town": "Linz"}])
@pytest.mark.parametrize("name", ["", "Jana", " two words ", "a\nb\n\nc"])
@pytest.mark.parametrize(
    "text",
    [
        "{{ name.strip() }}", "{{ name[:3] }}", "{{ name ~ '!' }}", "{{ name | replace('a', 'b') }}", "{{ name | indent(2) }}",
        "{% for k, v in facts.items() %}{{ k }}={{ v }};{% endfor %}", "{% for v in facts.values() %}{{ v }};{% endfor %}",
        "{% if name is defined %}y{% endif %}", "{{ facts.get('town', 'z') }}", "{{ name | truncate(80) }}",
        "{{ facts | tojson(indent=2) }}",
        "{% if name %}A{% elif facts %}\n{{ name }}\n{% else %}c{% endif %}\nB", "{% if name %}A{% elif facts %}\nx\n{% else %}c\n{% endif %}\nB",
        "{% for v in facts.values() %}{% for w in facts.values() %}{{ v }}{{ w }}{{ name }};{% endfor %}{% endfor %}",
    ],
)  # fmt: skip
def test_an_idiom_with_a_counterpart_prints_what_jinja_prints(text: str, name: str, facts: Mapping[str, str]) -> None:
    values = {"name": name, "facts": dict(facts)}
    written, _ = from_jinja(text, TYPES, Notes("p.prompty", text), 1)

    expected = jinja2.Environment(keep_trailing_newline=True, autoescape=False).from_string(text).render(values)  # noqa: S701 - texts
    assert compile_template(written).render(values) == expected
