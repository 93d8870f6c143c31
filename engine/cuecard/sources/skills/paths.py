"""Glob patterns on paths: the files that a skill is for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

import bracex
from wcmatch import glob

from cuecard.config.sections.file_patterns import MAX_ANY_FOLDERS, MAX_PATH_NAMES

MAX_ALTERNATIVES = 64
"""The maximum number of alternatives from braces in one pattern; one with more matches nothing."""

_FLAGS = glob.FORCEUNIX | glob.CASE | glob.GLOBSTAR | glob.DOTGLOB


def any_match(patterns: Iterable[str], paths: Iterable[str]) -> bool:
    """Whether a pattern matches a path.

    `*` and `?` stay within one name, `**` is any number of folders, `{a,b}` is either. A pattern without `/` is matched
    against the file's name only, one that ends in `/` against everything in the folder. Matching is case-sensitive; a
    backslash counts as a slash, and a leading `./` is ignored. A pattern of more than three `**` matches nothing: the
    time would grow with as many powers of the path's length.
    """
    named = [path for each in paths if (path := _plain(each)) and path.count("/") < MAX_PATH_NAMES]
    matchers = [_matcher(pattern) for pattern in patterns] if named else []
    return any(matches(path) for matches in matchers for path in named)


@lru_cache(maxsize=256)
def _matcher(written: str) -> Callable[[str], bool]:
    """What matches a plain path against a pattern as it is written."""
    pattern = written.strip().replace("\\", "/")
    try:
        alternatives = bracex.expand(pattern, limit=MAX_ALTERNATIVES)
    except bracex.ExpansionLimitException:
        return _nothing
    kept = [found for each in alternatives for found in _globs(each) if found.count("**") <= MAX_ANY_FOLDERS]
    return glob.compile(kept, flags=_FLAGS).match if kept else _nothing


def _globs(pattern: str) -> tuple[str, ...]:
    """A pattern without braces as globs of the whole path."""
    plain = _plain(pattern)
    if pattern.endswith("/"):
        return (plain, f"{plain}/**") if plain else ("**",)
    return (plain if "/" in pattern else f"**/{plain}",) if plain else ()


def _nothing(_path: str) -> bool:
    return False


def _plain(text: str) -> str:
    return "/".join(name for name in text.replace("\\", "/").split("/") if name not in {"", "."})
