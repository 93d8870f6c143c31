"""Glob patterns of skills: what they match and what they do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard.sources.skill_selection import any_match


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.py", "a/b.py", True),
        ("*.py", "a/b.pyc", False),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/a/b.py", False),
        ("src/*.py", "x/src/a.py", False),
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/a/b/c.py", True),
        ("**/test_*", "a/test_b.py", True),
        ("docs/", "docs/a/b.md", True),
        ("docs/", "other/docs/a.md", False),
        ("./docs/*", "docs/a.md", True),
        ("docs/*", "./docs/a.md", True),
        ("docs/*", "docs\\a.md", True),
        ("*.{ts,tsx}", "a/b.tsx", True),
        ("{a,b}/{c,d}.md", "b/c.md", True),
        ("a[0-9].md", "a7.md", True),
        ("A.md", "a.md", False),
        ("{", "{", True),
        ("", "a", False),
        ("*", "", False),
        ("**", "a/b", True),
        ("docs/", "docs", True),
        ("**/a/**/b/**/c", "a/b/c", True),
        ("**/a/**/b/**/c/**/d", "a/b/c/d", False),
    ],
)
def test_pattern(pattern: str, path: str, *, expected: bool) -> None:
    assert any_match([pattern], [path]) is expected


def test_one_of_many_is_enough() -> None:
    assert any_match(["x", "*.md"], ["a.py", "b.md"])
    assert not any_match([], ["a"])
    assert not any_match(["a"], [])


def test_patterns_that_explode_elsewhere_take_no_time_here() -> None:
    path = "/".join(["a"] * 300) + "/b"

    assert not any_match(["/".join(["**", "a"] * 100) + "/c", "a*" * 40 + "b"], [path, "a" * 5_000])
    assert not any_match(["{a,b,c,d}" * 40], ["x"])


@given(st.text("ab/*?{},[].\\", max_size=30), st.text("ab/.\\", max_size=30))
def test_no_pattern_raises(pattern: str, path: str) -> None:
    assert any_match([pattern], [path]) in {True, False}


@given(st.lists(st.text("abc", min_size=1), min_size=1, max_size=6))
def test_a_path_matches_itself_and_its_folders(names: list[str]) -> None:
    path = "/".join(names)

    assert any_match([path], [path])
    assert all(any_match(["/".join(names[:end]) + "/**"], [path]) for end in range(1, len(names)))
