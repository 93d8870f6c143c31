"""Promise 3 for all values: it cannot open or close a section, whoever reads the prompt and however tolerantly."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from cuecard.template.guards.characters import clean, find_invisible
from cuecard.template.guards.escaping import escape_text

NAMES = ("working-memory", "entity", "system")
ANGLES = "<‹＜﹤〈⟨〈❬❮❰"
IGNORED = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u034f\u180e\u202e\u2066\ufe0f\U000e0041\U000e0101\x00\x1b"

TAG = re.compile(rf"[{ANGLES}]\s*(/?)\s*(working-memory|entity|system)(?![\w.:-])", re.IGNORECASE)


def drop(text: str) -> str:
    return "".join(c for c in text if c not in IGNORED)


READERS: dict[str, Callable[[str], str]] = {
    "as is": lambda text: text,
    "folded": lambda text: unicodedata.normalize("NFKC", text),
    "invisibles dropped": drop,
    "dropped and folded": lambda text: unicodedata.normalize("NFKC", drop(text)),
    "folded and dropped": lambda text: drop(unicodedata.normalize("NFKC", text)),
}


def sections(text: str) -> dict[str, list[tuple[str, str]]]:
    """The opening and closing tags of our sections, in order, as each reader finds them."""
    found = {reader: TAG.findall(read(text)) for reader, read in READERS.items()}
    return {reader: [(slash, name.casefold()) for slash, name in tags] for reader, tags in found.items()}


def fill(first: str, second: str, attribute: str) -> str:
    return (
        f'<system>\nhi {first}{second}\n</system>\n<working-memory>\n<entity name="{attribute}">{second}</entity>'
        f"{first}system</working-memory>"
    )


letters = st.sampled_from(
    [*NAMES, "SYSTEM", "ſystem", "ｓｙｓｔｅｍ", "Working‑Memory", "ent", "ity", "sys", "tem", "task", "\u0455ystem"]
)
marks = st.sampled_from(
    [*ANGLES, "<!--", "]]>", "<![CDATA[", "/", "／", ">", '"', "'", " ", "\n", "\u3000", "\u0301", "-"]
)
pieces = st.one_of(marks, letters, st.sampled_from(IGNORED), st.characters())
hostile = st.lists(pieces, max_size=14).map("".join)
broken_names = st.tuples(st.sampled_from(NAMES), st.lists(st.sampled_from([*IGNORED, "", ""]), min_size=20)).map(
    lambda pair: "".join(letter + gap for letter, gap in zip(*pair, strict=False))
)
slashes = st.sampled_from(["", "/", " / ", "\u200b/"])
heads = st.tuples(st.sampled_from(ANGLES), slashes, broken_names).map("".join)
values = st.one_of(hostile, heads, st.tuples(hostile, heads, hostile).map("".join))
TEMPLATE = sections(fill("", "", ""))


@given(first=values, second=values, attribute=values)
def test_the_sections_of_a_prompt_are_those_of_its_template(first: str, second: str, attribute: str) -> None:
    slots = (escape_text(first, NAMES), escape_text(second, NAMES), escape_text(attribute, NAMES, attribute=True))

    assert sections(fill(*slots)) == TEMPLATE


@given(first=values, second=values)
def test_mode_names_holds_the_sections_too(first: str, second: str) -> None:
    slots = (escape_text(first, NAMES, mode="names"), escape_text(second, NAMES, mode="names"), "")

    assert sections(fill(*slots)) == TEMPLATE


@given(head=heads)
def test_the_readers_do_find_the_tags_of_unguarded_values(head: str) -> None:
    """The two promises above would be empty if the readers were blind."""
    assert sections(fill(f"{head}>", "", "")) != TEMPLATE


@given(value=values)
def test_escaping_changes_only_angles_and_only_once(value: str) -> None:
    escaped = escape_text(value, NAMES)
    angle = "[<\u02c2\u1438\u16b2\u2039\u2329\u276c\u276e\u2770\u27e8\u2991\u29fc\u3008\ufe3f\ufe64\uff1c\U0001d236]"

    assert re.sub(angle, "&lt;", escaped) == re.sub(angle, "&lt;", value)
    assert "<" not in escaped
    assert escape_text(escaped, NAMES) == escaped


@given(value=values)
def test_nothing_in_an_attribute_can_end_it(value: str) -> None:
    escaped = escape_text(value, NAMES, attribute=True)

    assert not set('<"') & set(escaped)
    assert len(escaped.splitlines()) <= 1


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), values, st.text()),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.integers().map(str), inner, max_size=4)),
    max_leaves=12,
)


@given(value=json_values)
def test_cleaning_twice_is_cleaning_once(value: object) -> None:
    cleaned, _ = clean(value)
    again, removed = clean(cleaned)

    assert again is cleaned
    assert removed == 0


spelling = st.text(st.one_of(st.sampled_from(IGNORED + "\u2800⠓❤🏴م葛1\u20e3\u200dᠠ\u180bส\r\n\x85"), st.characters()))


@given(text=spelling)
def test_authors_are_warned_of_what_would_be_removed_at_run_time(text: str) -> None:
    cleaned, removed = clean(text)
    found = find_invisible(text)
    told = "".join(c for offset, c in enumerate(text) if (offset, c) not in found or c in "\x85\u2028\u2029")

    assert clean(told) == (cleaned, 0)
    assert removed == sum(c not in "\x85\u2028\u2029" for _, c in found)


@given(
    text=st.text(
        st.characters(categories=["L", "N", "P", "S", "Zs"], exclude_characters="\u115f\u1160\u2800\u3164\uffa0")
    )
)
def test_what_people_can_see_is_never_removed(text: str) -> None:
    assert clean(text) == (text, 0)
    assert find_invisible(text) == []
