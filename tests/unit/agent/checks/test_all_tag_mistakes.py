"""All mistakes in the tags of a template are told at once, and none that only follows from another one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard import compile_template
from cuecard.template.syntax.source import MAX_MISTAKES
from cuecard.types import TemplateSyntaxError

_CHARACTER, _TOKEN = "unexpected-character", "unexpected-token"
WRONG = {"{{a,}}": _CHARACTER, "{{a=}}": _TOKEN, "{{> p |}}": _TOKEN, "{{* a}}": "decorator"}


def told(text: str) -> list[tuple[int, str]]:
    """The line and the code of every problem."""
    with pytest.raises(TemplateSyntaxError) as caught:
        compile_template(text)
    return [(problem.span.line if problem.span else 0, problem.code) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "{{items[0]}}\n{{#if a == b}}x{{/if}}\n{{x | upper}}\n{{> }}\n{{(a)}}",
            [_CHARACTER, _TOKEN, _TOKEN, _TOKEN, _TOKEN],
        ),
        (
            "{{a,}}\n{{b;}}\n{{c}}\n{{d]}}",
            [_CHARACTER, _CHARACTER, None, _CHARACTER],
        ),
        ("{{/if}}\n{{else}}\n{{* x}}\n{{/}}", ["unopened-block", "stray-else", "decorator", "unopened-block"]),
        ("{{#each xs as |x}}\n{{x)}}\n{{/each}}", [_TOKEN, _TOKEN]),
        (
            "{{#if a}}\n{{b,}}\n{{/each}}\n{{c,}}",
            [None, _CHARACTER, "mismatched-block", _CHARACTER],
        ),
        ("{{#> layout a=}}\n{{b,}}\n{{/layout}}", [_TOKEN, _CHARACTER]),
        ("{{a,}}\n{{#if b}}", [_CHARACTER, "unclosed-block"]),
        ("{{{{raw ,}}}}\n{{x}}\n{{{{/raw}}}}\n{{a,}}", [_CHARACTER, None, None, _CHARACTER]),
        ("{{/if a}}\n{{#if a}}{{/if b}}\n{{c=}}", ["unopened-block", _TOKEN, _TOKEN]),
    ],
)
def test_every_mistake_is_reported(text: str, wanted: list[str | None]) -> None:
    assert told(text) == [(line, code) for line, code in enumerate(wanted, 1) if code]


def test_a_condition_that_calculates_leaves_its_block_a_block() -> None:
    text = "{{#if a &&}}\n{{else if b ||}}\n{{else}}\n{{/if}}\n{{c,}}"

    assert told(text) == [(1, "unexpected-character"), (2, "unexpected-token"), (5, "unexpected-character")]


@pytest.mark.parametrize(
    "text",
    [
        "{{#if a\nb, c\n{{/if}}",
        "{{#if 'a}}\nx\n{{/if}}",
        "{{!-- a comment\n{{/if}}\n{{else}}",
        "{{{{raw}}}} {{/if}}\n{{else}}",
        "{{#each xs",
    ],
)
def test_what_only_follows_is_not_reported(text: str) -> None:
    assert [line for line, _ in told(text)] == [1]


def test_no_more_problems_are_shown_than_people_read() -> None:
    assert len(told("{{a,}}\n" * 1_000)) == MAX_MISTAKES
    assert len(told("{{a=}}\n" * 1_000)) == MAX_MISTAKES


@given(st.lists(st.sampled_from(["{{a}}", "{{#if a}}x{{/if}}", "text", *WRONG])))
def test_every_problem_is_reported(pieces: list[str]) -> None:
    wrong = [(number, WRONG[piece]) for number, piece in enumerate(pieces, 1) if piece in WRONG]

    assert (told("\n".join(pieces)) if wrong else []) == wrong
