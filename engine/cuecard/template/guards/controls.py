"""Characters that no value may contain: control codes that a terminal, a store or a parser would act on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from cuecard.errors import Problem, visible
from cuecard.model import Json
from cuecard.model.json_values import MAX_DEPTH

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")
"""NUL and the C0 controls except tab and line ends; lone surrogates, which no encoding can represent."""

_SHOWN = 200
"""The number of characters of a path that an error shows."""

_Steps = tuple[str | int, ...]


def refuse_controls(value: Json, name: str) -> list[Problem]:
    """One `control-character` problem for each text, keys included, that contains a control character.

    PostgreSQL stores neither NUL nor a lone surrogate, UTF-8 cannot encode the latter, and a terminal obeys ESC.
    Characters that are merely invisible are not an error: `clean` removes them.

    Args:
        value: JSON. Anything else, or anything nested too deep, is skipped, since `clean` rejects it. A list or object
            that occurs twice is reported once.
        name: the name of the value in problems, such as `turn.inputs`.
    """
    return [
        _problem(text, found, f"{name}{_at(path)}")
        for path, text in _texts(value)
        if (found := _CONTROL.search(text)) is not None
    ]


def has_controls(text: str) -> bool:
    """Whether `refuse_controls` would reject the text."""
    return _CONTROL.search(text) is not None


def without_controls(text: str) -> str:
    """The text without the characters that `refuse_controls` rejects."""
    return _CONTROL.sub("", text)


def _texts(value: Json) -> Iterator[tuple[_Steps, str]]:
    stack: list[tuple[Json, _Steps]] = [(value, ())]
    seen: set[int] = set()
    while stack:
        item, path = stack.pop()
        if isinstance(item, str):
            yield path, item
        elif isinstance(item, (Mapping, list, tuple)) and len(path) < MAX_DEPTH and id(item) not in seen:
            seen.add(id(item))
            if isinstance(item, Mapping):
                yield from (((*path, key), key) for key in item if isinstance(key, str))
            pairs = item.items() if isinstance(item, Mapping) else enumerate(item)
            stack += reversed([(each, (*path, step)) for step, each in pairs])


def _problem(text: str, found: re.Match[str], name: str) -> Problem:
    more = len(_CONTROL.findall(text)) - 1
    others = f" (and {more:,} more)" if more else ""
    message = f"a value may not contain U+{ord(found[0]):04X} (character {found.start() + 1:,}){others}"
    hint = "remove it; the only control characters allowed are tab, line feed and carriage return"
    return Problem("control-character", message, hint, visible(name)[:_SHOWN])


def _at(path: _Steps) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
