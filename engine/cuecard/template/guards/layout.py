"""Values stay values in a Markdown layout: no value can look like a heading, a separator or the boundary marker.

The counterpart of `escaping.py`, which keeps values from looking like elements of an XML template.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from cuecard.errors import Problem, SpecError
from cuecard.records import dataclass

_BREAKS = "\n\v\f\r\x1c-\x1e\x85\u2028\u2029"
"""What some readers take for the end of a line."""

BREAK = re.compile(f"[{_BREAKS}]")

_START = f"(?:\\A\\s*|(?<=[{_BREAKS}])(?:(?![{_BREAKS}])\\s){{0,3}})"
"""Up to three spaces: with more, Markdown reads code. At the beginning, any number, since a layout may trim them."""

_END = f"(?=(?P<end>(?:(?![{_BREAKS}])\\s)*(?:[{_BREAKS}]|\\Z)))"

_UNDERLINED = {"#": "=", "##": "-"}
"""The levels of headings that Markdown can also underline, and the sign of the underline."""

_ABOVE = 200
"""The number of characters of the line above that are examined."""

_ENTRY = re.compile(r"\s*(?:[-+*]|[0-9]{1,9}[.)])[ \t]+[^ \t]")
"""The beginning of a list item that is not empty: an empty one may be the text of a paragraph."""

_BLANK = r"(?=(?P<blank>\s|\Z))"


@dataclass(frozen=True, slots=True)
class LayoutGuard:
    """The marks of a layout, prepared for searching. Created by `layout_guard`.

    Attributes:
        lines: the beginning of a heading or separator, with its indentation (group 1), and what must follow it
            (`blank`, `end`).
        markers: the first character of a marker.
        cut_off: the beginning of a marker at the very end of a text.
        underlines: the line under a text that turns it into a heading, after the line break (`under`).
        longest: the length of the longest marker in characters.
        signs: the beginnings of headings and separators, without blanks: many times faster to look for.
        under: what such an `underlines` begins with, behind a line break.
    """

    lines: re.Pattern[str] | None
    markers: re.Pattern[str] | None
    cut_off: re.Pattern[str] | None
    longest: int
    underlines: re.Pattern[str] | None = None
    signs: tuple[str, ...] = ()
    under: re.Pattern[str] | None = None

    def may_begin(self, text: str) -> bool:
        """Whether any heading or separator can be in a text."""
        return any(sign in text for sign in self.signs)


def layout_guard(headings: Iterable[str] = (), lines: Iterable[str] = (), markers: Iterable[str] = ()) -> LayoutGuard:
    """The guard for these marks. Line breaks and blanks around a mark, and marks without a text, do not matter.

    Args:
        headings: the beginnings of headings, such as `## `; if it ends with a space, only with a space.
        lines: separate lines, such as the `---` of a separator; for a repeated sign, longer runs count, too.
        markers: texts that may occur anywhere, in any case, such as the boundary marker.

    Raises:
        SpecError: for a mark that contains a backslash, or a one-character marker, which no backslash could break
            (`layout-mark`).
    """
    starts, alone, inside = _lines(headings), [mark.strip() for mark in _lines(lines)], _lines(markers)
    inside = [mark.strip() for mark in inside]
    wrong = [mark for mark in (*starts, *alone, *inside) if "\\" in mark] + [mark for mark in inside if len(mark) == 1]
    if wrong:
        hint = "a marker needs two characters or more, and a mark may not contain a backslash"
        raise SpecError(
            Problem("layout-mark", f"values cannot be kept from imitating `{mark}`", hint) for mark in wrong
        )
    exact, blank = [[mark for mark in starts if (mark != mark.rstrip()) is spaced] for spaced in (False, True)]
    patterns = [
        *map(re.escape, exact),
        *([f"(?:{'|'.join(re.escape(mark.rstrip()) for mark in blank)}){_BLANK}"] if blank else []),
        *([f"(?:{'|'.join(map(_repeated, alone))}){_END}"] if alone else []),
    ]
    signs = "".join(_UNDERLINED.get(mark.strip(), "") for mark in starts)
    ends = sorted({mark[:size] for mark in inside for size in range(1, len(mark))}, key=len, reverse=True)
    return LayoutGuard(
        re.compile(f"({_START})({'|'.join(patterns)})") if patterns else None,
        re.compile(f"(?=(?P<mark>{'|'.join(map(re.escape, inside))}))(?P<first>.)", re.IGNORECASE) if inside else None,
        re.compile(f"(?:{'|'.join(map(re.escape, ends))})\\Z", re.IGNORECASE) if ends else None,
        max(map(len, inside), default=0),
        _underlines(signs),
        tuple(mark.rstrip() for mark in (*starts, *alone)),
        re.compile(f"[{_BREAKS}](?:(?![{_BREAKS}])\\s){{0,3}}[{re.escape(signs)}]") if signs else None,
    )


def guard_layout(text: str, guard: LayoutGuard) -> tuple[str, int]:
    """The text with a backslash in every mark, and the number of marks.

    A heading or separator gets the backslash in front, as in Markdown; a marker after its first character. A text that
    ends within a marker counts, so that two values cannot form one together. The function is idempotent.

    Headings and separators are searched in this text only: a line shared with an author's text or another value is not
    seen as a whole.
    """
    count = 0
    if guard.markers:
        text, count = guard.markers.subn(r"\g<first>\\", text)
    if guard.cut_off and guard.cut_off.search(text[-guard.longest :]):
        text, count = text + "\\", count + 1
    if guard.lines:
        text, more = guard.lines.subn(r"\1\\\2", text)
        count += more
    under = [place for _, place, _, _ in underlines(text, guard) if text[:place].strip()]
    text = "\\".join(text[first:last] for first, last in pairwise([0, *under, len(text)]))
    count += len(under)
    return text, count


def underlines(text: str, guard: LayoutGuard) -> Iterator[tuple[int, int, int, int]]:
    """The lines that turn the line above into a heading, each as four offsets: where its cause begins, where the line
    begins and ends, and where its cause ends.

    Of a single dash, only the dash itself counts: below a list item, it is the next, empty item.
    """
    if guard.underlines is None or guard.under is None:
        return
    if not guard.under.search(f"\n{text.lstrip()}" if text[:1].isspace() else f"\n{text}"):
        return
    told = 0
    for found in guard.underlines.finditer(text):
        over, place = found.start("over"), found.start("under")
        if found["under"] != "-":
            yield over or place, place, found.end("under"), found.end("end")
        elif text[told:over].strip() and _ENTRY.match(BREAK.split(text[max(0, over - _ABOVE) : over])[-1]):
            continue
        else:
            # The next dash follows a line that is no longer a list item.
            yield place, place, found.end("under"), found.end("end")
            told = found.end("under")


def _lines(marks: Iterable[str]) -> list[str]:
    return [line.lstrip() for mark in marks for line in re.split(f"[{_BREAKS}]", mark) if line.strip()]


def _underlines(signs: str) -> re.Pattern[str] | None:
    """A line of only these signs, directly after a line with text, or where a heading may come before it."""
    if not signs:
        return None
    marks = "|".join(f"{re.escape(sign)}+" for sign in dict.fromkeys(signs))
    # In Markdown, only spaces and tabs are blank.
    end_of_text = f"(?<=[^ \\t{_BREAKS}])[ \\t]*(?:\\r\\n|[{_BREAKS}])"
    return re.compile(f"(?P<over>\\A\\s*|{end_of_text}(?:(?![{_BREAKS}])\\s){{0,3}})(?P<under>{marks}){_END}")


def _repeated(mark: str) -> str:
    return f"{re.escape(mark)}{re.escape(mark[0])}*" if len(set(mark)) == 1 else re.escape(mark)
