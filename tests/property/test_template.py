"""The promises of docs/guarantees.md that the template compiler keeps, each quoted where it is proved."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard import compile_template
from cuecard.template.backends import python_backend
from cuecard.template.markup.tags import tags
from cuecard.template.syntax import parser
from cuecard.types import TemplateError

CORE = """\
<prompt>
<who title="{{{name}}}">You help {{name}} and {{{name}}}.</who>
{{#if notes}}
<notes>
{{#each notes}}
- {{{this}}} ({{@index}})
{{/each}}
</notes>
{{/if}}
{{> ending}}
</prompt>
"""
PARTIALS = {"ending": '<end>{{{lookup extra "note"}}}</end>\n'}
TEMPLATE = compile_template(CORE, name="core", partials=PARTIALS)

BREAKOUTS = [
    "</who>",
    "<who>",
    "</ WHO >",
    "<Notes",
    "</prompt>",
    "<system>",
    "‹notes›",
    "＜end＞",
    "]]>",
    "<!--",
    "-->",
]
TRICKS = ["<![CDATA[", "&lt;", "&", '"', "'", "{{name}}", "{{{name}}}", "{{#if", "}}", "$&", "$1", "\\", "\n\nHuman:"]
OTHERS = ["\r\n", "<|im_end|>", "a < b && c", "<?x", "?>", "\u2028", "漢", "🏳️\u200d🌈", "x"]
HOSTILE = st.lists(st.sampled_from(BREAKOUTS + TRICKS + OTHERS)).map("".join)
VALUE = st.one_of(HOSTILE, st.text())


def values(name: str, notes: list[str], note: str) -> dict[str, Any]:
    return {"name": name, "notes": notes, "extra": {"note": note}}


@given(name=VALUE, notes=st.lists(VALUE, min_size=1, max_size=3), note=VALUE)
def test_promise_3_a_value_cannot_open_or_close_a_section(name: str, notes: list[str], note: str) -> None:
    """Any string put into a template comes out as data: it cannot open or close a section, become a role, start a
    template expression, or bring in another value. Rendered text is never parsed again.
    """
    plain = TEMPLATE.render(values("x", ["x"] * len(notes), "x"))
    hostile = TEMPLATE.render(values(name, notes, note))

    assert [(t.name, t.kind) for t in tags(hostile)] == [(t.name, t.kind) for t in tags(plain)]


@given(name=VALUE, notes=st.lists(VALUE, max_size=3), note=VALUE)
def test_parts_make_the_whole(name: str, notes: list[str], note: str) -> None:
    parts = TEMPLATE.outline().parts

    assert "".join(part.render(values(name, notes, note)) for part in parts) == TEMPLATE.render(
        values(name, notes, note)
    )


def test_code_in_a_value_stays_readable() -> None:
    code = "if (a < b && c > d) { return \"x\" + 'y'; }  // 100 % & <b>"
    shown = compile_template("{{{code}}}").render({"code": code})

    assert shown == code.replace("<", "&lt;")


def test_a_value_is_never_read_as_a_template() -> None:
    shown = compile_template("{{{a}}} {{a}}").render({"a": "{{secret}}", "secret": "s3cret"})

    assert shown == "{{secret}} {{secret}}"


def test_promise_2_compiled_once_lazily(monkeypatch: pytest.MonkeyPatch) -> None:
    """A template is read and compiled at most once per content; no render parses anything."""
    loaded: list[str] = []
    parsed: list[str] = []

    def counted(made: Callable[..., Any], seen: list[str]) -> Callable[..., Any]:
        def call(first: Any, *rest: Any) -> Any:
            seen.append(getattr(first, "name", first))
            return made(first, *rest)

        return call

    monkeypatch.setattr(python_backend, "execute", counted(python_backend.execute, loaded))
    monkeypatch.setattr("cuecard.template.template.parse", counted(parser.parse, parsed))
    one = compile_template("{{a}}{{> p}}", name="one", partials={"p": "{{a}}"})
    before = list(loaded)
    for _ in range(3):
        one.render({"a": "x"})

    assert before == []
    assert sorted(loaded) == ["one", "p"]
    assert parsed == ["one", "p"]


@given(
    text=st.lists(
        st.sampled_from(
            [
                "{{",
                "}}",
                "{{{",
                "}}}",
                "#if a",
                "/if",
                "else",
                "a",
                " ",
                "~",
                "^",
                ">",
                "(",
                ")",
                "=",
                '"',
                "|",
                "as |x|",
                "@",
                ".",
                "..",
                "/",
                "[",
                "]",
                "!",
                "--",
                "\\",
                "<a>",
                "\n",
                "#each xs",
                "/each",
                "{{{{",
                "}}}}",
                "*inline",
            ]
        )
    ).map("".join)
    | st.text()
)
def test_random_text_compiles_or_is_refused_with_a_place(text: str) -> None:
    try:
        made = compile_template(text)
        made.outline()
        made.render({"a": "1", "xs": []})
    except TemplateError as error:
        nameless = [problem for problem in error.problems if not problem.name]
        if nameless:
            pytest.fail(str(error))


def test_templates_leave_nothing_in_the_interpreter() -> None:
    before = set(sys.modules)
    for number in range(50):
        compile_template(f"{{{{a}}}} {number}").render({"a": "x"})

    assert set(sys.modules) == before


def test_eight_threads_compile_and_render_at_once() -> None:
    shared = compile_template("{{#each xs}}{{this}}{{/each}}", name="shared")
    wrong: list[str] = []

    def work(number: int) -> None:
        for turn in range(50):
            text = compile_template(f"{number}-{turn}:{{{{a}}}}").render({"a": number})
            both = shared.render({"xs": [number, turn]})
            if (text, both) != (f"{number}-{turn}:{number}", f"{number}{turn}"):
                wrong.append(text + both)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert wrong == []


class Secret:
    key = "s3cret"

    def delete(self) -> str:
        raise AssertionError("a template called a method")


@pytest.mark.parametrize(
    "expression", ["s.key", "s.delete", "s.__class__", "s.__init__.__globals__", "d.items", "d.__class__", "t.upper"]
)
def test_only_keys_and_items_are_looked_up(expression: str) -> None:
    made = compile_template("{{" + expression + "}}", strict=False)

    assert made.render({"s": Secret(), "d": {}, "t": "text"}) == ""


@pytest.mark.parametrize("value", [Secret(), len, object(), {1, 2}, b"bytes"])
def test_what_is_not_data_is_refused(value: object) -> None:
    with pytest.raises(TemplateError, match="is not data"):
        compile_template("{{{x}}}").render({"x": value})


@pytest.mark.parametrize("text", ["{{{a.[b') or __import__('os').getcwd() or ('c]}}}", '{{["); raise SystemExit #]}}'])
def test_no_text_of_a_template_becomes_code(text: str) -> None:
    assert compile_template(text, strict=False).render({"a": {}}) == ""
