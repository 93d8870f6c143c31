"""Glob patterns on paths: which files a skill says it is for."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

MAX_ALTERNATIVES = 64
"""How many patterns the braces of one may stand for; the rest is not looked at."""


def any_match(patterns: Iterable[str], paths: Iterable[str]) -> bool:
    """Whether a pattern matches a path.

    `*` and `?` stay within one name, `**` is any number of folders, `{a,b}` is either. A pattern without `/` is matched
    against the file's name alone, one that ends in `/` against all that the folder holds. Case counts; a backslash in a
    path is a slash, a leading `./` is nothing. Takes time in proportion to pattern times path, whatever they hold.
    """
    plain = [_anchored(each) for pattern in patterns for each in _alternatives(pattern.strip())]
    return any(_matches(pattern, _names(path)) for path in paths for pattern in plain)


def _anchored(pattern: str) -> list[str]:
    """The names of a pattern; `**` before a name that may stand in any folder."""
    names = _names(pattern)
    return names if "/" in pattern or not names else ["**", *names]


def _names(text: str) -> list[str]:
    names = [name for name in text.replace("\\", "/").split("/") if name not in {"", "."}]
    if text.endswith("/"):
        names.append("**")
    return names


def _matches(pattern: list[str], path: list[str]) -> bool:
    if not pattern or not path:
        return False
    # The states of an automaton: how much of the pattern may have been used up so far.
    states = _past_folders(pattern, {0})
    for name in path:
        moved = {at + (pattern[at] != "**") for at in states if at < len(pattern) and _fits(pattern[at], name)}
        states = _past_folders(pattern, moved)
    return len(pattern) in states


def _fits(pattern: str, name: str) -> bool:
    return pattern == "**" or fnmatchcase(name, pattern)


def _past_folders(pattern: list[str], states: set[int]) -> set[int]:
    """The states with those that a `**` which stands for nothing leads to."""
    reached = set(states)
    for at, part in enumerate(pattern):
        if part == "**" and at in reached:
            reached.add(at + 1)
    return reached


def _alternatives(pattern: str) -> list[str]:
    """What the first braces stand for, and so on, until there are none."""
    done: list[str] = []
    todo = [pattern]
    while todo and len(done) + len(todo) <= MAX_ALTERNATIVES:
        text = todo.pop()
        start = text.find("{")
        end = text.find("}", start)
        if start < 0 or end < 0:
            done.append(text)
        else:
            todo += [text[:start] + part + text[end + 1 :] for part in text[start + 1 : end].split(",")]
    return done
