"""What a render costs is counted where it does work that the limits count, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest

from cuecard import compile_template
from cuecard.template.rules import WORK_LEFT
from cuecard.types import Limits, TemplateLimitError

PARTIALS = {"row": "- {{this}}\n", "walk": "{{#each rows}}{{this}}{{/each}}"}
VALUES: dict[str, Any] = {"a": "x", "b": {"c": 1}, "rows": ["y"] * 50, "yes": True, "no": False}

FREE = [
    "",
    "text each(",
    "{{a}} {{{a}}}",
    "{{#if yes}}{{a}}{{else}}{{b.c}}{{/if}}",
    "{{#with b}}{{c}}{{/with}}",
    "{{log a}}",
]
COUNTED = [
    "{{#each rows}}{{this}}{{/each}}",
    "{{#rows}}{{this}}{{/rows}}",
    "{{> walk}}",
    "{{> (lookup names 'walk')}}",
    "{{#if yes}}{{> walk}}{{/if}}",
    "{{#with b}}{{> walk ../this}}{{/with}}",
    "{{#*inline 'own'}}{{#each rows}}{{this}}{{/each}}{{/inline}}{{> own}}",
]


def spends(text: str) -> bool:
    return compile_template(text, partials=PARTIALS, strict=False, escaping="handlebars")._main.spends


@pytest.mark.parametrize("text", FREE)
def test_a_text_without_loops_and_calls_counts_nothing(text: str) -> None:
    assert spends(text) == ("each(" in text)  # what looks like a call in a text is taken for one, which does no harm


@pytest.mark.parametrize("text", COUNTED)
def test_the_limit_holds_wherever_work_is_done(text: str) -> None:
    values = {**VALUES, "names": {"walk": "walk"}}
    few = compile_template(text, partials=PARTIALS, strict=False, escaping="handlebars", limits=Limits(work=20))
    enough = compile_template(text, partials=PARTIALS, strict=False, escaping="handlebars")

    assert spends(text)
    assert enough.render(values) == "y" * 50
    with pytest.raises(TemplateLimitError):
        few.render(values)


def test_a_helper_runs_within_the_work_of_its_render() -> None:
    left: list[Any] = []

    def look() -> str:
        left.append(WORK_LEFT.get())
        return ""

    compile_template("{{look}}", helpers={"look": look}, limits=Limits(work=7)).render({})

    assert left == [[7]]
    assert WORK_LEFT.get() is None


def test_a_render_within_a_helper_leaves_the_work_of_the_outer_one() -> None:
    inner = compile_template("{{a}}")
    outer = compile_template(
        "{{#each rows}}{{show}}{{/each}}", helpers={"show": lambda: inner.render({"a": "b"})}, limits=Limits(work=60)
    )

    assert outer.render(VALUES) == "b" * 50


CONDITIONS = [True, False, 0, 1, 0.0, -0.0, float("nan"), "", "a", "0", None, [], [0], {}, {"a": 1}]


def test_a_condition_is_what_it_is_in_handlebars() -> None:
    """An empty mapping is there; so is "0". NaN, 0 and an empty list are not."""
    text = compile_template(
        "{{#if v}}yes{{else}}no{{/if}} {{#unless v}}no{{else}}yes{{/unless}} "
        "{{#if v includeZero=true}}yes{{else}}no{{/if}}",
        escaping="handlebars",
    )
    for value in CONDITIONS:
        is_there = isinstance(value, dict) or (bool(value) and value == value)  # noqa: PLR0124 - NaN is not itself
        is_zero = type(value) in {int, float} and value == 0
        one = "yes" if is_there else "no"

        assert text.render({"v": value}) == f"{one} {one} {'yes' if is_there or is_zero else 'no'}", repr(value)
