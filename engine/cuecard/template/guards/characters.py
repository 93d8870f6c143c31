"""Invisible and control characters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import chain
from typing import Any

from cuecard.errors import InputError, Problem, visible
from cuecard.model import Json
from cuecard.model.json_values import MAX_DEPTH, MAX_VALUES
from cuecard.template.guards.escaping import TrustedText

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")
"""NUL and the C0 controls except tab and line ends; lone surrogates, which no encoding can represent."""

_NO_CONTROLS = bytes({*range(256)} - {*range(0x20)} | {*b"\t\n\r"})
_CLEAN_ASCII = bytes({*range(0x20, 0x7F), *b"\t\n"})

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
    texts = _plain_texts(value)
    if texts is not None and not has_controls(texts):
        return []
    return [
        _problem(text, found, f"{name}{_at(path)}")
        for path, text in _texts(value)
        if (found := _CONTROL.search(text)) is not None
    ]


def has_controls(text: str) -> bool:
    """Whether `refuse_controls` would reject the text."""
    try:
        return bool(text.encode().translate(None, _NO_CONTROLS))  # many times faster than an expression
    except UnicodeEncodeError:
        return True


def without_controls(text: str) -> str:
    """The text without the characters that `refuse_controls` rejects."""
    return _CONTROL.sub("", text)


_SCALARS: frozenset[type] = frozenset({str, int, float, bool, type(None)})
_OBJECT: frozenset[type] = frozenset({dict})
_KNOWN = _SCALARS | {dict, list}


def _plain_texts(value: Json) -> str | None:
    """All texts in plain JSON, keys included, as one, to be searched at once; None if it is anything else, or more or
    deeper than a value may be.
    """
    texts: list[Any] = []
    level: list[Any] = [value]
    left = MAX_VALUES
    for _ in range(MAX_DEPTH):
        kinds = {*map(type, level)}
        if not kinds <= _KNOWN or left < 0:
            return None
        if str in kinds:
            texts += level if len(kinds) == 1 else [each for each in level if type(each) is str]
        if kinds <= _SCALARS:
            return _joined(texts)
        objects = level if kinds == _OBJECT else [each for each in level if type(each) is dict]
        texts += {*chain.from_iterable(objects)}  # rows have the same ones
        deeper = [*chain.from_iterable(map(dict.values, objects))]
        if list in kinds:
            deeper += chain.from_iterable([each for each in level if type(each) is list])
        level, left = deeper, left - len(deeper)
    return None


def _joined(texts: list[Any]) -> str | None:
    try:
        return "".join(texts)
    except TypeError:  # a key that is no text
        return None


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


_SUSPECT = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # control characters except tab and line breaks
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"  # soft hyphen, joiner and letters that print nothing
    "\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"  # writing direction, invisible line and paragraph ends
    "\u200b-\u200d\u2060-\u2065\u206a-\u206f\ufeff"  # zero width, byte order mark
    "\u180b-\u180f\ufe00-\ufe0f"  # variation selectors
    "\ufff0-\ufffb"  # annotation
    "\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"  # lone surrogates, non-characters
)
_SUSPECT_BEYOND = (
    "\U000e0100-\U000e01ef"  # variation selectors
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # shorthand and music controls
    "\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"  # tag characters and the rest of their plane
    + "".join(f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0x10000, 0x110000, 0x10000))
)
"""Those beyond the first 65,536 characters: one set of both takes ten times as long to search."""

_SYMBOL = "[\u00a9\u00ae\u203c\u2049\u2100-\u27ff\u2900-\u2bff\u3030\u303d\u3200-\u32ff\U0001f000-\U0001faff]"
_HAN = "[\u2e80-\u2fdf\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f\U00030000-\U000323af]"
_JOINING = (
    "[\u0590-\u061b\u061d-\u0dff\u1000-\u109f\u1780-\u17b3\u17b6-\u180a\u1810-\u18af\u1900-\u1cff\ua840-\uabff"
    "\ufb1d-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc\U00010a00-\U00011fff\U0001e900-\U0001e95f]"
)
_UNSPACED = "[\u0e00-\u109f\u1780-\u17b3\u17b6-\u17ff\u1950-\u19df]"

_IN_PLACE = (
    "\U0001f3f4(?:"  # the flags of England, Scotland and Wales
    + "|".join("".join(chr(0xE0000 + ord(c)) for c in region) for region in ("gbeng", "gbsct", "gbwls"))
    + ")\U000e007f",
    f"(?:(?<={_SYMBOL})|(?<={_SYMBOL}\ufe0f))\u200d(?={_SYMBOL})",  # emoji families
    f"(?<={_SYMBOL})[\ufe0e\ufe0f]",  # text or emoji form: hearts
    "(?<=[0-9#*])\ufe0f(?=\u20e3)",  # keycaps
    f"(?<={_JOINING})[\u200c\u200d]",  # Persian, Urdu, Indic spelling
    f"(?<={_UNSPACED})\u200b(?={_UNSPACED})",  # word ends in Thai, Lao, Khmer, Burmese
    f"(?<={_HAN})[\ufe00-\ufe02\U000e0100-\U000e01ef]",  # forms of ideographs
    "(?<=[\u2200-\u22ff\u1000-\u109f\u3001\u3002\uff01\uff0c\uff1a\uff1b\uff1f])[\ufe00\ufe01]",  # maths, Burmese, CJK
    "(?<=[\u1820-\u18aa])[\u180b-\u180f]",  # Mongolian letter forms
    "(?<=[\u2801-\u28ff])\u2800++|\u2800++(?=[\u2801-\u28ff])",  # spaces in braille
)
"""Contexts in which a suspect character belongs to the spelling. Each pattern relies on neighbours that are never
removed, so that cleaning is idempotent, and none reads a text twice (braille spaces are matched as a run), so that
the search is linear.
"""

_LINE_END = re.compile("\r\n|[\r\x85\u2028\u2029]")
_LINE_ENDS = re.compile("([\r\x85\u2028\u2029]+)")
_SUSPICIOUS = re.compile(f"[\r{_SUSPECT}]")
_BEYOND = re.compile("[\U00010000-\U0010ffff]")
_SUSPICIOUS_BEYOND = re.compile(f"[{_SUSPECT_BEYOND}]")
_Path = tuple[str | int, ...]
_CleanText = Callable[[str], tuple[str, int]]


@cache
def _scan() -> re.Pattern[str]:
    """Compiled only when a text contains a suspect, which is rare: it takes as long as rendering a prompt."""
    return re.compile(f"{'|'.join(_IN_PLACE)}|(\u2800++|[{_SUSPECT}{_SUSPECT_BEYOND}])")


def _is_suspicious(text: str) -> bool:
    """Whether a text contains a line end other than the line feed, or a character that may have to go."""
    if text.isascii():
        return bool(text.encode().translate(None, _CLEAN_ASCII))
    if _SUSPICIOUS.search(text):
        return True
    return _SUSPICIOUS_BEYOND.search("".join({*_BEYOND.findall(text)})) is not None


def find_invisible(text: str) -> list[tuple[int, str]]:
    """The offset of each invisible character in an author's text, and the character.

    Tab, line feed and carriage return are allowed, other line ends (U+0085, U+2028, U+2029) are not. Joiners and
    selectors are allowed if a spelling or an emoji needs them.
    """
    if not _is_suspicious(text):
        return []
    found = (match for match in _scan().finditer(text) if match[1])
    return [(match.start() + offset, character) for match in found for offset, character in enumerate(match[1])]


def clean(value: Json, *, line_ends: bool = True) -> tuple[Json, int]:
    """A runtime value without invisible characters, and how many were removed.

    Every string is cleaned, keys included; every line end becomes a line feed, which is not counted, or stays as it is
    without `line_ends`. Values that need no change are returned as they are; others are copied, a tuple as a list.
    `TrustedText` stays trusted.

    Raises:
        InputError: with everything that is not JSON (`not-json`; NaN and infinities are allowed), nested too deep
            (`value-too-deep`), or a key that would equal another after cleaning (`duplicate-key`).
    """
    texts = _plain_texts(value)
    if texts is not None and not _is_suspicious(texts):
        return value, 0
    problems: list[Problem] = []
    cleaned = _clean(value, (), problems, _clean_text if line_ends else _clean_letters)
    if problems:
        raise InputError(problems)
    return cleaned


def _clean(value: Json, path: _Path, problems: list[Problem], text: _CleanText) -> tuple[Json, int]:
    if isinstance(value, str):
        return text(value)
    if value is None or isinstance(value, (int, float)):
        return value, 0
    if not isinstance(value, (Mapping, list, tuple)):
        problems.append(_not_json(f"{_shown(path)} is of type {type(value).__name__}"))
        return value, 0
    if len(path) == MAX_DEPTH:
        # Raised at once: a value that contains itself twice has endlessly many places that are too deep.
        raise InputError([*problems, _too_deep(path)])
    if isinstance(value, Mapping):
        return _clean_mapping(value, path, problems, text)
    return _clean_items(value, path, problems, text)


def _clean_text(text: str) -> tuple[str, int]:
    if not _is_suspicious(text):
        return text, 0
    lines = _LINE_END.sub("\n", text)
    cleaned = _scan().sub(lambda match: "" if match[1] else match[0], lines)
    if cleaned == text:
        return text, 0
    return TrustedText(cleaned) if isinstance(text, TrustedText) else cleaned, len(lines) - len(cleaned)


def _clean_letters(text: str) -> tuple[str, int]:
    """The text with its line ends as they are."""
    pieces = _LINE_ENDS.split(text)
    cleaned = [_clean_text(piece) if place % 2 == 0 else (piece, 0) for place, piece in enumerate(pieces)]
    removed = sum(count for _, count in cleaned)
    return "".join(piece for piece, _ in cleaned) if removed else text, removed


def _clean_items(
    value: list[Json] | tuple[Json, ...], path: _Path, problems: list[Problem], text: _CleanText
) -> tuple[Json, int]:
    pairs = [_clean(item, (*path, index), problems, text) for index, item in enumerate(value)]
    items = [item for item, _ in pairs]
    same = all(old is new for old, new in zip(value, items, strict=True))
    return value if same else items, sum(removed for _, removed in pairs)


def _clean_mapping(
    value: Mapping[Json, Json], path: _Path, problems: list[Problem], text: _CleanText
) -> tuple[Json, int]:
    result: dict[str, Json] = {}
    total, same = 0, True
    for key, item in value.items():
        if not isinstance(key, str):
            problems.append(_not_json(f"a key of {_shown(path)} is of type {type(key).__name__}"))
            continue
        new_key, in_key = text(key)
        new_item, in_item = _clean(item, (*path, new_key), problems, text)
        if new_key in result:
            problems.append(_duplicate((*path, new_key)))
        result[new_key] = new_item
        total += in_key + in_item
        same = same and new_key is key and new_item is item
    return value if same else result, total


def _not_json(message: str) -> Problem:
    return Problem("not-json", message, "values are texts, numbers, booleans, null, lists, and objects with text keys")


def _too_deep(path: _Path) -> Problem:
    return Problem(
        "value-too-deep", f"{_shown(path[:3])} is nested more than {MAX_DEPTH} levels deep", "supply a flatter value"
    )


def _duplicate(path: _Path) -> Problem:
    message = f"two keys of {_shown(path[:-1])} are both {_shown(path[-1:])} once invisible characters are removed"
    return Problem("duplicate-key", message, "rename one of them")


def _shown(path: _Path) -> str:
    if not path:
        return "the value"
    steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return f"`{visible(steps.removeprefix('.'))[:200]}`"
