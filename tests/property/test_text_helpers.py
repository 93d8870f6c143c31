"""The helpers for texts say what Python's own functions say, of any text."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard import Template, compile_template
from cuecard.types import Json

TEXTS = st.text(alphabet=" \n\tabB.!?'>-é😀ß", max_size=24)
WORDS = st.text(alphabet="ab .", min_size=1, max_size=2)


@cache
def template(text: str) -> Template:
    return compile_template(text)


def printed(text: str, **values: Json) -> str:
    return template(text).render(values)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{{trim v}}}", str.strip),
        ("{{{upper v}}}", str.upper),
        ("{{{lower v}}}", str.lower),
        ("{{{one_line v}}}", lambda v: " ".join(v.split())),
        ("{{{indent v 3}}}", lambda v: textwrap.indent(v, "   ")),
        ('{{{indent v "> "}}}', lambda v: textwrap.indent(v, "> ")),
    ],
)
@given(value=TEXTS)
def test_a_text_becomes_what_python_makes_of_it(text: str, expected: Callable[[str], str], value: str) -> None:
    assert printed(text, v=value) == expected(value)


@given(value=TEXTS, old=WORDS, new=TEXTS)
def test_replace_replaces_as_python_does(value: str, old: str, new: str) -> None:
    assert printed("{{{replace v old new}}}", v=value, old=old, new=new) == value.replace(old, new)


@given(value=TEXTS, most=st.integers(0, 30))
def test_a_truncated_text_is_its_beginning_and_no_longer_than_asked(value: str, most: int) -> None:
    made = printed("{{{truncate v most}}}", v=value, most=most)

    assert len(made) <= most or made == value
    assert made == value if len(value) <= most else value.startswith(made.removesuffix("…"))


@given(value=TEXTS, most=st.integers(0, 30))
def test_the_middle_is_what_is_left_out(value: str, most: int) -> None:
    made = printed("{{{middle v most}}}", v=value, most=most)
    if len(value) <= most:
        assert made == value
    else:
        front, _, back = made.partition(f"\n[... {len(value) - most:,} characters left out ...]\n")
        assert (value.startswith(front), value.endswith(back), len(front) + len(back)) == (True, True, most)


@given(items=st.lists(TEXTS, max_size=4), between=TEXTS)
def test_joined_items_are_those_that_say_something(items: list[str], between: str) -> None:
    assert printed("{{{join v between}}}", v=items, between=between) == between.join(i for i in items if i)


@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | TEXTS, lambda v: st.lists(v) | st.dictionaries(TEXTS, v)
    )
)
def test_json_is_read_back(value: Json) -> None:
    assert json.loads(printed("{{{json v}}}", v=value)) == value
    assert json.loads(printed("{{{json v indent=2}}}", v=value)) == value


@given(
    one=st.none() | st.booleans() | st.integers(-2, 2) | WORDS,
    other=st.none() | st.booleans() | st.integers(-2, 2) | WORDS,
)
def test_values_are_equal_when_they_are_the_same_json(one: Json, other: Json) -> None:
    same = json.dumps(one) == json.dumps(other)

    assert printed("{{#if (eq a b)}}yes{{/if}}", a=one, b=other) == ("yes" if same else "")
    assert printed("{{#if (ne a b)}}yes{{/if}}", a=one, b=other) == ("" if same else "yes")
    assert printed("{{#if (in a l)}}yes{{/if}}", a=one, l=[other]) == ("yes" if same else "")
    assert printed("{{#if (one_of a b)}}yes{{/if}}", a=one, b=other) == ("yes" if same else "")
