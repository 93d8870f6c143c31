"""What a YAML text says does not depend on which reader is installed: values, places, warnings, or the problems."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cuecard import SpecError
from cuecard.config.documents.document import json_places
from cuecard.config.documents.yaml import read_yaml
from fuzz.fuzz_yaml import PHRASES, PIECES

pytest.importorskip("_ruamel_yaml", reason="there is one reader only where the C extension has no wheel")

ROOT = Path(__file__).parents[3]
FOLDERS = ("docs", "examples", "prompts", "tests", "tool_instructions")


@cache
def texts() -> dict[str, str]:
    """What the files of the repository say, each text once, with the name of a file that says it."""
    paths = [*(path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.y*ml"))), *ROOT.glob(".*.yaml")]
    return {path.read_text(encoding="utf-8"): path.name for path in paths}


@cache
def small() -> st.SearchStrategy[list[str]]:
    """The lines of those that are not long."""
    return st.sampled_from([text.splitlines(keepends=True) for text in texts() if len(text) < 3_000])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)
BLANK = st.sampled_from(["", "\n", " ", " \n\n "])
PIECE = st.sampled_from([*PIECES, *PHRASES, "['a':b]", "a: |\n \n  b\n", ">#", "a:\n", "...\n...", "\x85", "\u2028"])


def outcome(text: str) -> tuple[Any, ...]:
    try:
        document = read_yaml(text, "a.yaml")
    except SpecError as error:
        return error.problems
    # As texts, because NaN differs from itself; and 1, 1.0 and true do not differ.
    return repr(document.value), document.keys, document.values, document.warnings


def outcome_without_c(text: str) -> tuple[Any, ...]:
    with patch("cuecard.config.documents.yaml.quick_events", side_effect=ImportError):
        return outcome(text)


def same(text: str) -> bool:
    return outcome(text) == outcome_without_c(text)


@st.composite
def damaged(draw: Callable[[st.SearchStrategy[Any]], Any]) -> str:
    """Some lines of a file, with a few of their characters cut out or others put in."""
    lines = draw(small())
    first = draw(st.integers(0, len(lines)))
    text = "".join(lines[first : first + draw(st.integers(1, 8))])
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(PIECE | st.just("")) + text[at + draw(st.integers(0, 4)) :]
    return text


def test_every_file_of_the_repository_reads_the_same_and_nearly_every_one_by_the_quick_reader() -> None:
    assert len(texts()) > 400
    with patch("cuecard.config.documents.yaml.pure_events", side_effect=TypeError):
        quick = {text: outcome(text) for text in texts()}
    read = {text: said for text, said in quick.items() if len(said) == 4}
    assert len(read) > 0.9 * len(texts())
    other = [name for text, name in texts().items() if (read.get(text) or outcome(text)) != outcome_without_c(text)]
    assert other == []


@given(damaged())
def test_a_damaged_file_reads_the_same(text: str) -> None:
    assert same(text)


@given(st.lists(PIECE | st.text(max_size=3), max_size=12).map("".join))
@example("a: \nb: \r\nc:")
@example("a: [: b, {c: , d}]")
@example("roots: ['a':b]")
@example("a:\tb")
@example("a: b\rc: d")
@example("\ufeffa: b")
@example("a: |\n \n  b\n")
@example("a: ># b\n  c\n")
@example("a: b\x85c: d")
@example("a: b\n...\n...")
@example("---")
@example("a: {b: c")
@example("- a: b\n  c")
def test_a_text_of_pieces_reads_the_same(text: str) -> None:
    assert same(text)


@given(st.dictionaries(st.text(max_size=4), JSON, min_size=1), st.booleans(), st.sampled_from([None, 1, 4]), BLANK)
def test_what_json_writes_reads_the_same(value: Any, is_ascii: bool, indent: int | None, blank: str) -> None:  # noqa: FBT001 - drawn by name and type
    text = blank + json.dumps(value, ensure_ascii=is_ascii, indent=indent)

    assert same(text)
    with suppress(SpecError):
        document = read_yaml(text, "a.json")
        is_open = {path for path in document.values if isinstance(document.at(path), (dict, list))}
        values = {path: replace(span, length=1) if path in is_open else span for path, span in document.values.items()}
        assert document.value != value or json_places(text) == (document.keys, values)  # YAML joins no surrogates
