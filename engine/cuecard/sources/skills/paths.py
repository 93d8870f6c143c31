"""Glob patterns on paths: the files that a skill is for."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

MAX_ALTERNATIVES = 64
"""The maximum number of alternatives from braces in one pattern; further ones are ignored."""


def any_match(patterns: Iterable[str], paths: Iterable[str]) -> bool:
    """Whether a pattern matches a path.

    `*` and `?` stay within one name, `**` is any number of folders, `{a,b}` is either. A pattern without `/` is matched
    against the file's name only, one that ends in `/` against everything in the folder. Matching is case-sensitive; a
    backslash in a path counts as a slash, and a leading `./` is ignored. The time is proportional to pattern times
    path.
    """
    plain = [_anchored(each) for pattern in patterns for each in _alternatives(pattern.strip())]
    return any(_matches(pattern, _names(path)) for path in paths for pattern in plain)


def _anchored(pattern: str) -> list[str]:
    """The parts of a pattern, with `**` before a name that may be in any folder."""
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
    # The states of an automaton: how much of the pattern may have been consumed so far.
    states = _past_folders(pattern, {0})
    for name in path:
        moved = {at + (pattern[at] != "**") for at in states if at < len(pattern) and _fits(pattern[at], name)}
        states = _past_folders(pattern, moved)
    return len(pattern) in states


def _fits(pattern: str, name: str) -> bool:
    return pattern == "**" or fnmatchcase(name, pattern)


def _past_folders(pattern: list[str], states: set[int]) -> set[int]:
    """The states, including those reached by an empty `**`."""
    reached = set(states)
    for at, part in enumerate(pattern):
        if part == "**" and at in reached:
            reached.add(at + 1)
    return reached


def _alternatives(pattern: str) -> list[str]:
    """Expand the first braces, recursively until there are none."""
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
