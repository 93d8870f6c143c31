"""Cuts a text that is too long: its beginning, its end, and how much is left out between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from cuecard.config.result_spec import LengthUnit
from cuecard.model import CountTokens

_PER_TOKEN = 4
"""An estimate of the characters per token, from which the search for a cut begins."""


class CutText(NamedTuple):
    """What remains of a text, and how much is left out, in the requested unit; `whole` is the entire text."""

    head: str
    tail: str
    left_out: int
    whole: int


def cut_text(text: str, limits: tuple[int, int], unit: LengthUnit, count: CountTokens) -> CutText:
    """The beginning and the end of a text, as long as `limits` allow; a text that fits is returned as the head."""
    head, tail = limits
    if unit == "characters":
        left_out, end = len(text) - head - tail, len(text) - tail
        return CutText(text[:head], text[end:], left_out, len(text)) if left_out > 0 else _all(text, len(text))
    if unit == "lines":
        return _cut_lines(text, head, tail)
    whole = count(text)
    if whole <= head + tail:
        return _all(text, whole)
    first = _longest(text, head, count, lambda size: text[:size])
    last = _longest(text, tail, count, lambda size: text[len(text) - size :])
    middle = text[first : len(text) - last]
    return CutText(text[:first], text[len(text) - last :], count(middle), whole)


def _all(text: str, whole: int) -> CutText:
    return CutText(text, "", 0, whole)


def _cut_lines(text: str, head: int, tail: int) -> CutText:
    lines = text.splitlines(keepends=True)
    if len(lines) <= head + tail:
        return _all(text, len(lines))
    kept = "".join(lines[:head]).removesuffix("\n"), "".join(lines[len(lines) - tail :])
    return CutText(*kept, len(lines) - head - tail, len(lines))


def _longest(text: str, limit: int, count: CountTokens, part: Callable[[int], str]) -> int:
    """The length in characters of the longest part of the text that costs at most `limit` tokens."""
    if limit == 0:
        return 0
    least, most = 0, min(limit * _PER_TOKEN, len(text))
    while most < len(text) and count(part(most)) <= limit:
        least, most = most, min(most * 2, len(text))
    while least < most:
        middle = (least + most + 1) // 2
        least, most = (middle, most) if count(part(middle)) <= limit else (least, middle - 1)
    return least
