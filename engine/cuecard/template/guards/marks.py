"""Marks around the data in a rendered text, and edits of a text collected and applied together.

Templates rendered with `escaping="marks"` print values unchanged, each between two marks; the gate of an agent's prompt
(`gate.py`) takes them out again. Marks are non-characters, which `clean` removes from every value.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, chain
from typing import NamedTuple, overload

from cuecard.model import Json
from cuecard.template.guards.escaping import TrustedText

OPEN, CLOSE, HTML = "\ufdd0", "\ufdd1", "\ufdd2"
"""The marks before unchanged data, after data, and before data that `{{x}}` has escaped for HTML."""

MARKS = OPEN + CLOSE + HTML

_MARK = re.compile(f"([{MARKS}])")
_NO_CUT = (sys.maxsize, sys.maxsize)
_BLANKS = MARKS + "".join(filter(str.isspace, map(chr, range(0x3001))))


class AuthorData(str):
    """Data whose markup an author allows: it is printed unchanged, but still marked."""

    __slots__ = ()


def shown_value(value: Json) -> Json:
    """A value whose texts are `AuthorData`, including those inside lists and objects; trusted texts stay trusted."""
    if isinstance(value, str):
        return value if isinstance(value, TrustedText) else AuthorData(value)
    if isinstance(value, Mapping):
        return {key: shown_value(item) for key, item in value.items()}
    return [shown_value(item) for item in value] if isinstance(value, (list, tuple)) else value


class DataSpan(NamedTuple):
    """Data from `start` to `end` in a text without marks; `html` if `{{x}}` has printed it."""

    start: int
    end: int
    html: bool = False


class DataSpans(Sequence[DataSpan]):
    """Spans from left to right, as lists of numbers: a prompt may have thousands, of which few are looked at."""

    __slots__ = ("ends", "html", "starts")

    def __init__(self, starts: list[int], ends: list[int], html: list[bool]) -> None:
        """Take the starts and ends of all, and which were printed by `{{x}}`."""
        self.starts: list[int] = starts
        self.ends: list[int] = ends
        self.html: list[bool] = html

    def __len__(self) -> int:
        return len(self.ends)

    @overload
    def __getitem__(self, place: int) -> DataSpan: ...
    @overload
    def __getitem__(self, place: slice) -> DataSpans: ...
    def __getitem__(self, place: int | slice) -> DataSpan | DataSpans:
        if isinstance(place, slice):
            return DataSpans(self.starts[place], self.ends[place], self.html[place])
        return DataSpan(self.starts[place], self.ends[place], self.html[place])

    def add(self, start: int, end: int, *, html: bool) -> None:
        """Add the next span."""
        self.starts.append(start)
        self.ends.append(end)
        self.html.append(html)

    def behind(self, at: int) -> int:
        """The number of the first span that ends after an offset."""
        return bisect_right(self.ends, at)


def marked(text: str, mark: str = OPEN) -> str:
    """A text between marks; an empty text gets none, so that it stays empty."""
    return text and f"{mark}{text if text.isascii() else unmarked(text)}{CLOSE}"


def has_marks(text: str) -> bool:
    """Whether any mark is in the text."""
    return not text.isascii() and (OPEN in text or CLOSE in text or HTML in text)


def unmarked(text: str) -> str:
    """The text without marks."""
    return _MARK.sub("", text) if has_marks(text) else text


def split_marks(text: str) -> list[str]:
    """The text in pieces: text, mark, text, mark, ... text; texts may be empty."""
    return _MARK.split(text)


def read_marks(text: str) -> tuple[str, DataSpans]:
    """The text without marks, and the spans of data in it, from left to right. Nested data is merged."""
    parts = text.split(CLOSE)[:-1]
    html = [HTML in part for part in parts]
    begun, closed = html, text.replace(HTML, CLOSE)
    if OPEN in text:
        begun, closed = [OPEN in part or HTML in part for part in parts], closed.replace(OPEN, CLOSE)
    pieces = closed.split(CLOSE)
    # As templates print values: a beginning and an end for each, and something between them.
    if len(pieces) == 2 * len(parts) + 1 and all(begun) and "" not in pieces[1::2]:
        ends = [*accumulate(map(len, pieces))]
        return "".join(pieces), DataSpans(ends[:-1:2], ends[1::2], html)
    return _read_nested(_MARK.split(text))


def _read_nested(found: Iterable[str]) -> tuple[str, DataSpans]:
    """The same where marks do not come in pairs, or there is nothing between them."""
    pieces: list[str] = []
    spans = DataSpans([], [], [])
    at = depth = start = 0
    html = False
    for piece in found:
        if piece == CLOSE:
            depth = max(depth - 1, 0)
            if depth == 0 and start < at:
                spans.add(start, at, html=html)
                start = at
        elif piece in {OPEN, HTML}:
            if depth == 0:
                start, html = at, piece == HTML
            depth += 1
        elif piece:
            pieces.append(piece)
            at += len(piece)
            if depth == 0:
                start = at
    if depth and start < at:
        spans.add(start, at, html=html)
    return "".join(pieces), spans


def data_within(spans: DataSpans, start: int, end: int) -> DataSpan | None:
    """The first data between two offsets, if there is any."""
    place = spans.behind(start)
    return spans[place] if place < len(spans) and spans.starts[place] < end else None


def stripped(text: str) -> str:
    """The text without surrounding white space, but with its marks."""
    if text.isascii():
        return text.strip()
    body = text.lstrip(_BLANKS)
    before, behind = text[: len(text) - len(body)], body[len(body.rstrip(_BLANKS)) :]
    return _only_marks(before) + body.rstrip(_BLANKS) + _only_marks(behind)


def _only_marks(text: str) -> str:
    return "".join(character for character in text if character in MARKS)


def without(text: str, cuts: Iterable[tuple[int, int]]) -> str:
    """The text with all of its marks, but without the given parts.

    Args:
        text: a text with marks.
        cuts: the parts, as offsets into the text without marks, from left to right.
    """
    kept, at, rest = [], 0, chain(cuts, (_NO_CUT,))
    start, stop = next(rest)
    for piece in _MARK.split(text):
        if piece in MARKS and piece:
            kept.append(piece)
            continue
        done, end = at, at + len(piece)
        while start < end:
            kept.append(piece[done - at : max(start, done) - at])
            done = max(done, min(stop, end))
            if stop > end:
                break
            start, stop = next(rest)
        kept.append(piece[done - at :])
        at = end
    return "".join(kept)


def sliced(text: str, start: int, stop: int) -> str:
    """A slice, given as two offsets into the text without marks, with all of its marks."""
    if text.isascii():
        return text[start:stop]
    pieces, at = [], 0
    for piece in _MARK.split(text):
        if piece in MARKS and piece:
            pieces.append(piece)
        else:
            pieces.append(piece[max(start - at, 0) : max(stop - at, 0)])
            at += len(piece)
    return "".join(pieces)


class TextEdit(NamedTuple):
    """At `at`, a number of characters is replaced by a text; `kind` is the category in which the edit is counted."""

    at: int
    removed: int
    text: str
    kind: str


def edited(text: str, edits: Iterable[TextEdit]) -> str:
    """The text with all of these changes; identical changes at the same place are applied once."""
    pieces, at = [], 0
    edits = [*edits]
    places = [edit.at for edit in edits]
    if places != sorted({*places}):
        edits = sorted({*edits}, key=_order)
    for edit in edits:
        pieces += [text[at : edit.at], edit.text]
        at = edit.at + edit.removed
    return "".join([*pieces, text[at:]]) if pieces else text


def _order(edit: TextEdit) -> tuple[int, int, int, str, str]:
    """An added line, such as the end of a code fence, must not share its line with other additions at the same place.

    One added after the end of a line comes last at its place, one added before the start of a line comes first.
    """
    text = edit.text
    place = 1 if text[:1] == "\n" else -1 if text[-1:] == "\n" else 0
    return edit.at, edit.removed, place, text, edit.kind
