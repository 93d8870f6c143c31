"""Loops and partials: what they print is Handlebars', and they make nothing that their bodies do not read."""

from __future__ import annotations

from typing import Any, NoReturn

import pytest

from cuecard import TemplateRenderError, compile_template, trusted
from cuecard.template.runtime.runtime import Runtime
from cuecard.types import Json, Limits, TemplateLimitError

VALUES: dict[str, Any] = {
    "site": "bakery",
    "names": ["a", "b<", "c"],
    "many": [f"n{number}" for number in range(40)],
    "map": {"10": "x", "b": "y", "2": "z"},
    "rows": [{"name": "a", "tags": ["x", "y"]}, {"name": "b", "tags": []}],
    "mixed": ["a", 1, None, True, 2.5, "é", trusted("<b>")],
}


def rendered(text: str, **partials: str) -> str:
    return compile_template(text, partials=partials, escaping="handlebars").render(VALUES)


def refuse(*_args: object, **_named: object) -> NoReturn:
    raise AssertionError("made for nobody")


LOOPS = {
    "{{#each names}}{{this}},{{/each}}": "a,b&lt;,c,",
    "{{#each names}}{{{this}}}{{@index}}{{#unless @last}}, {{/unless}}{{/each}}": "a0, b<1, c2",
    "{{#each many}}{{#if @first}}[{{/if}}{{@index}} {{#if @last}}{{@key}}={{.}}]{{/if}}{{/each}}": "["
    + "".join(f"{number} " for number in range(40))
    + "39=n39]",
    "{{#each map}}{{@key}}={{this}} {{/each}}": "2=z 10=x b=y ",
    "{{#each names as |it key|}}{{key}}{{it}}{{/each}}": "0a1b&lt;2c",
    "{{#each rows as |row|}}{{row.name}}{{../site}}{{/each}}": "abakerybbakery",
    "{{#each rows}}{{#each tags}}{{this}}{{@index}}{{../name}}{{../../site}} {{/each}}{{/each}}": (
        "x0abakery y1abakery "
    ),
    "{{#each rows as |row|}}{{#each row.tags as |tag at|}}{{row.name}}{{tag}}{{at}} {{/each}}{{/each}}": "ax0 ay1 ",
    "{{#each mixed}}{{this}};{{/each}}": "a;1;;true;2.5;é;<b>;",
    "{{#each rows}}{{#each tags}}{{@root.site}} {{else}}-{{/each}}{{/each}}": "bakery bakery -",
    "{{#each rows}}{{> row}}{{/each}}": "(a)(b)",
    "{{#each rows}}{{> row name='z'}}{{/each}}": "(z)(z)",
    "x\n  {{> lines}}\n": "x\n  1\n  2\n",
}


@pytest.mark.parametrize("text", LOOPS)
def test_a_loop_and_a_partial_make_no_frame_that_nobody_reads(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cuecard.template.backends.python_backend.frame", refuse)
    monkeypatch.setattr(Runtime, "each", refuse)
    monkeypatch.setattr(Runtime, "partial", refuse)

    assert rendered(text, row="({{name}})", lines="1\n2\n") == LOOPS[text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{#each names}}{{> numbered}}{{/each}}", "0a1b<2c"),
        ("{{#each names}}{{#with this}}{{@index}}{{/with}}{{/each}}", "012"),
        ("{{#each names}}{{> outer}}{{/each}}", "[0a][1b<][2c]"),
        ("{{#each names as |it|}}{{#each ../names as |it|}}{{@../index}}{{it}}{{/each}} {{/each}}", None),
    ],
)
def test_data_of_a_loop_reaches_those_who_read_it_further_in(text: str, expected: str | None) -> None:
    expected = expected or " ".join(f"{index}a{index}b&lt;{index}c" for index in range(3)) + " "

    assert rendered(text, numbered="{{@index}}{{{this}}}", outer="[{{> numbered}}]") == expected


def test_an_inline_partial_stands_in_for_one_of_that_name_wherever_it_is_called() -> None:
    text = '{{> outer}}{{#with rows.[0]}}{{#*inline "row"}}<{{../site}}>{{/inline}}{{> outer}}{{/with}}{{> outer}}'

    assert rendered(text, row="row", outer="{{> row}},") == "row,<bakery>,row,"


def test_partials_that_call_each_other_in_a_cycle_end_where_their_data_ends() -> None:
    tree = {"name": "a", "inner": {"name": "b", "inner": {"name": "c", "inner": None}}}
    partials = {"one": "{{name}}{{#if inner}}{{> two inner}}{{/if}}", "two": "-{{> one}}"}

    assert compile_template("{{> one}}", partials=partials).render(tree) == "a-b-c"


def test_a_long_chain_of_partials_is_a_limit_and_no_crash() -> None:
    partials = {f"p{number}": f"{{{{> p{number + 1}}}}}" for number in range(3_000)} | {"p3000": "end"}

    with pytest.raises(TemplateLimitError):
        compile_template("{{> p0}}", partials=partials).render({})


def test_an_error_in_a_partial_names_its_place_and_each_call_that_led_there() -> None:
    with pytest.raises(TemplateRenderError) as caught:
        rendered("{{#each rows}}{{> outer}}{{/each}}", outer="\n{{> row}}", row="{{name}} {{nmae}}")
    (problem,) = caught.value.problems

    assert (problem.name, problem.chain) == ("row", ("template:1:15", "outer:2:1"))
    assert problem.hint == "did you mean `name`?"


@pytest.mark.parametrize("text", ["{{#each many}}{{../long}}{{/each}}", "{{#each many}}{{> long}}{{/each}}"])
def test_a_loop_that_prints_too_much_is_stopped_before_it_has_printed_all(text: str) -> None:
    seen: list[Json] = []

    def see(value: Json) -> str:
        seen.append(value)
        return ""

    values = {"many": list(range(1_000)), "long": "x" * (Limits().output // 50)}
    template = compile_template(
        text.replace("{{/each}}", "{{seen this}}{{/each}}"),
        partials={"long": "x" * (Limits().output // 50)},
        helpers={"seen": see},
    )

    with pytest.raises(TemplateLimitError, match="prints more than"):
        template.render(values)

    assert 50 < len(seen) < 80


def test_an_inline_partial_in_another_one_sees_no_names_of_the_blocks_around_them() -> None:
    text = "{{#each names as |it|}}{{#*inline 'a'}}{{#*inline 'b'}}{{it}}{{/inline}}{{> b}}{{/inline}}{{> a}}{{/each}}"

    with pytest.raises(TemplateRenderError, match="no values to name"):
        rendered(text)


def test_a_misspelt_name_of_a_loops_data_is_reported_with_the_right_one() -> None:
    with pytest.raises(TemplateRenderError, match="did you mean `index`"):
        rendered("{{#each names}}{{@indx}}{{/each}}")
